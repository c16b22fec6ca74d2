// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Draft trees of C by links and with an order of trial, which are those of C++.
#include <tokkos/tokkos.h>
#include <tokkos/engine/draft_verifier.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/draft_batch.hpp"
#include "interop/c_step.hpp"
#include "interop/last_complaint.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 14;

/// The links of one tree, the root included.
template <class Index>
struct Links {
  std::vector<Index> draft_tokens, first_child, next_sibling;

  tokkos_tree_links of_c() const {
    tokkos_tree_links links = tokkos_tree_links_default();
    links.draft_tokens = draft_tokens.data();
    links.first_child = first_child.data();
    links.next_sibling = next_sibling.data();
    links.count = draft_tokens.size();
    links.type = type_of<Index>();
    return links;
  }
};

/// Gives the siblings of every node another order, by links and, in `tree`, as its order of trial.
template <class Index>
Links<Index> reordered(DraftTree& tree, std::mt19937_64& random) {
  const std::size_t nodes = tree.size() + 1;
  Links<Index> links{std::vector<Index>(nodes, -77), std::vector<Index>(nodes, -1),
                     std::vector<Index>(nodes, -1)};
  tree.trial_order.clear();
  for (std::size_t parent = 0; parent < nodes; ++parent) {
    std::vector<std::int32_t> children;
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (tree.parents[i] + 1 == static_cast<std::int32_t>(parent)) {
        children.push_back(static_cast<std::int32_t>(i));
      }
    }
    std::ranges::shuffle(children, random);
    Index* link = &links.first_child[parent];
    for (const std::int32_t child : children) {
      *link = static_cast<Index>(child + 1);
      link = &links.next_sibling[static_cast<std::size_t>(child) + 1];
      tree.trial_order.push_back(child);
    }
  }
  for (std::size_t i = 0; i < tree.size(); ++i) links.draft_tokens[i + 1] = tree.token_ids[i];
  return links;
}

OwnedStep step_of(const std::vector<DraftTree>& trees) {
  OwnedStep step;
  for (std::size_t i = 0; i < trees.size(); ++i) step.add({}, {});
  step.trees = trees;
  return step;
}

/// What is accepted of each request, and its bonus token.
std::vector<std::vector<std::int32_t>> outcome_of(const tokkos_verified* verified) {
  std::size_t count = 0;
  check_ok(tokkos_verified_count(verified, &count));
  std::vector<std::vector<std::int32_t>> all;
  for (std::size_t i = 0; i < count; ++i) {
    tokkos_verified_draft draft = tokkos_verified_draft_default();
    check_ok(tokkos_verified_get(verified, i, &draft));
    all.emplace_back(draft.accepted_nodes, draft.accepted_nodes + draft.accepted_count);
    all.back().insert(all.back().end(), {-5, draft.bonus_token, draft.status});
  }
  return all;
}

