// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/edit_hook.hpp>

#include "core/float_order.hpp"

#include <limits>

namespace tokkos {

void RowEdits::add_bias(TokenId token, double bias) {
  if (token < 0 || token >= m_vocabulary) {
    throw Error("edit_hook.token_id", m_place.row, to_text(token),
                "a token in [0, " + to_text(m_vocabulary) + ")");
  }
  const bool forbids = bias == -std::numeric_limits<double>::infinity();
  require(forbids || is_finite_as_float(bias), "edit_hook.bias", m_place.row, bias,
          "a finite float32 or -infinity");
  m_biases->emplace_back(token, static_cast<float>(bias));
}

void RowEdits::forbid(TokenId token) {
  add_bias(token, -std::numeric_limits<double>::infinity());
}

}  // namespace tokkos
