// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/minimum_length.hpp>

#include <utility>

namespace tokkos {

void ban_early_end(const TokenContext& context, std::int32_t min_tokens,
                   std::span<const TokenId> end_token_ids, std::vector<TokenId>& banned) {
  const std::size_t generated = context.generated.size() + context.drafts.size();
  if (std::cmp_greater_equal(generated, min_tokens)) return;
  banned.insert(banned.end(), end_token_ids.begin(), end_token_ids.end());
}

}  // namespace tokkos
