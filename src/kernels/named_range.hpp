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
  std::uintptr_t row = 0;     ///< bytes of a row
  std::uintptr_t stride = 0;  ///< bytes from a row to the next
  bool repeats = false;       ///< whether all of several rows are the same memory

  template <class T, class Space>
  static NamedRange of(const char* name, const Vector<T, Space>& view) {
    return of_rows(name, view.data(), view.extent(0), 1, view.stride(0));
  }
  template <class T, class Space>
  static NamedRange of(const char* name, const Matrix<T, Space>& view) {
    return of_rows(name, view.data(), view.extent(0), view.extent(1), view.stride(0));
  }

  /// Whether a byte belongs to both. Columns of one array, which lie side by side in every row of
  /// it, have none in common.
  bool meets(const NamedRange& other) const {
    if (begin >= other.end || other.begin >= end) return false;
    if (stride == 0 || stride != other.stride) return true;
    const bool is_first = begin <= other.begin;
    const NamedRange& first = is_first ? *this : other;
    const NamedRange& second = is_first ? other : *this;
    const std::uintptr_t distance = (second.begin - first.begin) % stride;
    return distance < first.row || distance + second.row > stride;
  }

 private:
  template <class T>
  static NamedRange of_rows(const char* name, const T* data, std::size_t rows, std::size_t columns,
                            std::size_t stride) {
    if (data == nullptr || rows == 0 || columns == 0) return {name};
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::size_t last = rows == 1 ? 0 : (rows - 1) * stride;
    return {name,
            begin,
            begin + (last + columns) * sizeof(T),
            columns * sizeof(T),
            rows == 1 ? 0 : stride * sizeof(T),
            rows > 1 && stride == 0};
  }
};

/// Throws if an output shares memory with another one, with anything that is read, or, row upon
/// row, with itself.
inline void check_apart(std::span<const NamedRange> outputs,
                        std::initializer_list<std::span<const NamedRange>> inputs) {
  const auto refuse = [](const NamedRange& range, const NamedRange& other) {
    throw Error(range.name, std::nullopt, std::string("a View that overlaps ") + other.name,
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
