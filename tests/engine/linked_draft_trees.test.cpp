// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Trees whose links an engine keeps, as xgrammar and SGLang do, through DraftVerifier.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/request/linked_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "backends.hpp"
#include "engine/draft_batch.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 14;

/// Puts the siblings of every node of the reference in another order.
void reorder_siblings(VerifyCase& c, std::mt19937_64& random) {
  for (std::int32_t& first : c.first_child) {
    std::vector<std::int32_t> siblings;
    for (std::int32_t s = first; s != -1; s = c.next_sibling[static_cast<std::size_t>(s)]) {
      siblings.push_back(s);
    }
    std::ranges::shuffle(siblings, random);
    std::int32_t* link = &first;
    for (const std::int32_t s : siblings) {
      *link = s;
      link = &c.next_sibling[static_cast<std::size_t>(s)];
    }
    *link = -1;
  }
}

/// The trees of the reference, made of links that count from each tree's root.
template <class Index>
std::vector<DraftTree> trees_of_links(const VerifyCase& c) {
  std::vector<DraftTree> trees;
  for (std::size_t b = 0; b < c.roots.size(); ++b) {
    const int root = c.roots[b];
    const int end = b + 1 < c.roots.size() ? c.roots[b + 1] : c.nodes();
    std::vector<Index> tokens, first_child, next_sibling;
    const auto own = [=](std::int32_t link) {
      return static_cast<Index>(std::max(-1, link - root));
    };
    for (int node = root; node < end; ++node) {
      const auto place = static_cast<std::size_t>(node);
      tokens.push_back(c.draft_tokens[place]);
      first_child.push_back(own(c.first_child[place]));
      next_sibling.push_back(own(c.next_sibling[place]));
    }
    trees.push_back(draft_tree_of_links(tokens, first_child, next_sibling, vocabulary));
  }
  return trees;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a verifier tries the nodes of links in their order", "[engine]",
                        ExecutionSpaces) {
  const bool wide = GENERATE(false, true);
  std::mt19937_64 random(wide ? 31 : 30);
  std::size_t reordered = 0;
  for (int step = 0; step < 8; ++step) {
    DraftBatch batch = random_draft_batch(20, vocabulary, step == 0, random);
    VerifyCase& c = batch.reference;
    reorder_siblings(c, random);
    batch.trees = wide ? trees_of_links<std::int64_t>(c) : trees_of_links<std::int32_t>(c);
    for (const DraftTree& tree : batch.trees) reordered += tree.trial_order.empty() ? 0 : 1;
    const auto nodes = static_cast<std::size_t>(c.nodes());
    const Guarded<float, MemoryOf<TestType>> model(nodes, c.width(), 0, std::span(c.model_probs)),
        draft(nodes, c.width(), 0, std::span(c.draft_probs));
    DraftVerifier<TestType> verifier(TestType(), c.nodes(), vocabulary);
    const auto verified =
        verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
    const LosslessOutcome expected = verify_lossless(c);
    for (std::size_t b = 0; b < verified.size(); ++b) {
      const auto& path = verified[b].accepted_nodes;
      // Node i of a tree's links is node i - 1 of its DraftTree.
      const std::int32_t last = path.empty() ? c.roots[b] : c.roots[b] + 1 + path.back();
      CHECK(last == expected.last_accepted[b]);
      CHECK(static_cast<std::int32_t>(path.size()) == expected.accepted[b]);
      CHECK(verified[b].bonus_token == expected.bonus_tokens[b]);
      CHECK(verified[b].status == expected.status[b]);
    }
    const AcceptanceStatistics counts = counted(batch, expected);
    CHECK(verifier.statistics().tried == counts.tried);
    CHECK(verifier.statistics().accepted == counts.accepted);
  }
  CHECK(reordered >= 20);
}

}  // namespace tokkos::test
