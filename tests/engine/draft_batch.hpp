// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/acceptance_statistics.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include "reference/verify_reference.hpp"

#include <algorithm>
#include <cstddef>
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

/// The reference's walk once more, for what it tries and accepts at each depth.
inline AcceptanceStatistics counted(const DraftBatch& batch, const LosslessOutcome& outcome) {
  AcceptanceStatistics counts;
  const VerifyCase& c = batch.reference;
  for (int b = 0; b < c.batch(); ++b) {
    ++counts.trees;
    std::vector<int> path;  // the last accepted node, its parent, ..., the root
    for (int node = outcome.last_accepted[b]; node != c.roots[b];) {
      path.insert(path.begin(), node);
      int parent = c.roots[b];
      const auto is_child_of = [&](int p) {
        for (int s = c.first_child[p]; s != -1; s = c.next_sibling[s]) {
          if (s == node) return true;
        }
        return false;
      };
      while (!is_child_of(parent)) ++parent;
      node = parent;
    }
    int parent = c.roots[b];
    for (std::size_t depth = 0; depth <= path.size(); ++depth) {
      for (int s = c.first_child[parent]; s != -1; s = c.next_sibling[s]) {
        counts.tried.resize(std::max(counts.tried.size(), depth + 1));
        counts.accepted.resize(counts.tried.size());
        ++counts.tried[depth];
        if (depth < path.size() && s == path[depth]) {
          ++counts.accepted[depth];
          break;
        }
      }
      if (depth < path.size()) parent = path[depth];
    }
  }
  return counts;
}

}  // namespace tokkos::test