std::vector<std::vector<std::int32_t>> outcome_of(const std::vector<VerifiedDraft>& verified) {
  std::vector<std::vector<std::int32_t>> all;
  for (const VerifiedDraft& draft : verified) {
    all.push_back(draft.accepted_nodes);
    all.back().insert(all.back().end(), {-5, draft.bonus_token, draft.status});
  }
  return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("trees by links and with an order of trial are verified as in C++",
                        "[interop]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  std::mt19937_64 random(41);
  const Context context = context_on<TestType>();
  const Verifier verifier = verifier_on(context, limits_of(200, vocabulary));
  const VerifiedOfC verified = no_results();
  int ordered_otherwise = 0;
  for (int repeat = 0; repeat < 4; ++repeat) {
    DraftBatch batch = random_draft_batch(20, vocabulary, false, random);
    const std::vector<DraftTree> by_numbers = batch.trees;
    std::deque<Links<std::int32_t>> narrow;
    std::deque<Links<std::int64_t>> wide;
    std::deque<tokkos_tree_links> narrow_of_c, wide_of_c;
    for (DraftTree& tree : batch.trees) {
      narrow.push_back(reordered<std::int32_t>(tree, random));
      const Links<std::int32_t>& links = narrow.back();
      wide.push_back({{links.draft_tokens.begin(), links.draft_tokens.end()},
                      {links.first_child.begin(), links.first_child.end()},
                      {links.next_sibling.begin(), links.next_sibling.end()}});
      narrow_of_c.push_back(links.of_c());
      wide_of_c.push_back(wide.back().of_c());
    }
    const VerifyCase& c = batch.reference;
    const auto nodes = static_cast<std::size_t>(c.nodes());
    const Guarded<float, Space> model(nodes, vocabulary, 0, c.model_probs),
        drafts(nodes, vocabulary, 0, c.draft_probs);
    DraftVerifier<TestType> verifier_of_cpp(TestType(), 200, vocabulary);
    const auto expect = [&](const std::vector<DraftTree>& trees) {
      return outcome_of(verifier_of_cpp.verify(Matrix<const float, Space>(model.matrix()),
                                               drafts.matrix(), trees, batch.uniforms));
    };
    const auto expected = expect(batch.trees);
    ordered_otherwise += expected == expect(by_numbers) ? 0 : 1;

    const tokkos_array model_probs = array_of(model.matrix());
    const tokkos_array draft_probs = array_of(drafts.matrix());
    tokkos_verify_options options = tokkos_verify_options_default();
    options.draft_probs = &draft_probs;
    options.node_uniforms = batch.uniforms.nodes.data();
    options.node_uniform_count = batch.uniforms.nodes.size();
    options.bonus_uniforms = batch.uniforms.bonus.data();
    options.bonus_uniform_count = batch.uniforms.bonus.size();
    const OwnedStep owned = step_of(batch.trees);
    StepOfC step(owned);
    const auto found = [&] {
      check_ok(tokkos_verifier_verify(verifier.get(), &model_probs, step.get(), &options,
                                      verified.get()));
      return outcome_of(verified.get());
    };
    CHECK(found() == expected);  // with its order of trial
    for (const auto* links : {&narrow_of_c, &wide_of_c}) {
      for (std::size_t i = 0; i < batch.trees.size(); ++i) {
        step.tree(i) = tokkos_draft_tree_default();
        step.tree(i).links = &(*links)[i];
      }
      CHECK(found() == expected);
    }
  }
  CHECK(ordered_otherwise == 4);
}

TEST_CASE("trees of C that are none are refused by name", "[interop]") {
  std::mt19937_64 random(42);
  DraftTree tree{.token_ids = {3, 4, 5}, .parents = {-1, -1, 0}};
  Links<std::int64_t> links = reordered<std::int64_t>(tree, random);
  tree.trial_order.clear();
  const OwnedStep owned = step_of({tree});
  StepOfC step(owned);
  std::vector<float> rows(4 * vocabulary, 1.0f / vocabulary);
  const tokkos_array model = tokkos_matrix(rows.data(), TOKKOS_FLOAT32, 4, vocabulary, 0);
  const Context context = context_on<Kokkos::Serial>();
  const Verifier verifier = verifier_on(context, limits_of(100, vocabulary));
  const VerifiedOfC verified = no_results();
  const auto verify = [&] {
    return tokkos_verifier_verify(verifier.get(), &model, step.get(), nullptr, verified.get());
  };
  const auto refused = [&] { return complaint_of(verify()); };
  check_ok(verify());
  const std::vector<std::int32_t> twice{0, 1, 1};
  step.tree(0).trial_order = twice.data();
  CHECK(refused().field == "requests[0].draft_tree.trial_order");
  CHECK(refused().index == 2);

  tokkos_tree_links given = links.of_c();
  step.tree(0).links = &given;
  CHECK(refused().field == "requests[0].draft_tree.links");  // beside parents
  step.tree(0) = tokkos_draft_tree_default();
  step.tree(0).links = &given;
  check_ok(verify());
  const std::string name = "requests[0].draft_tree.links.";
  given.type = TOKKOS_FLOAT32;
  CHECK(refused().field == name + "type");
  given.type = TOKKOS_INT64;
  given.count = 0;
  CHECK(refused().field == name + "draft_tokens.size");
  given.count = links.draft_tokens.size();
  given.first_child = nullptr;
  CHECK(refused().field == name + "first_child");
  given = links.of_c();
  const std::int64_t child = links.first_child[3];
  links.first_child[3] = 3;
  CHECK(refused().names(name));
  CHECK(refused().value == "3");
  links.first_child[3] = std::int64_t{1} << 32;
  CHECK(refused().field == name + "first_child");
  CHECK(refused().index == 3);
  links.first_child[3] = child;
  links.draft_tokens[2] = (std::int64_t{1} << 32) + 4;  // 4, if cut to 32 bits
  CHECK(refused().field == name + "draft_tokens");
  links.draft_tokens[2] = vocabulary;
  CHECK(refused().field == name + "draft_tokens");
  CHECK(refused().index == 2);
  CHECK(refused().expected == "a token in [0, " + std::to_string(vocabulary) + ")");
  CHECK(complaint_of(tokkos_step_validate(step.get(), vocabulary)).field == name + "draft_tokens");
  links.draft_tokens[2] = vocabulary - 1;
  check_ok(verify());
}

}  // namespace tokkos::test
