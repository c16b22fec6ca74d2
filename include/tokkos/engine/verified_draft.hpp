// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>
#include <tokkos/request/token_history.hpp>
#include <tokkos/request/vocabulary_mask.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tokkos {

/// What verification says about one request.
struct VerifiedDraft {
  /// Accepted draft nodes, from the first after the committed tokens on.
  std::vector<std::int32_t> accepted_nodes;
  /// The tokens to emit: those of the accepted nodes, then the bonus token (absent if unusable).
  std::vector<TokenId> tokens;
  /// The token after the last accepted node, -1 if unusable.
  TokenId bonus_token = -1;
  /// RowStatus bits of the tree.
  std::int32_t status = 0;
};

/// Appends generated tokens to the request's history and has its matcher, if there is one, accept
/// them: all of them, or none. An engine that stops early (a stop token, a length) gives fewer.
/// @throws Error if the matcher refuses a token; history and matcher are then as they were before
void commit(std::span<const TokenId> tokens, TokenHistory& history, VocabularyMask* mask = nullptr);

/// The same with the tokens that a verification emits.
void commit(const VerifiedDraft& verified, TokenHistory& history, VocabularyMask* mask = nullptr);

}  // namespace tokkos
