// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/core/error.hpp>

#include "engine/check_outputs.hpp"
#include "interop/score_arrays.hpp"
#include "kernels/check_views.hpp"
#include "kernels/named_range.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

// All that is checked of a tokkos_score before the first of several kernels is launched.

namespace tokkos::interop {

/// Throws if an array is left out where another one is given.
template <class View, class Other>
void check_given_with(const NamedArray<View>& array, const NamedArray<Other>& other) {
  if (array.given != nullptr || other.given == nullptr) return;
  throw Error(array.name, std::nullopt, "null",
              std::string("an array, because ") + other.name + " is given");
}

/// Throws unless both arrays are given, or none of them.
template <class View, class Other>
void check_pair(const NamedArray<View>& array, const NamedArray<Other>& other) {
  check_given_with(array, other);
  check_given_with(other, array);
}

/// Throws unless an array that is given has an element for each row.
template <class T, class Space>
void check_one_each(const NamedArray<Vector<T, Space>>& array, std::int64_t rows) {
  if (array.given != nullptr) check_vector(array.name, array.view, rows);
}

/// Throws unless a parameter that is given is so for each row, or once for all.
template <class T, class Space>
void check_parameter(const NamedArray<Vector<T, Space>>& array, std::int64_t rows) {
  if (array.given != nullptr) check_row_values(array.name, array.view, rows);
}

/// Throws unless what is read for each row and what is written of it are given in one shape, or
/// neither is.
template <class Read, class Written>
void check_read_and_written(const NamedArray<Read>& read, const NamedArray<Written>& written,
                            std::int64_t rows) {
  check_pair(read, written);
  if (read.given == nullptr) return;
  if (written.given->ndim != read.given->ndim) {
    throw Error(std::string(written.name) + ".ndim", std::nullopt, to_text(written.given->ndim),
                to_text(read.given->ndim) + ", that of " + read.name);
  }
  const auto columns = static_cast<std::int64_t>(read.view.extent(1));
  check_matrix(read.name, read.view, rows, columns);
  check_matrix(written.name, written.view, rows, columns);
}

/// Throws unless the lists of the most likely tokens are given together and fit.
template <class Space>
void check_lists(const ScoreArrays<Space>& arrays, std::int64_t rows) {
  check_pair(arrays.top_tokens, arrays.top_logprobs);
  if (arrays.top_tokens.given == nullptr) return;
  const auto& tokens = arrays.top_tokens.view;
  check_matrix(arrays.top_tokens.name, tokens, rows, static_cast<std::int64_t>(tokens.extent(1)));
  check_top_lists("", tokens, arrays.top_logprobs.view, rows);
}

/// Throws unless what is written lies apart from what is read and from each other.
template <LogitType Logit, class Space>
void check_score_apart(const LogitRows<Logit, Space>& rows, const ScoreArrays<Space>& arrays) {
  const auto range = [](const auto& array) { return NamedRange::of(array.name, array.view); };
  const std::array written{range(arrays.given_logprobs), range(arrays.tokens),
                           range(arrays.top_tokens),     range(arrays.top_logprobs),
                           range(arrays.log_sum_exp),    range(arrays.row_status)};
  const std::array read{range(arrays.top_k), range(arrays.top_p), range(arrays.min_p),
                        range(arrays.given_tokens), range(arrays.uniforms)};
  check_apart(written, {ranges_of(rows), read});
}

/// Throws unless the arrays of a score fit its rows.
template <LogitType Logit, class Space>
void check_score(const LogitRows<Logit, Space>& rows, const ScoreArrays<Space>& arrays) {
  const std::int64_t n = rows.rows();
  check_masks_given(arrays.bitmask.given, arrays.bitmask_row_index.given);
  check_rows(rows);
  check_parameter(arrays.top_k, n);
  check_parameter(arrays.top_p, n);
  check_parameter(arrays.min_p, n);
  check_read_and_written(arrays.given_tokens, arrays.given_logprobs, n);
  check_read_and_written(arrays.uniforms, arrays.tokens, n);
  check_draws(static_cast<std::int64_t>(arrays.tokens.view.extent(1)));
  check_lists(arrays, n);
  check_one_each(arrays.log_sum_exp, n);
  check_one_each(arrays.row_status, n);
  check_score_apart(rows, arrays);
}

}  // namespace tokkos::interop
