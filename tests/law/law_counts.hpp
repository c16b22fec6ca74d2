// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/tree_batch.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// How many of the 2^24 uniforms have which outcome in one draft.
struct LawCounts {
  /// [nodes]: accept the node, once it is tried.
  std::vector<std::int64_t> accepted;
  /// [nodes][V]: draw the token or a smaller one, once the walk has ended at the node.
  std::vector<std::vector<std::int64_t>> bonus;
};

/// Finds every threshold by bisection, taking for granted that verification is monotone in each
/// uniform and that what it says of a node depends only on the tokens down to its parent, on its
/// earlier siblings and on itself. `wrong_corners` checks both. Adds the number of thresholds.
std::vector<LawCounts> find_counts(const LawProblem& problem, const std::vector<LawDraft>& drafts,
                                   const TreeVerifier& verifier, std::int64_t& thresholds);

}  // namespace tokkos::test
