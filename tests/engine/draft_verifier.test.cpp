// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "reference/verify_reference.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

template <class ExecutionSpace>
using Rows = Guarded<float, MemoryOf<ExecutionSpace>>;

/// A batch as the engine gives it, and the same batch for the reference: each tree's root, then its
/// nodes.
struct Batch {
  std::vector<DraftTree> trees;
  VerifyUniforms uniforms;
  VerifyCase reference;
  std::vector<int> first_node;  // of each request
};

Batch random_batch(int vocabulary, int requests, std::mt19937_64& random) {
  Batch batch;
  batch.reference.vocabulary = vocabulary;
  for (int i = 0; i < requests; ++i) {
    DraftTree tree;
    const int root = batch.reference.add_node(-1, -1, 0.5f);
    batch.first_node.push_back(root + 1);
    batch.uniforms.nodes.push_back(0.5f);
    const int size = static_cast<int>(random() % 8);
    for (int node = 0; node < size; ++node) {
      const int parent = std::max(-1, node - 1 - static_cast<int>(random() % 3));
      const auto token = static_cast<TokenId>(random() % static_cast<unsigned>(vocabulary));
      const float u = random_uniform(random);
      tree.token_ids.push_back(token);
      tree.parents.push_back(parent);
      batch.reference.add_node(root + 1 + parent, token, u);
      batch.uniforms.nodes.push_back(u);
    }
    batch.trees.push_back(tree);
    batch.uniforms.bonus.push_back(random_uniform(random));
  }
  batch.reference.bonus_uniforms = batch.uniforms.bonus;
  for (int node = 0; node < batch.reference.nodes(); ++node) {
    fill_random_distribution(batch.reference.draft_row(node), random);
    fill_random_distribution(batch.reference.model_row(node), random);
  }
  return batch;
}

/// The accepted nodes of a request, found by walking up from the last one.
std::vector<std::int32_t> accepted_nodes(const Batch& batch, std::size_t request, int last) {
  std::vector<std::int32_t> nodes;
  std::int32_t node = last - batch.first_node[request];
  for (; node != -1; node = batch.trees[request].parents[static_cast<std::size_t>(node)]) {
    nodes.insert(nodes.begin(), node);
  }
  return nodes;
}

template <class ExecutionSpace>
void check_batch(DraftVerifier<ExecutionSpace>& verifier, const Batch& batch) {
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  Rows<ExecutionSpace> model(nodes, batch.reference.width(), 3,
                             std::span(batch.reference.model_probs));
  const Rows<ExecutionSpace> draft(nodes, batch.reference.width(), 0,
                                   std::span(batch.reference.draft_probs));
  const std::vector<VerifiedDraft> verified =
      verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
  const LosslessOutcome expected = verify_lossless(batch.reference);
  REQUIRE(verified.size() == batch.trees.size());
  for (std::size_t i = 0; i < verified.size(); ++i) {
    CAPTURE(i);
    const std::vector<std::int32_t> nodes_of_request =
        accepted_nodes(batch, i, expected.last_accepted[i]);
    std::vector<TokenId> tokens;
    for (const std::int32_t node : nodes_of_request) {
      tokens.push_back(batch.trees[i].token_ids[static_cast<std::size_t>(node)]);
    }
    tokens.push_back(expected.bonus_tokens[i]);
    CHECK(verified[i].accepted_nodes == nodes_of_request);
    CHECK(verified[i].tokens == tokens);
    CHECK(verified[i].status == expected.status[i]);
  }
  CHECK(model.values() == batch.reference.model_probs);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a batch of no trees may keep its rows of drafts", "[engine]",
                        ExecutionSpaces) {
  const Rows<TestType> kept(3, 50, 0, {});
  DraftVerifier<TestType> verifier(TestType(), 8, 50);
  DraftProbabilities<MemoryOf<TestType>> drafts;
  drafts.rows = kept.matrix();
  const Matrix<const float, MemoryOf<TestType>> none(nullptr, Kokkos::LayoutStride(0, 50, 50, 1));
  CHECK(verifier.verify(none, drafts, std::span<const DraftTree>(), VerifyUniforms{}).empty());
}

TEMPLATE_LIST_TEST_CASE("a verifier emits the accepted tokens and the bonus token", "[engine]",
                        ExecutionSpaces) {
  std::mt19937_64 random(21);
  DraftVerifier<TestType> small(TestType(), 200, 12);
  DraftVerifier<TestType> large(TestType(), 200, 5000);
  for (int trial = 0; trial < 12; ++trial) {
    check_batch(small, random_batch(12, 1 + trial, random));
    if (trial % 4 == 0) check_batch(large, random_batch(5000, 1 + trial, random));
  }
}

