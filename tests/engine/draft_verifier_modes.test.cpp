// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// DraftVerifier with one-hot and shared draft rows, chains and greedy decoding, and what it copies.
#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "backends.hpp"
#include "engine/draft_batch.hpp"
#include "engine/kokkos_events.hpp"
#include "kernels/guarded.hpp"
#include "reference/shared_rows.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 14;

template <class ExecutionSpace>
using Rows = Guarded<float, MemoryOf<ExecutionSpace>>;

void check_verified(const std::vector<VerifiedDraft>& verified, const DraftBatch& batch,
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

}  // namespace

TEMPLATE_LIST_TEST_CASE("a verifier takes drafts without rows as chosen", "[engine]",
                        ExecutionSpaces) {
  const bool chains = GENERATE(false, true);
  std::mt19937_64 random(31 + chains);
  const DraftBatch batch = random_draft_batch(40, vocabulary, chains, random);
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  VerifyCase none = batch.reference;
  none.row_of_node.assign(nodes, -1);
  const LosslessOutcome expected = verify_lossless(with_rows_of_siblings(none));
  const Rows<TestType> model(nodes, vocabulary, 2, std::span(batch.reference.model_probs));
  DraftVerifier<TestType> verifier(TestType(), batch.reference.nodes(), vocabulary);
  using Drafts = DraftProbabilities<MemoryOf<TestType>>;
  check_verified(verifier.verify(model.matrix(), Drafts{}, batch.trees, batch.uniforms), batch,
                 expected);
  check_verified(verifier.verify(model.matrix(), {}, batch.trees, batch.uniforms), batch, expected);
  const Drafts by_row{{}, none.row_of_node};
  check_verified(verifier.verify(model.matrix(), by_row, batch.trees, batch.uniforms), batch,
                 expected);
}

TEMPLATE_LIST_TEST_CASE("lossless verification does not look at the padding", "[engine]",
                        ExecutionSpaces) {
  const auto [width, active] = GENERATE(table<int, int>({{20, 14}, {20, 1}, {9000, 4097}}));
  const bool without_replacement = GENERATE(false, true);
  CAPTURE(width, active, without_replacement);
  std::mt19937_64 random(57);
  // The drafter knows tokens that the target does not have: to the reference they are forbidden.
  DraftBatch batch = random_draft_batch(width > 1000 ? 8 : 40, width, false, random);
  const int nodes = batch.reference.nodes();
  std::vector<float> padded;
  for (int node = 0; node < nodes; ++node) {
    const auto row = batch.reference.model_row(node);
    fill_random_distribution(row.first(std::size_t(active)), random);
    std::ranges::fill(row.subspan(std::size_t(active)), 0.0f);
    padded.insert(padded.end(), row.begin(), row.begin() + active);
    padded.insert(padded.end(), std::size_t(width - active),
                  node % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : 0.75f);
  }
  const VerifyCase shared = with_shared_rows(batch.reference, without_replacement);
  const LosslessOutcome expected = verify_lossless(with_own_rows(shared));

  const Rows<TestType> model(std::size_t(nodes), std::size_t(width), 1, std::span(padded));
  const Rows<TestType> drafts(shared.draft_probs.size() / shared.width(), shared.width(), 3,
                              std::span(shared.draft_probs));
  DraftVerifier<TestType> verifier(TestType(), nodes, width, active);
  const DraftProbabilities<MemoryOf<TestType>> given{drafts.matrix(), shared.row_of_node,
                                                     without_replacement};
  check_verified(verifier.verify(model.matrix(), given, batch.trees, batch.uniforms), batch,
                 expected);
  int past = 0;
  for (const DraftTree& tree : batch.trees) {
    for (const TokenId token : tree.token_ids) past += token >= active ? 1 : 0;
  }
  CHECK(past > 0);
}

