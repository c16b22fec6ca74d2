// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random_step.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Gives the step's requests policies, longer histories, and tokens that are allowed, banned, too
/// early, repeated or the end of bad words: each of them to some.
void add_policies_and_bans(RandomStep& step, std::uint64_t seed);

/// What a request's policy and bans do to its row behind the draft tokens `path`, worked out
/// naively.
void describe_policy_and_bans(const GenerationConfig& config, const TokenHistory* history,
                              const std::vector<TokenId>& path, std::int64_t active,
                              RowEdits& edits);

}  // namespace tokkos::test
