// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/law_outcomes.hpp"

#include <cstdint>

namespace tokkos::test {

/// What was found out about the law of the emitted tokens: the accepted ones, the bonus token, and
/// ordinary sampling behind them.
struct LawResult {
  std::int64_t laws = 0;        ///< exact laws that were compared with the target's
  std::int64_t thresholds = 0;  ///< found by bisection
  std::int64_t corners = 0;     ///< outcomes that were tried
  std::int64_t wrong_corners = 0;
  std::int64_t incomplete_laws = 0;  ///< laws whose exact mass is not 1: some uniforms emit nothing
  double total_variation = 0;        ///< of the worst law from the target's, over sequences
  double forbidden_mass = 0;         ///< of the worst law: of what the target never emits

  /// Both together: the worst of the two and the sums of the numbers.
  void add(const LawResult& other);
};

/// Enumerates a problem: the drafts with their exact probabilities, the uniforms by their exact
/// counts. All arithmetic is in whole numbers but for the last division of each sequence.
LawResult exact_law(const LawProblem& problem, const TreeVerifier& verifier = verify_by_kernel);

}  // namespace tokkos::test