TEMPLATE_LIST_TEST_CASE("a verifier takes rows that siblings share", "[engine]", ExecutionSpaces) {
  const bool without_replacement = GENERATE(false, true);
  std::mt19937_64 random(77);
  const DraftBatch batch = random_draft_batch(40, vocabulary, false, random);
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  const VerifyCase shared = with_shared_rows(batch.reference, without_replacement);
  const Rows<TestType> model(nodes, vocabulary, 0, std::span(shared.model_probs)),
      draft(nodes, vocabulary, 1, std::span(shared.draft_probs));
  DraftVerifier<TestType> verifier(TestType(), shared.nodes(), vocabulary);
  const DraftProbabilities<MemoryOf<TestType>> drafts{draft.matrix(), shared.row_of_node,
                                                      without_replacement};
  check_verified(verifier.verify(model.matrix(), drafts, batch.trees, batch.uniforms), batch,
                 verify_lossless(with_own_rows(shared)));
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

TEMPLATE_LIST_TEST_CASE("a long row is followed by all threads as by one", "[engine]",
                        ExecutionSpaces) {
  constexpr std::size_t long_row = 20000;
  std::vector<float> values(2 * long_row, -1.0f);
  values[long_row - 2] = values[long_row - 1] = 2.0f;
  values[long_row + 5000] = 2.0f;
  DraftVerifier<TestType> verifier(TestType(), 2, long_row);
  const Guarded<float, MemoryOf<TestType>> one(1, long_row, 0, std::span(values).first(long_row)),
      two(2, long_row, 0, values);
  const std::vector<DraftTree> none(1), chain{{{19998}, {-1}}};
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto bonus = verifier.template verify_greedy<float>(one.matrix(), none);
    CHECK(bonus[0].tokens == std::vector<TokenId>{19998});
    const auto accepted = verifier.template verify_greedy<float>(two.matrix(), chain);
    CHECK(accepted[0].tokens == std::vector<TokenId>{19998, 5000});
    CHECK(accepted[0].status == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("greedy verification does not look at the padding", "[engine]",
                        ExecutionSpaces) {
  for (const std::size_t row : {std::size_t{64}, std::size_t{20000}}) {  // one chunk, several
    for (const float padding : {50.0f, std::numeric_limits<float>::quiet_NaN()}) {
      CAPTURE(row, padding);
      std::vector<float> values(2 * row, -1.0f);
      for (std::size_t token = row - 4; token < row; ++token) {
        values[token] = values[row + token] = padding;
      }
      values[row - 5] = 2.0f;   // the last token that exists, at the root
      values[row + 17] = 2.0f;  // behind it
      const auto last = static_cast<TokenId>(row - 5);
      const auto size = static_cast<std::int64_t>(row);
      DraftVerifier<TestType> verifier(TestType(), 2, size, size - 4);
      const Rows<TestType> logits(2, row, 0, values);
      const auto verified = verifier.template verify_greedy<float>(
          logits.matrix(), std::vector<DraftTree>{{{last}, {-1}}});
      CHECK(verified[0].tokens == std::vector<TokenId>{last, 17});
      CHECK(verified[0].status == 0);
      const Kokkos::View<float**, Kokkos::LayoutRight, MemoryOf<TestType>> view("logits", 2, row);
      Kokkos::deep_copy(view, logits.matrix());
      CHECK(verifier.verify_greedy(view, std::vector<DraftTree>{{{last}, {-1}}})[0].tokens ==
            verified[0].tokens);
    }
  }
  for (const std::int64_t active : {-1, 0, 65}) {
    const auto error = error_of([&] { DraftVerifier<TestType>(TestType(), 2, 64, active); });
    CHECK(error.field == "active_vocabulary");
  }
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
  const DraftBatch batch = random_draft_batch(10, vocabulary, false, random);
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  const Rows<TestType> model(nodes, vocabulary, 0, std::span(batch.reference.model_probs)),
      draft(nodes, vocabulary, 0, std::span(batch.reference.draft_probs));
  DraftVerifier<TestType> verifier(TestType(), batch.reference.nodes(), vocabulary);
  constexpr std::size_t expected = Staging<TestType>::needs_copy ? 2 : 0;
  for (int step = 0; step < 2; ++step) {
    const KokkosEvents lossless;
    verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
    CHECK(lossless.copies().size() == expected);
  }
  const KokkosEvents greedy;
  verifier.template verify_greedy<float>(model.matrix(), batch.trees);
  CHECK(greedy.copies().size() == expected);
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

TEMPLATE_LIST_TEST_CASE("any number of shared sums gives the same bits", "[engine]",
                        ExecutionSpaces) {
  constexpr int large = 5 * 4096 + 3;  // as many chunks as pay
  std::mt19937_64 random(91);
  const TestType space;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const DraftBatch batch = random_draft_batch(1, large, false, random);
    const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
    const Rows<TestType> model(nodes, large, 0, std::span(batch.reference.model_probs)),
        draft(nodes, large, 0, std::span(batch.reference.draft_probs));
    DraftVerifier<TestType> verifier(space, batch.reference.nodes(), large);
    const auto verify = [&] {
      return verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
    };
    const auto expected = verify();
    const bool shares = shares_trees(space, 1, large) && !batch.trees[0].is_chain();
    for (const int sums : {0, 1, 2, 7, 40}) {
      CAPTURE(repeat, sums);
      verifier.set_shared_sums(sums);
      const KokkosEvents events;
      const auto verified = verify();
      CHECK(verified[0].tokens == expected[0].tokens);
      CHECK(verified[0].accepted_nodes == expected[0].accepted_nodes);
      CHECK(verified[0].status == expected[0].status);
      if (shares) CHECK(events.launches().size() == static_cast<std::size_t>(1 + 2 * sums));
    }
    for (const int sums : {-1, 1001}) {
      CHECK(error_of([&] { verifier.set_shared_sums(sums); }).field == "shared_sums");
    }
  }
}

}  // namespace tokkos::test