TEMPLATE_LIST_TEST_CASE("a verifier draws the bonus token where there are no drafts", "[engine]",
                        ExecutionSpaces) {
  const std::vector<float> p = {0.25f, 0.5f, 0.25f};
  const Rows<TestType> model(1, 3, 0, std::span(p)), draft(1, 3, 0, {});
  DraftVerifier<TestType> verifier(TestType(), 1, 3);
  const std::vector<DraftTree> trees(1);
  const auto verified = verifier.verify(model.matrix(), draft.matrix(), trees, {{0.0f}, {0.75f}});
  CHECK(verified[0].accepted_nodes.empty());
  CHECK(verified[0].tokens == std::vector<TokenId>{2});
  CHECK(verifier
            .verify(Rows<TestType>(0, 3, 0, {}).matrix(), Rows<TestType>(0, 3, 0, {}).matrix(), {},
                    {})
            .empty());
}

TEMPLATE_LIST_TEST_CASE("a verifier leaves out the bonus token of an unusable row", "[engine]",
                        ExecutionSpaces) {
  // Two requests; the first one's draft is accepted and the row after it is empty.
  const std::vector<float> p = {1, 0, 0, 0, 0, 1}, q = {0, 0, 1, 0, 0, 0};
  const Rows<TestType> model(3, 2, 0, std::span(p)), draft(3, 2, 0, std::span(q));
  DraftVerifier<TestType> verifier(TestType(), 3, 2);
  const std::vector<DraftTree> trees = {{{0}, {-1}}, {}};
  const auto verified =
      verifier.verify(model.matrix(), draft.matrix(), trees, {{0.0f, 0.5f, 0.0f}, {0.5f, 0.5f}});
  CHECK(verified[0].accepted_nodes == std::vector<std::int32_t>{0});
  CHECK(verified[0].tokens == std::vector<TokenId>{0});
  CHECK(verified[0].status == RowStatus::empty);
  CHECK(verified[1].tokens == std::vector<TokenId>{1});
  CHECK(verified[1].status == RowStatus::ok);
}

TEMPLATE_LIST_TEST_CASE("a verifier refuses wrong inputs and stays usable", "[engine]",
                        ExecutionSpaces) {
  std::mt19937_64 random(8);
  const Batch good = random_batch(12, 4, random);
  const auto nodes = static_cast<std::size_t>(good.reference.nodes());
  DraftVerifier<TestType> verifier(TestType(), good.reference.nodes(), 12);
  const Rows<TestType> probs(nodes, 12, 0, {}), narrow_rows(nodes, 11, 0, {}),
      few(nodes - 1, 12, 0, {}), many(nodes + 1, 12, 0, {});
  const auto refuse = [&](const Batch& batch, const auto& model, const auto& draft) {
    const Complaint complaint = error_of(
        [&] { verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms); });
    CHECK(!complaint.field.empty());
    return complaint;
  };
  for (const auto* wrong : {&narrow_rows, &few, &many}) {
    refuse(good, *wrong, probs);
    refuse(good, probs, *wrong);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float u : {nan, 1.0f, -0.5f}) {
    Batch bad = good;
    bad.uniforms.nodes[1] = u;
    CHECK(refuse(bad, probs, probs).names("uniforms"));
    bad = good, bad.uniforms.bonus[3] = u;
    const Complaint complaint = refuse(bad, probs, probs);
    CHECK(complaint.index == 3);
    CHECK(complaint.value == to_text(u));
  }
  const std::vector<std::string> ids = {"one", "too", "few"};
  CHECK(error_of([&] {
          verifier.verify(probs.matrix(), probs.matrix(), good.trees, good.uniforms, ids);
        }).names("request_ids"));
  Batch bad = good;
  bad.uniforms.nodes.pop_back();
  refuse(bad, probs, probs);
  bad = good, bad.uniforms.bonus.push_back(0.5f);
  refuse(bad, probs, probs);
  bad = good, bad.trees[1] = {{12}, {-1}};
  CHECK(refuse(bad, probs, probs).value == "12");
  bad = good, bad.trees[1] = {{1, 1}, {1, 0}};
  CHECK(refuse(bad, probs, probs).names("parents"));
  bad = good, bad.trees.push_back({{1}, {-1}});
  bad.uniforms.nodes.resize(nodes + 2), bad.uniforms.bonus.push_back(0.5f);
  refuse(bad, Rows<TestType>(nodes + 2, 12, 0, {}), Rows<TestType>(nodes + 2, 12, 0, {}));
  check_batch(verifier, good);
}

TEMPLATE_LIST_TEST_CASE("a verifier is made for legal sizes only", "[engine]", ExecutionSpaces) {
  const auto make = [](std::int64_t nodes, std::int64_t vocabulary) {
    return DraftVerifier<TestType>(TestType(), nodes, vocabulary);
  };
  CHECK(make(5, (1 << 19) - 1).vocab_size() == (1 << 19) - 1);
  CHECK(error_of([&] { make(-1, 10); }).message ==
        "max_num_node is -1, expected a number in [0, 2147483647]");
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1} << 19, std::int64_t{1} << 31}) {
    CHECK(error_of([&] { make(1, v); }).message ==
          "vocab_size is " + to_text(v) +
              ", expected a vocabulary in [1, 524287] (larger vocabularies are sharded)");
  }
}

}  // namespace tokkos::test
