// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace tokkos {

/// The bytes of a View, as rows at one distance; none if the View has no memory or no elements.
struct NamedRange {
  const char* name;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t rows = 0;    ///< number of rows of different memory
  std::uintptr_t row = 0;     ///< bytes of a row
  std::uintptr_t stride = 0;  ///< bytes from a row to the next, of several rows
  bool repeats = false;       ///< whether all of several rows are the same memory

  template <class T, class Space>
  static NamedRange of(const char* name, const Vector<T, Space>& view) {
    return of_rows(name, view.data(), view.extent(0), 1, view.stride(0));
  }
  template <class T, class Space>
  static NamedRange of(const char* name, const Matrix<T, Space>& view) {
    return of_rows(name, view.data(), view.extent(0), view.extent(1), view.stride(0));
  }

  /// Whether a byte belongs to both, exactly: rows of the one may lie between rows of the other, as
  /// columns of one array or at another distance. Rows are gone through only where the ranges lie
  /// in each other.
  bool meets(const NamedRange& other) const {
    if (begin >= other.end || other.begin >= end) return false;
    if (rows > other.rows) return other.meets(*this);
    for (std::uintptr_t i = 0; i < rows; ++i) {
      const std::uintptr_t from = begin + i * stride;
      if (other.has_byte_in(from, from + row)) return true;
    }
    return false;
  }

 private:
  /// Whether a byte of a row lies in [from, to), which is not empty.
  bool has_byte_in(std::uintptr_t from, std::uintptr_t to) const {
    if (to <= begin || from >= end) return false;
    if (rows == 1) return true;
    const std::uintptr_t last = std::min(rows - 1, (to - begin - 1) / stride);  // that begins there
    return begin + last * stride + row > from;
  }

  template <class T>
  static NamedRange of_rows(const char* name, const T* data, std::size_t rows, std::size_t columns,
                            std::size_t stride) {
    if (data == nullptr || rows == 0 || columns == 0) return {name};
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const bool repeats = rows > 1 && stride == 0;
    const std::size_t apart = repeats ? 1 : rows;
    return {.name = name,
            .begin = begin,
            .end = begin + ((apart - 1) * stride + columns) * sizeof(T),
            .rows = apart,
            .row = columns * sizeof(T),
            .stride = stride * sizeof(T),
            .repeats = repeats};
  }
};

/// Throws if an output shares memory with another one, with anything that is read, or, row upon
/// row, with itself.
inline void check_apart(std::span<const NamedRange> outputs,
                        std::initializer_list<std::span<const NamedRange>> inputs) {
  const auto refuse = [](const NamedRange& range, const NamedRange& other) {
    throw Error(range.name, std::nullopt, std::string("memory that overlaps ") + other.name,
                "separate memory");
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].repeats) {
      throw Error(std::string(outputs[i].name) + ".stride", 0, "0",
                  "at least 1: every row has memory of its own");
    }
    for (const auto& ranges : inputs) {
      for (const NamedRange& read : ranges) {
        if (outputs[i].meets(read)) refuse(outputs[i], read);
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs[i].meets(outputs[j])) refuse(outputs[j], outputs[i]);
    }
  }
}

/// What a kernel reads of its rows, the logits first.
template <LogitType Logit, class Space>
std::array<NamedRange, 5> ranges_of(const LogitRows<Logit, Space>& rows) {
  return {
      NamedRange::of("the logits", rows.logits), NamedRange::of("temperature", rows.temperature),
      NamedRange::of("row_index", rows.row_index), NamedRange::of("bitmask", rows.bitmask.words),
      NamedRange::of("bitmask.row_index", rows.bitmask.row_index)};
}

/// The same without the logits, in which probabilities may lie.
template <LogitType Logit, class Space>
std::array<NamedRange, 4> ranges_beside_logits(const LogitRows<Logit, Space>& rows) {
  const auto all = ranges_of(rows);
  return {all[1], all[2], all[3], all[4]};
}

template <class Space>
std::array<NamedRange, 4> ranges_of(const RowMeasures<Space>& measures) {
  return {NamedRange::of("measures.chunk_maximum", measures.chunk_maximum),
          NamedRange::of("measures.chunk_sum", measures.chunk_sum),
          NamedRange::of("measures.row_maximum", measures.row_maximum),
          NamedRange::of("measures.row_mass", measures.row_mass)};
}

template <class Space>
std::array<NamedRange, 4> ranges_of(const RowCuts<Space>& cuts) {
  return {NamedRange::of("cuts.logit", cuts.logit), NamedRange::of("cuts.token", cuts.token),
          NamedRange::of("cuts.mass", cuts.mass), NamedRange::of("cuts.count", cuts.count)};
}

/// One array after another.
template <std::size_t first, std::size_t second>
std::array<NamedRange, first + second> joined(const std::array<NamedRange, first>& a,
                                              const std::array<NamedRange, second>& b) {
  std::array<NamedRange, first + second> all;
  std::ranges::copy(b, std::ranges::copy(a, all.begin()).out);
  return all;
}

}  // namespace tokkos
