// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>

#include "core/float_order.hpp"
#include "kernels/check_views.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tokkos {

/// Throws unless Kokkos can run something.
inline void check_kokkos() {
  if (Kokkos::is_initialized()) return;  // and not finalized
  throw Error("Kokkos", std::nullopt, Kokkos::is_finalized() ? "finalized" : "not initialized",
              "Kokkos::initialize before, Kokkos::finalize after");
}

/// Checks what the engine's classes are made with and returns the active vocabulary.
inline std::int64_t checked_active_vocabulary(std::int64_t max_num_token, std::int64_t vocab_size,
                                              std::optional<std::int64_t> active_vocabulary) {
  check_kokkos();
  require(max_num_token >= 0 && max_num_token <= 2147483647, "max_num_token", std::nullopt,
          max_num_token, "a number in [0, 2147483647]");
  const std::int64_t active = active_vocabulary.value_or(vocab_size);
  require(vocab_size >= 1 && vocab_size <= max_vocabulary, "vocab_size", std::nullopt, vocab_size,
          "a vocabulary in [1, 2147483647]");
  require(active_vocabulary.has_value() || vocab_size <= max_active_vocabulary, "vocab_size",
          std::nullopt, vocab_size, "below 524288, or an active_vocabulary below it");
  check_active_vocabulary(active, vocab_size, 1);
  check_vocabulary(vocab_size, active);
  return active;
}

/// Throws if a processor was moved from: one that `owns` nothing. (A step of no rows would not ask
/// for its memory.)
inline void check_not_moved_from(bool owns) {
  if (owns) return;
  throw Error("LogitProcessor", std::nullopt, "moved from", "one that was not");
}

/// Checks one call's number of rows and row length, which are those of `field`.
inline void check_call(std::int64_t rows, std::int64_t columns, std::int64_t max_rows,
                       std::int64_t vocab_size, const char* field = "logits") {
  check_kokkos();
  const std::string extent = std::string(field) + ".extent";
  if (rows > max_rows) {
    throw Error(extent, 0, to_text(rows), "at most max_num_token = " + to_text(max_rows));
  }
  if (columns != vocab_size && rows > 0) {
    throw Error(extent, 1, to_text(columns), "vocab_size = " + to_text(vocab_size));
  }
}

/// Checks uniforms that the host sees; those at the indices in `unread` (ascending) may be
/// anything.
inline void check_uniforms(const char* field, std::span<const float> uniforms, std::int64_t count,
                           std::span<const std::int32_t> unread = {}) {
  if (static_cast<std::int64_t>(uniforms.size()) != count) {
    throw Error(std::string(field) + ".size", std::nullopt, std::to_string(uniforms.size()),
                to_text(count));
  }
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    if (!unread.empty() && unread.front() == static_cast<std::int32_t>(i)) {
      unread = unread.subspan(1);
      continue;
    }
    require(is_within(uniforms[i], 0.0f, 0x1.fffffep-1f), field, static_cast<std::int64_t>(i),
            uniforms[i], "a number in [0, 1)");
  }
}

}  // namespace tokkos
