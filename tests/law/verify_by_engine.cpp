// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/draft_verifier.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "law/plain_views.hpp"
#include "law/tree_batch.hpp"

namespace tokkos::test {

namespace {

/// The trees of a case whose nodes stand tree after tree, the root first.
std::vector<DraftTree> draft_trees(const VerifyCase& c) {
  std::vector<std::int32_t> parent(c.draft_tokens.size(), -1);
  for (int node = 0; node < c.nodes(); ++node) {
    for (int child = c.first_child[node]; child != -1; child = c.next_sibling[child]) {
      parent[child] = node;
    }
  }
  std::vector<DraftTree> trees(c.roots.size());
  for (int tree = 0; tree < c.batch(); ++tree) {
    const int root = c.roots[tree];
    const int end = tree + 1 < c.batch() ? c.roots[tree + 1] : c.nodes();
    for (int node = root + 1; node < end; ++node) {
      trees[tree].token_ids.push_back(c.draft_tokens[node]);
      trees[tree].parents.push_back(parent[node] - root - 1);
    }
  }
  return trees;
}

LosslessOutcome verify(VerifyCase c, int active) {
  if (c.batch() == 0) return {};
  const std::vector<DraftTree> trees = draft_trees(c);
  DraftVerifier<Kokkos::Serial> verifier(Kokkos::Serial(), c.nodes(), c.vocabulary, active);
  DraftProbabilities<Kokkos::HostSpace> drafts;
  drafts.rows = matrix_on<const float>(c.draft_probs, c.width());
  drafts.row_of_node = c.row_of_node;
  drafts.without_replacement = c.without_replacement;
  const auto verified = verifier.verify(matrix_on<const float>(c.model_probs, c.width()), drafts,
                                        trees, VerifyUniforms{c.uniforms, c.bonus_uniforms});
  LosslessOutcome outcome;
  for (int tree = 0; tree < c.batch(); ++tree) {
    const VerifiedDraft& draft = verified[tree];
    std::vector<TokenId> tokens;
    for (const std::int32_t node : draft.accepted_nodes) {
      tokens.push_back(trees[tree].token_ids[node]);
    }
    if (draft.bonus_token >= 0) tokens.push_back(draft.bonus_token);
    if (tokens != draft.tokens) throw std::runtime_error("tokens of other nodes are emitted");
    const int last = draft.accepted_nodes.empty() ? 0 : draft.accepted_nodes.back() + 1;
    outcome.last_accepted.push_back(c.roots[tree] + last);
    outcome.accepted.push_back(static_cast<std::int32_t>(draft.accepted_nodes.size()));
    outcome.bonus_tokens.push_back(draft.bonus_token);
    outcome.status.push_back(draft.status);
  }
  return outcome;
}

}  // namespace

LosslessOutcome verify_by_engine(const VerifyCase& verify_case) {
  return verify(verify_case, verify_case.vocabulary);
}

LosslessOutcome verify_padded(VerifyCase verify_case, int active) {
  for (int node = 0; node < verify_case.nodes(); ++node) {
    for (float& p : verify_case.model_row(node).subspan(static_cast<std::size_t>(active))) {
      if (p != 0) throw std::runtime_error("the target has a token that does not exist");
      p = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return verify(std::move(verify_case), active);
}

}  // namespace tokkos::test
