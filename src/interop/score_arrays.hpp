// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/batch/vocabulary_bitmask.hpp>
#include <tokkos/core/types.hpp>

#include "interop/array_view.hpp"

#include <cstdint>

namespace tokkos::interop {

/// An array of a struct of C by its name there, and as a View, which is empty where none is given.
template <class View>
struct NamedArray {
  const char* name;
  const tokkos_array* given;  ///< null: not given
  View view;
};

template <class T, class Space>
NamedArray<Vector<T, Space>> named_vector(const char* name, const tokkos_array* given) {
  return {name, given, vector_of_array<T, Space>(name, given)};
}

template <class T, class Space>
NamedArray<Matrix<T, Space>> named_matrix(const char* name, const tokkos_array* given) {
  return {name, given, matrix_of<T, Space>(name, given)};
}

/// Of one or two dimensions.
template <class T, class Space>
NamedArray<Matrix<T, Space>> named_columns(const char* name, const tokkos_array* given) {
  return {name, given, columns_of_array<T, Space>(name, given)};
}

/// The arrays of a tokkos_score.
template <class Space>
struct ScoreArrays {
  NamedArray<Vector<const std::int32_t, Space>> row_index;
  NamedArray<Vector<const float, Space>> temperature;
  NamedArray<Vector<const std::int32_t, Space>> top_k;
  NamedArray<Vector<const float, Space>> top_p;
  NamedArray<Vector<const float, Space>> min_p;
  NamedArray<Matrix<const std::int32_t, Space>> bitmask;
  NamedArray<Vector<const std::int32_t, Space>> bitmask_row_index;
  NamedArray<Matrix<const TokenId, Space>> given_tokens;
  NamedArray<Matrix<float, Space>> given_logprobs;
  NamedArray<Matrix<const float, Space>> uniforms;
  NamedArray<Matrix<TokenId, Space>> tokens;
  NamedArray<Matrix<TokenId, Space>> top_tokens;
  NamedArray<Matrix<float, Space>> top_logprobs;
  NamedArray<Vector<float, Space>> log_sum_exp;
  NamedArray<Vector<std::int32_t, Space>> row_status;

  /// @throws Error if one is of another type or number of dimensions, or read-only and written
  static ScoreArrays of(const tokkos_score& score) {
    return {
        named_vector<const std::int32_t, Space>("row_index", score.row_index),
        named_vector<const float, Space>("temperature", score.temperature),
        named_vector<const std::int32_t, Space>("top_k", score.top_k),
        named_vector<const float, Space>("top_p", score.top_p),
        named_vector<const float, Space>("min_p", score.min_p),
        named_matrix<const std::int32_t, Space>("bitmask", score.bitmask),
        named_vector<const std::int32_t, Space>("bitmask_row_index", score.bitmask_row_index),
        named_columns<const TokenId, Space>("given_tokens", score.given_tokens),
        named_columns<float, Space>("given_logprobs", score.given_logprobs),
        named_columns<const float, Space>("uniforms", score.uniforms),
        named_columns<TokenId, Space>("tokens", score.tokens),
        named_matrix<TokenId, Space>("top_tokens", score.top_tokens),
        named_matrix<float, Space>("top_logprobs", score.top_logprobs),
        named_vector<float, Space>("log_sum_exp", score.log_sum_exp),
        named_vector<std::int32_t, Space>("row_status", score.row_status),
    };
  }

  /// What truncates the rows; empty where nothing does.
  Truncation<Space> truncation() const { return {top_k.view, top_p.view, min_p.view}; }
  bool truncates() const {
    return top_k.given != nullptr || top_p.given != nullptr || min_p.given != nullptr;
  }
};

}  // namespace tokkos::interop
