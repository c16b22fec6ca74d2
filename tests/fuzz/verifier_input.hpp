// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/draft_verifier.hpp>

#include "fuzz/faults.hpp"
#include "fuzz/fuzz_bytes.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// A step of DraftVerifier, with some bad values.
struct VerifierStep {
  int vocabulary = 1;
  int active = 1;  ///< the target's tokens
  std::vector<DraftTree> trees;
  std::vector<float> model_probs;         ///< [nodes, V], NaN at and past `active`
  std::vector<float> draft_probs;         ///< the same, or empty
  std::vector<std::int32_t> row_of_node;  ///< [nodes], or empty
  VerifyUniforms uniforms;
  bool without_replacement = false;
  std::size_t nodes = 0;  ///< roots included

  Faults tree_faults;   ///< what is wrong in the trees
  Faults other_faults;  ///< what greedy verification does not look at
};

/// Most nodes of a call of the harness.
constexpr std::size_t max_nodes = 18;

VerifierStep make_verifier_step(FuzzBytes& bytes);

}  // namespace tokkos::test
