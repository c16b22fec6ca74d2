// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/law_counts.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tokkos::test {

enum class Fate { idle, rejected, accepted };

/// All uniforms that lead a draft to one end: a box in the cube of uniforms, [accepted] below a
/// node's count, [rejected] from it on, [idle] any, and a range for the bonus token's.
struct LawOutcome {
  int node;            ///< last accepted node
  std::int32_t bonus;  ///< token behind it
  UniformRange bonus_uniforms;
  const std::vector<Fate>& fate;  ///< [nodes]
};

/// Visits the outcomes of a draft that some uniforms have. Their boxes do not overlap.
void for_each_outcome(const LawDraft& draft, const LawCounts& counts,
                      const std::function<void(const LawOutcome&)>& visit);

/// Tries three points of every box: the least uniforms, the largest ones, and those of the walk
/// nearest to their thresholds. Verification being monotone in each, the whole box then has the
/// outcome. Returns how many points came out differently; adds the number tried.
std::int64_t wrong_corners(const LawProblem& problem, const std::vector<LawDraft>& drafts,
                           const std::vector<LawCounts>& counts, const TreeVerifier& verifier,
                           std::int64_t& tried);

}  // namespace tokkos::test
