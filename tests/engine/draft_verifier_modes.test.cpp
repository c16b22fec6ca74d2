// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// DraftVerifier with one-hot and shared draft rows, chains and greedy decoding; what it copies,
// counts and commits.
#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/scripted_grammar.hpp"
#include "kernels/guarded.hpp"
#include "reference/shared_rows.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 14;

template <class ExecutionSpace>
using Rows = Guarded<float, MemoryOf<ExecutionSpace>>;

/// Counts Kokkos's copies while it lives.
class CopyCount {
 public:
  CopyCount() : m_previous(Kokkos::Tools::Experimental::get_callbacks()) {
    s_copies = 0;
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(count);
  }
  ~CopyCount() { Kokkos::Tools::Experimental::set_callbacks(m_previous); }
  CopyCount(const CopyCount&) = delete;
  CopyCount& operator=(const CopyCount&) = delete;
  int copies() const { return s_copies; }

 private:
  static void count(Kokkos::Profiling::SpaceHandle, const char*, const void*,
                    Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) {
    ++s_copies;
  }
  static inline int s_copies = 0;
  Kokkos::Tools::Experimental::EventSet m_previous;
};

/// Requests with their trees; node numbers of the batch are those of `reference`.
struct Batch {
  std::vector<DraftTree> trees;
  VerifyUniforms uniforms;
  VerifyCase reference;
};

