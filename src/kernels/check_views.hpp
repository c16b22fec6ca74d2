// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/chunk.hpp>

#include "kernels/named_range.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace tokkos {

/// Throws if a View says that it has elements, but has no memory.
inline void check_memory(const char* name, const void* memory, std::int64_t elements) {
  if (memory != nullptr || elements == 0) return;
  throw Error(std::string(name) + ".data", std::nullopt, "null",
              "memory of " + to_text(elements) + " elements");
}

/// Throws unless elements of type T, `stride` of them from one to the next, fit memory.
template <class T>
void check_stride(const char* name, std::int64_t extent, std::int64_t stride) {
  if (extent <= 1) return;
  const std::int64_t most =
      std::numeric_limits<std::int64_t>::max() / std::int64_t{sizeof(T)} / extent;
  if (stride >= 0 && stride <= most) return;
  throw Error(std::string(name) + ".stride", 0, to_text(stride),
              "at most " + to_text(most) + ", which fits memory");
}

/// Throws unless `view` has `extent` elements.
template <class T, class Space>
void check_vector(const char* name, const Vector<T, Space>& view, std::int64_t extent) {
  const auto actual = static_cast<std::int64_t>(view.extent(0));
  if (actual != extent) {
    throw Error(std::string(name) + ".extent", 0, to_text(actual), to_text(extent));
  }
  check_memory(name, view.data(), actual);
  check_stride<T>(name, actual, static_cast<std::int64_t>(view.stride(0)));
}

/// The same for a View that may be left out.
template <class T, class Space>
void check_optional_vector(const char* name, const Vector<T, Space>& view, std::int64_t extent) {
  if (view.data() != nullptr || view.extent(0) > 0) check_vector(name, view, extent);
}

/// Throws unless `view` has `rows` rows of exactly `columns` contiguous elements; none may be of
/// any length.
template <class T, class Space>
void check_matrix(const char* name, const Matrix<T, Space>& view, std::int64_t rows,
                  std::int64_t columns) {
  const auto refuse = [=](const char* what, int index, std::int64_t value, std::string expected) {
    throw Error(std::string(name) + what, index, to_text(value), std::move(expected));
  };
  const auto height = static_cast<std::int64_t>(view.extent(0));
  const auto width = static_cast<std::int64_t>(view.extent(1));
  if (height != rows) refuse(".extent", 0, height, to_text(rows));
  if (height == 0) return;
  if (width != columns) refuse(".extent", 1, width, to_text(columns));
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / std::int64_t{sizeof(T)};
  const bool is_countable = width == 0 || height <= most / width;
  check_memory(name, view.data(), is_countable ? height * width : most);
  const auto column_stride = static_cast<std::int64_t>(view.stride(1));
  const auto row_stride = static_cast<std::int64_t>(view.stride(0));
  if (width > 1 && column_stride != 1) {
    refuse(".stride", 1, column_stride, "1 (contiguous rows)");
  }
  if (height > 1 && row_stride < width) {
    refuse(".stride", 0, row_stride, "at least the row length " + to_text(width));
  }
  check_stride<T>(name, height, row_stride);
}

/// Whether a matrix that may be left out is: it has neither memory nor elements.
template <class T, class Space>
bool is_left_out(const Matrix<T, Space>& view) {
  return view.data() == nullptr && (view.extent(0) == 0 || view.extent(1) == 0);
}

/// Throws unless ties of a greedy row are broken in a way that there is.
inline void check_ties(GreedyTies ties) {
  require(ties == GreedyTies::uniform || ties == GreedyTies::lowest_id, "ties", std::nullopt,
          static_cast<std::int64_t>(ties), "GreedyTies::uniform or GreedyTies::lowest_id");
}

/// Throws unless the active vocabulary is at most V, and at least `least` (0 stands for V).
inline void check_active_vocabulary(std::int64_t active, std::int64_t vocabulary,
                                    std::int64_t least = 0) {
  if (active >= least && active <= vocabulary) return;
  throw Error(
      "active_vocabulary", std::nullopt, to_text(active),
      "a number in [1, " + to_text(vocabulary) + "]" + (least == 0 ? ", or 0 for all" : ""));
}

/// Throws unless a row of a bitmask has a bit for every active token.
inline void check_bitmask_words(std::int64_t words, std::int64_t active) {
  const std::int64_t least = (active + 31) / 32;
  if (words >= least) return;
  throw Error("bitmask.extent", 1, to_text(words),
              "at least " + to_text(least) + ", a bit for each active token");
}

