// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/verified_draft.hpp>

#include <cstddef>

namespace tokkos {

void commit(std::span<const TokenId> tokens, TokenHistory& history, VocabularyMask* mask) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    require(tokens[i] >= 0, "tokens", static_cast<std::int64_t>(i), tokens[i], "a token >= 0");
  }
  std::size_t committed = 0;
  std::int32_t accepted = 0;
  try {
    for (const TokenId token : tokens) {
      if (mask != nullptr && !mask->accept(token)) {
        throw Error("tokens", static_cast<std::int64_t>(committed), to_text(token),
                    "a token that the request's mask accepts");
      }
      ++accepted;
      history.commit(token);
      ++committed;
    }
  } catch (...) {
    history.rollback(committed);
    if (mask != nullptr && accepted > 0) mask->rollback(accepted);
    throw;
  }
}

void commit(const VerifiedDraft& verified, TokenHistory& history, VocabularyMask* mask) {
  commit(std::span<const TokenId>(verified.tokens), history, mask);
}

}  // namespace tokkos
