// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/verified_draft.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace tokkos {

namespace {

/// Whether tokens lie in the memory of a history's own, which moves where it grows.
bool are_own(std::span<const TokenId> tokens, const TokenHistory& history) {
  const std::span<const TokenId> own = history.generated();
  const std::less<> is_before;
  return is_before(tokens.data(), own.data() + own.size()) &&
         is_before(own.data(), tokens.data() + tokens.size());
}

}  // namespace

void commit(std::span<const TokenId> tokens, TokenHistory& history, VocabularyMask* mask) {
  std::vector<TokenId> copied;
  if (are_own(tokens, history)) {
    copied.assign(tokens.begin(), tokens.end());
    tokens = copied;
  }
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
