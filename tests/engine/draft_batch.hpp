// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/draft_verifier.hpp>

#include "reference/verify_reference.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace tokkos::test {

/// Requests with their trees; node numbers of the batch are those of `reference`.
struct DraftBatch {
  std::vector<DraftTree> trees;
  VerifyUniforms uniforms;
  VerifyCase reference;
};

inline DraftBatch random_draft_batch(int requests, int vocabulary, bool chains,
                                     std::mt19937_64& random) {
  DraftBatch batch;
  VerifyCase& c = batch.reference;
  c.vocabulary = vocabulary;
  for (int i = 0; i < requests; ++i) {
    DraftTree& tree = batch.trees.emplace_back();
    const int root = c.add_node(-1, -1, 0.0f);
    for (int node = 0; node < static_cast<int>(random() % 8); ++node) {
      const int back = chains ? 1 : 1 + static_cast<int>(random() % 3);
      tree.parents.push_back(std::max(-1, node - back));
      tree.token_ids.push_back(static_cast<TokenId>(random() % vocabulary));
      c.add_node(root + 1 + tree.parents.back(), tree.token_ids.back(),
                 0.4f * random_uniform(random));
    }
    c.bonus_uniforms.back() = random_uniform(random);
  }
  for (int node = 0; node < c.nodes(); ++node) {
    fill_random_distribution(c.draft_row(node), random);
    fill_random_distribution(c.model_row(node), random);
  }
  batch.uniforms = {c.uniforms, c.bonus_uniforms};
  return batch;
}

}  // namespace tokkos::test