/// Throws unless V is in [1, 2^31) and the active vocabulary (0: V) in [1, V] and below 2^19.
inline void check_vocabulary(std::int64_t vocabulary, std::int64_t active) {
  require(vocabulary >= 1 && vocabulary <= max_vocabulary, "vocab_size", std::nullopt, vocabulary,
          "a vocabulary in [1, 2147483647]");
  check_active_vocabulary(active, vocabulary);
  require((active == 0 ? vocabulary : active) <= max_active_vocabulary, "active_vocabulary",
          std::nullopt, active == 0 ? vocabulary : active,
          "a number below 524288 (larger vocabularies are sharded)");
}

/// Throws unless the bitmask has a row of words for every row of the step, or is left out as a
/// whole.
template <class Space>
void check_bitmask(const VocabularyBitmask<Space>& bitmask, std::int64_t rows,
                   std::int64_t active) {
  const auto height = static_cast<std::int64_t>(bitmask.words.extent(0));
  const auto words = static_cast<std::int64_t>(bitmask.words.extent(1));
  const bool has_index = bitmask.row_index.data() != nullptr || bitmask.row_index.extent(0) > 0;
  const bool has_words = bitmask.words.data() != nullptr || height > 0 || words > 0;
  if (rows == 0 || (!has_words && bitmask.row_index.extent(0) == 0)) return;
  check_bitmask_words(words, active);
  check_matrix("bitmask", bitmask.words, height, words);
  require(height > 0, "bitmask.extent", 0, height, "at least 1 row of words");
  if (has_index) {
    check_vector("bitmask.row_index", bitmask.row_index, rows);
  } else if (height < rows) {
    throw Error("bitmask.extent", 0, to_text(height), "at least " + to_text(rows) + " rows");
  }
}

/// Throws unless there is a value for every row, or one for all of them.
template <class T, class Space>
void check_row_values(const char* name, const Vector<T, Space>& values, std::int64_t rows) {
  const auto count = static_cast<std::int64_t>(values.extent(0));
  if (count != 1 && count != rows) {
    throw Error(std::string(name) + ".extent", 0, to_text(count),
                to_text(rows) + ", or 1 for all rows");
  }
  check_vector(name, values, count);
}

template <class Space>
void check_temperature(const Vector<const float, Space>& temperature, std::int64_t rows) {
  check_row_values("temperature", temperature, rows);
}

/// Throws unless the tokens of a row are counted by an int.
inline void check_draws(std::int64_t draws) {
  require(draws <= 2147483647, "tokens.extent", 1, draws, "at most 2147483647 draws a row");
}

/// Throws unless everything that is said per row fits the logits.
template <LogitType Logit, class Space>
void check_rows(const LogitRows<Logit, Space>& rows) {
  check_vocabulary(rows.vocabulary(), rows.active_vocabulary);
  check_matrix("logits", rows.logits, static_cast<std::int64_t>(rows.logits.extent(0)),
               rows.vocabulary());
  check_vector("row_index", rows.row_index, static_cast<std::int64_t>(rows.row_index.extent(0)));
  check_temperature(rows.temperature, rows.rows());
  check_bitmask(rows.bitmask, rows.rows(), rows.active());
}

/// Throws unless the measures are those of n rows of V logits.
template <class Space>
void check_measures(const RowMeasures<Space>& measures, std::int64_t rows,
                    std::int64_t vocabulary) {
  const std::int64_t chunks = chunk_count(vocabulary);
  check_matrix("measures.chunk_maximum", measures.chunk_maximum, rows, chunks);
  check_matrix("measures.chunk_sum", measures.chunk_sum, rows, chunks);
  check_vector("measures.row_maximum", measures.row_maximum, rows);
  check_vector("measures.row_mass", measures.row_mass, rows);
}

/// Throws unless `out` [n, V] is exactly the logits, row by row, or shares no memory with them.
/// Rows of one array that lie side by side, as columns of it, share none.
template <LogitType Logit, class Space>
void check_overlap(const LogitRows<Logit, Space>& rows, const Matrix<float, Space>& out,
                   const char* name = "probabilities") {
  if (!NamedRange::of("the logits", rows.logits).meets(NamedRange::of(name, out))) return;
  const void* logits = rows.logits.data();
  const bool in_place = sizeof(Logit) == sizeof(float) && logits == out.data() &&
                        (out.extent(0) == 1 || out.stride(0) == rows.logits.stride(0)) &&
                        rows.row_index.data() == nullptr;
  if (!in_place) {
    throw Error(name, std::nullopt, "memory that overlaps the logits",
                "exactly the float32 logits (in place, without row_index) or separate memory");
  }
}

}  // namespace tokkos
