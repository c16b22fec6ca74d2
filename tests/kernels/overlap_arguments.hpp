// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"
#include "request/error_of.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace tokkos::test {

inline constexpr std::size_t overlap_rows = 4;
inline constexpr std::size_t overlap_vocabulary = 100;

/// Measured rows, memory of every kind for what is made of them, and Views inside it.
template <class ExecutionSpace>
struct OverlapArguments {
  using Memory = MemoryOf<ExecutionSpace>;
  using Ids = Vector<std::int32_t, Memory>;
  ExecutionSpace space;
  RowBatch batch = [] {
    RowBatch four;
    four.vocabulary = overlap_vocabulary;
    four.logits = RandomValues(8).logits(overlap_rows * overlap_vocabulary, 3.0f);
    return four;
  }();
  DeviceRows<Backend<ExecutionSpace, float>> device{batch};
  CutsWorkspace<Memory> cuts_workspace{overlap_rows};
  RowCuts<Memory> cuts = cuts_workspace.cuts(overlap_rows);
  Guarded<float, Memory> result{overlap_rows}, uniforms{overlap_rows}, other{overlap_rows};
  Guarded<std::int32_t, Memory> tokens{overlap_rows}, status{overlap_rows}, numbers{overlap_rows};
  Guarded<float, Memory> listed{overlap_rows, 3, 0, {}}, chunked{overlap_rows, 1, 0, {}};
  Guarded<std::int32_t, Memory> listed_tokens{overlap_rows, 3, 1, {}},
      words{overlap_rows, 4, 0, {}};
  Vector<const std::int32_t, Memory> given = numbers.vector();
  Vector<const float, Memory> drawn_by = uniforms.vector();
  LogitBiasEdits<Memory> biases{given, given, drawn_by};
  PenaltyEdits<Memory> penalties;
  Matrix<float, Memory> logits = device.block().logits();

  OverlapArguments() { measure(space, device.rows, device.measures); }

  /// `count` elements that begin at an element of an array.
  template <class T, class U>
  static Vector<T, Memory> at(U* array, std::ptrdiff_t place, std::size_t count = overlap_rows) {
    return vector_of<T, Memory>(reinterpret_cast<T*>(array + place), count);
  }
  Ids ids_in_logits(std::ptrdiff_t place) const { return at<std::int32_t>(logits.data(), place); }
  Vector<float, Memory> in_logits(std::ptrdiff_t place) const {
    return at<float>(logits.data(), place);
  }
  template <class T>
  Matrix<T, Memory> list_in_logits(std::ptrdiff_t place) const {
    return Matrix<T, Memory>(reinterpret_cast<T*>(logits.data() + place),
                             Kokkos::LayoutStride(overlap_rows, 3, 3, 1));
  }
  Matrix<const float, Memory> uniform_lists() const { return listed.matrix(); }

  /// "field: value" of what the call is refused with.
  template <class Call>
  std::string refusal(const Call& call) const {
    const Complaint error = error_of(call);
    CHECK(error.expected == "separate memory");
    return error.field + ": " + error.value;
  }

  /// Everything that a refused call might have written.
  auto memory() {
    space.fence("tokkos::test::memory");
    return std::tuple(device.block().patterns(), on_host(device.measures.row_mass),
                      on_host(device.measures.row_maximum), result.values(), uniforms.values(),
                      tokens.values(), status.values(), numbers.values(), listed.values(),
                      listed_tokens.values(), words.values());
  }
};

inline const std::string in_logits = ": memory that overlaps the logits";

}  // namespace tokkos::test
