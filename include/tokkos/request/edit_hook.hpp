// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>
#include <tokkos/request/token_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tokkos {

/// One row of a step, while its edits are made: what an EditHook reads, and where it adds its own.
class RowEdits {
 public:
  /// Which row it is: of the logits, of which request, behind which draft node (-1: behind the last
  /// committed token).
  struct Place {
    std::size_t request = 0;       ///< number of the request
    std::int64_t row = 0;          ///< of the logits
    std::int32_t draft_node = -1;  ///< of the row, -1: none
  };

  /// @param vocabulary V
  /// @param biases gets what is added
  RowEdits(const Place& place, const TokenContext& context, std::int64_t vocabulary,
           std::vector<std::pair<TokenId, float>>& biases)
      : m_place(place), m_context(context), m_vocabulary(vocabulary), m_biases(&biases) {}

  /// Number of the request.
  std::size_t request() const { return m_place.request; }
  /// Row of the logits.
  std::int64_t row() const { return m_place.row; }
  /// Draft node of the row, -1 for the last committed token.
  std::int32_t draft_node() const { return m_place.draft_node; }

  /// The tokens before the row's next one; valid during the call.
  const TokenContext& context() const { return m_context; }

  /// Adds `bias` to the token's logit, after the biases that are there and before penalties and
  /// mask. A token that is biased more than once gets all of them, in their order.
  /// @param token in [0, V)
  /// @param bias finite as float32, or -infinity to forbid the token
  /// @throws Error that names the row and the value
  void add_bias(TokenId token, double bias);

  /// Forbids the token. @throws Error if it is not in [0, V)
  void forbid(TokenId token);

 private:
  Place m_place;
  TokenContext m_context;
  std::int64_t m_vocabulary;
  std::vector<std::pair<TokenId, float>>* m_biases;
};

/// A user's own edits: called on the host for every row of a step, in their order, before anything
/// is written. What it throws passes on, and the step did not happen. For the same tokens and bits
/// in every batch it may depend on the request and its context alone, not on the row's number. It
/// must not call the processor that calls it, nor may a VocabularyMask or a LogitHook: an Error.
using EditHook = std::function<void(RowEdits&)>;

}  // namespace tokkos
