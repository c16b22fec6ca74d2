// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/verify_reference.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tokkos::test {

/// How the children of a node are drafted, and which distribution is passed for each.
enum class Drafting {
  with_replacement,     ///< each from the same q, duplicates stay
  without_replacement,  ///< each from q less its earlier siblings, zeroed and renormalized
  most_likely,          ///< the k most likely tokens, one-hot rows
  // Not lossless; the tests show that they are told apart:
  same_row_without_replacement,  ///< without replacement, but q itself is passed for every sibling
  dropped_duplicates,            ///< with replacement, later copies of a token are left out
  most_likely_with_softmax,      ///< the k most likely tokens, q itself is passed
  shared_stream                  ///< with replacement, one uniform both drafts and verifies a node
};

/// A tiny problem: every node above the leaves has `children[level]` children.
struct DraftProblem {
  int vocabulary;
  std::vector<int> children;
  Drafting drafting;
  std::uint64_t seed;
};

using LosslessVerifier = std::function<LosslessOutcome(const VerifyCase&)>;

/// How far the law of the emitted tokens is from the target's.
struct LawDifference {
  double total_variation = 0;  ///< over sequences one longer than the tree is high
  double forbidden_mass = 0;   ///< of sequences that the target never produces
};

/// The drafts are enumerated with their exact probabilities. For each, the number of uniforms k *
/// 2^-24 for which `verify` accepts each node, and draws each bonus token, is found by bisection,
/// which gives the exact probability of every outcome. Emitted tokens are completed by ordinary
/// sampling.
LawDifference law_difference(const DraftProblem& problem, const LosslessVerifier& verify);

}  // namespace tokkos::test