Batch random_batch(int requests, bool chains, std::mt19937_64& random) {
  Batch batch;
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

void check_verified(const std::vector<VerifiedDraft>& verified, const Batch& batch,
                    const LosslessOutcome& expected) {
  REQUIRE(verified.size() == batch.trees.size());
  for (std::size_t i = 0; i < verified.size(); ++i) {
    CAPTURE(i);
    const std::int32_t last = expected.last_accepted[i] - batch.reference.roots[i] - 1;
    const auto path = batch.trees[i].path(last);
    CHECK(verified[i].accepted_nodes == path);
    CHECK(verified[i].bonus_token == expected.bonus_tokens[i]);
    CHECK(verified[i].status == expected.status[i]);
    std::vector<TokenId> tokens;
    for (const auto node : path) tokens.push_back(batch.trees[i].token_ids[std::size_t(node)]);
    if (expected.bonus_tokens[i] >= 0) tokens.push_back(expected.bonus_tokens[i]);
    CHECK(verified[i].tokens == tokens);
  }
}

/// The reference's walk once more, for what it tries and accepts at each depth.
AcceptanceStatistics counted(const Batch& batch, const LosslessOutcome& outcome) {
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

}  // namespace

TEMPLATE_LIST_TEST_CASE("a verifier takes drafts without rows as chosen", "[engine]",
                        ExecutionSpaces) {
  const bool chains = GENERATE(false, true);
  std::mt19937_64 random(31 + chains);
  const Batch batch = random_batch(40, chains, random);
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  VerifyCase none = batch.reference;
  none.row_of_node.assign(nodes, -1);
  const LosslessOutcome expected = verify_lossless(with_rows_of_siblings(none));
  const Rows<TestType> model(nodes, vocabulary, 2, std::span(batch.reference.model_probs));
  DraftVerifier<TestType> verifier(TestType(), batch.reference.nodes(), vocabulary);
  using Drafts = DraftProbabilities<MemoryOf<TestType>>;
  check_verified(verifier.verify(model.matrix(), Drafts{}, batch.trees, batch.uniforms), batch,
                 expected);
  const Drafts by_row{{}, none.row_of_node};
  check_verified(verifier.verify(model.matrix(), by_row, batch.trees, batch.uniforms), batch,
                 expected);
}

TEMPLATE_LIST_TEST_CASE("a verifier takes rows that siblings share", "[engine]", ExecutionSpaces) {
  const bool without_replacement = GENERATE(false, true);
  std::mt19937_64 random(77);
  const Batch batch = random_batch(40, false, random);
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  VerifyCase shared = with_shared_rows(batch.reference, without_replacement);
  VerifyCase rows = shared;
  if (without_replacement) {
    rows = with_rows_of_siblings(shared);
  } else {
    for (int node = 0; node < rows.nodes(); ++node) {
      std::ranges::copy(shared.draft_row(shared.row_of_node[node]), rows.draft_row(node).begin());
    }
  }
  const Rows<TestType> model(nodes, vocabulary, 0, std::span(shared.model_probs)),
      draft(nodes, vocabulary, 1, std::span(shared.draft_probs));
  DraftVerifier<TestType> verifier(TestType(), shared.nodes(), vocabulary);
  const DraftProbabilities<MemoryOf<TestType>> drafts{draft.matrix(), shared.row_of_node,
                                                      without_replacement};
  check_verified(verifier.verify(model.matrix(), drafts, batch.trees, batch.uniforms), batch,
                 verify_lossless(rows));
}

TEMPLATE_LIST_TEST_CASE("a verifier refuses rows of nodes that do not exist", "[engine]",
                        ExecutionSpaces) {
  const Rows<TestType> model(3, vocabulary, 0, {}), draft(2, vocabulary, 0, {});
  const std::vector<DraftTree> trees = {{{1, 2}, {-1, -1}}};
  const VerifyUniforms uniforms{{0.5f, 0.5f, 0.5f}, {0.5f}};
  DraftVerifier<TestType> verifier(TestType(), 3, vocabulary);
  const auto call = [&](const std::vector<std::int32_t>& rows) {
    verifier.verify(model.matrix(), DraftProbabilities<MemoryOf<TestType>>{draft.matrix(), rows},
                    trees, uniforms);
  };
  CHECK_NOTHROW(call({99, 0, -1}));  // the root's is not read
  for (const std::int32_t bad : {-2, 2, 1000}) {
    const Complaint complaint = error_of([&] { call({0, 1, bad}); });
    CHECK(complaint.names("row_of_node"));
    CHECK(complaint.index == 2);
  }
  CHECK(error_of([&] { call({0, 1}); }).names("row_of_node"));
  CHECK(error_of([&] { call({}); }).names("draft_probs"));  // 2 rows for 3 nodes
}

TEMPLATE_LIST_TEST_CASE("a verifier follows the argmax of logits", "[engine]", Backends) {
  using ExecutionSpace = typename TestType::execution_space;
  using Logit = typename TestType::logit;
  // 3, then 1 (after 0 was tried), then a leaf; the second request has no drafts.
  const std::vector<DraftTree> trees = {{{3, 0, 1, 2}, {-1, 0, 0, 2}}, {}};
  const std::vector<std::int32_t> wanted = {3, 1, 5, 4, 6, 2};  // of each node
  std::vector<Logit> values(6 * vocabulary, narrow<Logit>(-1.0f));
  for (std::size_t node = 0; node < 6; ++node) {
    values[node * vocabulary + std::size_t(wanted[node])] = narrow<Logit>(2.0f);
  }
  const Guarded<Logit, typename TestType::memory_space> logits(6, vocabulary, 3, values);
  DraftVerifier<ExecutionSpace> verifier(ExecutionSpace(), 6, vocabulary);
  const auto verified = verifier.template verify_greedy<Logit>(logits.matrix(), trees);
  CHECK(verified[0].accepted_nodes == std::vector<std::int32_t>{0, 2});
  CHECK(verified[0].tokens == std::vector<TokenId>{3, 1, 4});
  CHECK(verified[0].bonus_token == 4);
  CHECK(verified[1].tokens == std::vector<TokenId>{2});
  CHECK(verifier.statistics().tried == std::vector<std::int64_t>{1, 2, 1});
  CHECK(verifier.statistics().accepted == std::vector<std::int64_t>{1, 1, 0});
  CHECK(verifier.statistics().trees == 2);
  CHECK(verifier
            .template verify_greedy<Logit>(
                Guarded<Logit, typename TestType::memory_space>(0, vocabulary, 0, {}).matrix(), {})
            .empty());
  CHECK_THROWS_AS(verifier.template verify_greedy<Logit>(
                      logits.matrix(), std::vector<DraftTree>{{{vocabulary}, {-1}}}),
                  Error);
}

TEMPLATE_LIST_TEST_CASE("a verifier uploads once and downloads once", "[engine]", ExecutionSpaces) {
  std::mt19937_64 random(3);
  const Batch batch = random_batch(10, false, random);
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  const Rows<TestType> model(nodes, vocabulary, 0, std::span(batch.reference.model_probs)),
      draft(nodes, vocabulary, 0, std::span(batch.reference.draft_probs));
  DraftVerifier<TestType> verifier(TestType(), batch.reference.nodes(), vocabulary);
  constexpr int expected = Staging<TestType>::needs_copy ? 2 : 0;
  for (int step = 0; step < 2; ++step) {
    const CopyCount lossless;
    verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
    CHECK(lossless.copies() == expected);
  }
  const CopyCount greedy;
  verifier.template verify_greedy<float>(model.matrix(), batch.trees);
  CHECK(greedy.copies() == expected);
}

TEMPLATE_LIST_TEST_CASE("of chains no links are staged", "[engine]", ExecutionSpaces) {
  const std::vector<std::int32_t> chain = {-1, 0, 1, 2, 3, 4, 5, 6}, bush(8, -1);
  const std::vector<TokenId> tokens(8, 1);
  const Rows<TestType> model(9 * 20, vocabulary, 0, {});
  const VerifyUniforms uniforms{std::vector<float>(9 * 20, 0.5f), std::vector<float>(20, 0.5f)};
  DraftVerifier<TestType> verifier(TestType(), 9 * 20, vocabulary);
  const auto staged = [&](const std::vector<std::int32_t>& parents) {
    const std::vector<DraftTree> trees(20, DraftTree{tokens, parents});
    verifier.verify(model.matrix(), DraftProbabilities<MemoryOf<TestType>>{}, trees, uniforms);
    return verifier.staged_bytes();
  };
  CHECK(staged(bush) - staged(chain) >= 2 * 180 * sizeof(std::int32_t) - 21 * 4 - 3 * 64);
}

TEMPLATE_LIST_TEST_CASE("a verifier counts what was tried and accepted at each depth", "[engine]",
                        ExecutionSpaces) {
  std::mt19937_64 random(5);
  DraftVerifier<TestType> verifier(TestType(), 500, vocabulary);
  AcceptanceStatistics expected;
  for (int step = 0; step < 4; ++step) {
    const Batch batch = random_batch(30, step % 2 == 1, random);
    const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
    const Rows<TestType> model(nodes, vocabulary, 0, std::span(batch.reference.model_probs)),
        draft(nodes, vocabulary, 0, std::span(batch.reference.draft_probs));
    verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
    const AcceptanceStatistics more = counted(batch, verify_lossless(batch.reference));
    expected.trees += more.trees;
    expected.tried.resize(std::max(expected.tried.size(), more.tried.size()));
    expected.accepted.resize(expected.tried.size());
    for (std::size_t d = 0; d < more.tried.size(); ++d) {
      expected.tried[d] += more.tried[d];
      expected.accepted[d] += more.accepted[d];
    }
  }
  CHECK(expected.tried.size() >= 3);
  CHECK(verifier.statistics().tried == expected.tried);
  CHECK(verifier.statistics().accepted == expected.accepted);
  CHECK(verifier.statistics().trees == expected.trees);
  verifier.reset_statistics();
  CHECK(verifier.statistics().tried.empty());
}

TEST_CASE("nodes behind bad data do not count as tried", "[engine]") {
  const DraftTree tree{{1, 2, 3, 4}, {-1, -1, 1, 1}};
  AcceptanceStatistics counts;
  counts.add(tree, std::vector<std::int32_t>{1}, false);
  CHECK(counts.tried == std::vector<std::int64_t>{2});
  CHECK(counts.accepted == std::vector<std::int64_t>{1});
  counts.add(tree, std::vector<std::int32_t>{1}, true);
  CHECK(counts.tried == std::vector<std::int64_t>{4, 2});
  CHECK(counts.accepted == std::vector<std::int64_t>{2, 0});
}

TEST_CASE("commit appends the emitted tokens and moves the matcher on", "[engine]") {
  TokenHistory history({4});
  history.commit(7);
  ScriptedGrammar grammar(1, vocabulary);
  const auto next_allowed = [&](std::vector<TokenId> accepted, bool allowed) {
    TokenId token = 3;
    while (grammar.allows(accepted, token) != allowed) ++token;
    return token;
  };
  const TokenId first = next_allowed({}, true);
  const TokenId second = next_allowed({first}, true);
  commit(VerifiedDraft{{0}, {first, second}, second, 0}, history, &grammar);
  CHECK(grammar.accepted() == std::vector<TokenId>{first, second});
  CHECK(std::ranges::equal(history.generated(), std::vector<TokenId>{7, first, second}));

  const TokenId third = next_allowed({first, second}, true);
  const TokenId refused = next_allowed({first, second, third}, false);
  const Complaint complaint = error_of([&] {
    commit(VerifiedDraft{{0}, {third, refused}, refused, 0}, history, &grammar);
  });
  CHECK(complaint.index == 1);
  CHECK(complaint.value == std::to_string(refused));
  CHECK(grammar.accepted() == std::vector<TokenId>{first, second});
  CHECK(grammar.misuses() == 0);
  CHECK(std::ranges::equal(history.generated(), std::vector<TokenId>{7, first, second}));

  grammar.throw_at(1);
  CHECK_THROWS_AS(commit(VerifiedDraft{{0}, {third, 5}, 5, 0}, history, &grammar), GrammarFailure);
  CHECK(grammar.accepted() == std::vector<TokenId>{first, second});
  commit(VerifiedDraft{{}, {9}, 9, 0}, history);
  CHECK(history.generated().back() == 9);
  commit(VerifiedDraft{}, history, &grammar);
  CHECK(history.generated().size() == 4);
}

}  // namespace tokkos::test
