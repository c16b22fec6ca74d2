// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Verification through C has the outcome of C++: lossless, greedy, and the seed's rule.
#include <tokkos/tokkos.h>
#include <tokkos/engine/draft_verifier.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "backends.hpp"
#include "engine/draft_batch.hpp"
#include "engine/scripted_grammar.hpp"
#include "interop/c_step.hpp"
#include "interop/last_complaint.hpp"
#include "kernels/guarded.hpp"
#include "kernels/verify_case_on_device.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 300;

/// Random trees as requests of a step with ids, seeds and histories.
OwnedStep step_of(const std::vector<DraftTree>& trees) {
  OwnedStep step;
  step.cum_num_token = {0};
  step.trees = trees;
  step.indices.emplace();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    GenerationConfig config;
    config.seed = 77 * i;
    TokenHistory history({1, 2});
    for (std::size_t k = 0; k < i; ++k) history.commit(static_cast<TokenId>(k));
    step.add(config, history);
    std::vector<std::int32_t> rows{-1};
    for (std::size_t j = 0; j < trees[i].size(); ++j) rows.push_back(static_cast<int>(j));
    step.cum_num_token->push_back(step.cum_num_token->back() + static_cast<int>(rows.size()));
    step.indices->push_back(rows);
  }
  return step;
}

/// Whether C says of every request what C++ says.
void check_same(const tokkos_verified* verified, const std::vector<VerifiedDraft>& expected) {
  std::size_t count = 0;
  check_ok(tokkos_verified_count(verified, &count));
  REQUIRE(count == expected.size());
  for (std::size_t i = 0; i < count; ++i) {
    tokkos_verified_draft draft = tokkos_verified_draft_default();
    check_ok(tokkos_verified_get(verified, i, &draft));
    const std::span nodes(draft.accepted_nodes, draft.accepted_count);
    const std::span tokens(draft.tokens, draft.token_count);
    CHECK(std::vector(nodes.begin(), nodes.end()) == expected[i].accepted_nodes);
    CHECK(std::vector(tokens.begin(), tokens.end()) == expected[i].tokens);
    CHECK(draft.bonus_token == expected[i].bonus_token);
    CHECK(draft.status == expected[i].status);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("lossless verification says what C++ says", "[interop]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  std::mt19937_64 random(5);
  const DraftBatch batch = random_draft_batch(7, vocabulary, GENERATE(false, true), random);
  const VerifyCase& c = batch.reference;
  const auto nodes = static_cast<std::size_t>(c.nodes());
  Guarded<float, Space> model(nodes, vocabulary, 3, c.model_probs);
  Guarded<float, Space> drafts(nodes, vocabulary, 0, c.draft_probs);
  const OwnedStep owned = step_of(batch.trees);
  const StepOfC step(owned);
  const Matrix<const float, Space> model_rows = model.matrix();
  DraftVerifier<TestType> expected(TestType(), 100, vocabulary);

  const Context context = context_on<TestType>();
  const Verifier verifier = verifier_on(context, limits_of(100, vocabulary));
  const VerifiedOfC verified = no_results();
  tokkos_array model_probs = array_of(model.matrix());
  model_probs.flags = TOKKOS_ARRAY_READ_ONLY;
  const tokkos_array draft_probs = array_of(drafts.matrix());
  tokkos_verify_options options = tokkos_verify_options_default();
  options.draft_probs = &draft_probs;
  options.node_uniforms = batch.uniforms.nodes.data();
  options.node_uniform_count = batch.uniforms.nodes.size();
  options.bonus_uniforms = batch.uniforms.bonus.data();
  options.bonus_uniform_count = batch.uniforms.bonus.size();
  check_ok(
      tokkos_verifier_verify(verifier.get(), &model_probs, step.get(), &options, verified.get()));
  check_same(verified.get(),
             expected.verify(model_rows, drafts.matrix(), batch.trees, batch.uniforms));

  // Chosen drafts, with the uniforms of Philox.
  check_ok(
      tokkos_verifier_verify(verifier.get(), &model_probs, step.get(), nullptr, verified.get()));
  check_same(verified.get(), expected.verify(model_rows, DraftProbabilities<Space>{}, batch.trees,
                                             verify_uniforms(owned.requests())));

  tokkos_acceptance counted = tokkos_acceptance_default();
  check_ok(tokkos_verifier_acceptance(verifier.get(), &counted));
  CHECK(counted.trees == expected.statistics().trees);
  REQUIRE(counted.depth_count == expected.statistics().tried.size());
  for (std::size_t i = 0; i < counted.depth_count; ++i) {
    CHECK(counted.tried[i] == expected.statistics().tried[i]);
    CHECK(counted.accepted[i] == expected.statistics().accepted[i]);
  }
  check_ok(tokkos_verifier_reset_acceptance(verifier.get()));
  check_ok(tokkos_verifier_acceptance(verifier.get(), &counted));
  CHECK(counted.trees == 0);
  CHECK(model.values() == c.model_probs);
}

TEMPLATE_LIST_TEST_CASE("greedy verification says what C++ says, of every type", "[interop]",
                        Backends) {
  using Space = typename TestType::execution_space;
  using Logit = typename TestType::logit;
  std::mt19937_64 random(6);
  const DraftBatch batch = random_draft_batch(5, vocabulary, false, random);
  std::vector<Logit> values;
  for (const float p : batch.reference.model_probs) values.push_back(narrow<Logit>(100.0f * p));
  const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
  const Guarded<Logit, typename TestType::memory_space> logits(nodes, vocabulary, 7, values);
  const OwnedStep owned = step_of(batch.trees);
  const StepOfC step(owned);
  const Context context = context_on<Space>();
  const Verifier verifier = verifier_on(context, limits_of(100, vocabulary));
  const VerifiedOfC verified = no_results();
  const tokkos_array rows = array_of(logits.matrix());
  check_ok(tokkos_verifier_verify_greedy(verifier.get(), &rows, step.get(), verified.get()));
  DraftVerifier<Space> expected(Space(), 100, vocabulary);
  check_same(
      verified.get(),
      expected.template verify_greedy<Logit>(
          Matrix<const Logit, typename TestType::memory_space>(logits.matrix()), batch.trees));
}

TEST_CASE("verification of C takes the rows in the order of the nodes", "[interop]") {
  const OwnedStep owned = step_of({{}, {.token_ids = {3, 4, 5}, .parents = {-1, 0, 1}}});
  StepOfC step(owned);
  tokkos_request& request = step.request(1);
  std::vector<float> rows(5 * vocabulary, 0.0f);
  for (std::size_t node = 0; node < 5; ++node) rows[node * vocabulary + 2 + node] = 1.0f;
  const tokkos_array array = array_of(Matrix<const float, Kokkos::HostSpace>(
      rows.data(), Kokkos::LayoutStride(5, vocabulary, vocabulary, 1)));
  const Context context = context_on<Kokkos::Serial>();
  const Verifier verifier = verifier_on(context, limits_of(5, vocabulary));
  const VerifiedOfC verified = no_results();
  const std::vector<float> uniforms(5, 0.5f);
  tokkos_verify_options own = tokkos_verify_options_default();
  own.node_uniforms = own.bonus_uniforms = uniforms.data();
  own.node_uniform_count = 5;
  own.bonus_uniform_count = 2;
  const auto expect = [&](const char* message) {
    const auto said = [&](tokkos_status status) {
      if (message == nullptr) {
        check_ok(status);
        tokkos_verified_draft draft = tokkos_verified_draft_default();
        check_ok(tokkos_verified_get(verified.get(), 1, &draft));
        const std::span tokens(draft.tokens, draft.token_count);
        CHECK(std::vector(tokens.begin(), tokens.end()) == std::vector<TokenId>{3, 4, 5, 6});
        return;
      }
      CHECK(complaint_of(status).message == message);
      tokkos_error error = tokkos_error_default();
      check_ok(tokkos_last_error_parts(&error));
      CHECK(error.request == 1);
    };
    for (const tokkos_verify_options* options :
         {static_cast<tokkos_verify_options*>(nullptr), &own}) {
      said(tokkos_verifier_verify(verifier.get(), &array, step.get(), options, verified.get()));
    }
    said(tokkos_verifier_verify_greedy(verifier.get(), &array, step.get(), verified.get()));
  };
  expect(nullptr);  // one row, of which nothing is known: a step for this alone
  const std::vector<std::int32_t> in_order{-1, 0, 1, 2}, turned{-1, 2, 1, 0}, twice{-1, 0, 0, 2};
  request.rows = 4;
  request.draft_nodes = in_order.data();
  expect(nullptr);
  request.draft_nodes = turned.data();
  expect(
      "requests[1].draft_nodes[1] is 2, expected 0: verification takes the rows in the order of "
      "the nodes");
  request.draft_nodes = twice.data();
  expect(
      "requests[1].draft_nodes[2] is 0, expected 1: verification takes the rows in the order of "
      "the nodes");
  request.draft_nodes = in_order.data();
  request.rows = 3;
  expect(
      "requests[1].draft_nodes.size is 3, expected 4: verification takes the root's row, then "
      "one for each node");
  request.rows = 4;
  expect(nullptr);
}

TEST_CASE("greedy verification of C does not look at the padding", "[interop]") {
  const OwnedStep owned = step_of({{.token_ids = {3}, .parents = {-1}}});
  const StepOfC step(owned);
  std::vector<float> rows(2 * vocabulary, 0.0f);
  rows[3] = rows[vocabulary + 1] = 1.0f;
  rows[vocabulary - 1] = 2.0f;
  rows[2 * vocabulary - 1] = std::numeric_limits<float>::quiet_NaN();
  const tokkos_array logits = tokkos_matrix(rows.data(), TOKKOS_FLOAT32, 2, vocabulary, 0);
  const Context context = context_on<Kokkos::Serial>();
  const VerifiedOfC verified = no_results();
  const auto verify = [&](const Verifier& verifier) {
    check_ok(tokkos_verifier_verify_greedy(verifier.get(), &logits, step.get(), verified.get()));
  };
  verify(verifier_on(context, limits_of(2, vocabulary, vocabulary - 1)));
  check_same(verified.get(), {{{0}, {3, 1}, 1, 0}});
  verify(verifier_on(context, limits_of(2, vocabulary)));
  check_same(verified.get(), {{{}, {vocabulary - 1}, vocabulary - 1, 0}});
}

TEMPLATE_LIST_TEST_CASE("the seed's rule rewrites what C++ rewrites", "[interop]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const VerifyCase c = make_verify_case(6, vocabulary, 3, 3, Acceptance::mixed, 9);
  const Verified expected = VerifyCaseOnDevice<TestType>(c).by_seed_rule(TestType());
  const auto nodes = static_cast<std::size_t>(c.nodes());
  Guarded<float, Space> model(nodes, vocabulary, 0, c.model_probs);
  const Guarded<float, Space> drafts(nodes, vocabulary, 0, c.draft_probs);
  const Guarded<std::int32_t, Space> tokens{std::span(c.draft_tokens)};
  const std::vector<std::int64_t> wide(c.first_child.begin(), c.first_child.end());
  const Guarded<std::int64_t, Space> children{std::span(wide)};
  const Guarded<std::int32_t, Space> siblings{std::span(c.next_sibling)};
  Guarded<std::int32_t, Space> ends{std::span(c.roots)}, status(c.roots.size());
  const Guarded<float, Space> uniforms{std::span(c.uniforms)};
  const std::vector<tokkos_array> arrays{array_of(drafts.matrix()),   array_of(tokens.vector()),
                                         array_of(model.matrix()),    array_of(children.vector()),
                                         array_of(siblings.vector()), array_of(ends.vector()),
                                         array_of(uniforms.vector()), array_of(status.vector())};
  tokkos_seed_rule rule = tokkos_seed_rule_default();
  rule.draft_probs = &arrays[0];
  rule.draft_tokens = &arrays[1];
  rule.model_probs = &arrays[2];
  rule.first_child = &arrays[3];
  rule.next_sibling = &arrays[4];
  rule.parent_ptr = &arrays[5];
  rule.uniforms = &arrays[6];
  rule.tree_status = &arrays[7];
  const Context context = context_on<TestType>();
  check_ok(tokkos_verify_seed_rule(context.get(), &rule));
  check_ok(tokkos_context_fence(context.get()));
  CHECK(same_bits(model.values(), expected.model_probs));
  CHECK(ends.values() == expected.parent_ptr);
  CHECK(status.values() == expected.status);
  const tokkos_seed_rule good = rule;
  rule.parent_ptr = nullptr;
  CHECK(complaint_of(tokkos_verify_seed_rule(context.get(), &rule)).field == "parent_ptr");
  const tokkos_array* tokkos_seed_rule::*const members[] = {
      &tokkos_seed_rule::draft_probs,  &tokkos_seed_rule::draft_tokens,
      &tokkos_seed_rule::model_probs,  &tokkos_seed_rule::first_child,
      &tokkos_seed_rule::next_sibling, &tokkos_seed_rule::parent_ptr,
      &tokkos_seed_rule::uniforms,     &tokkos_seed_rule::tree_status};
  for (const auto member : members) {
    tokkos_array without_memory = *(good.*member);
    without_memory.data = nullptr;
    rule = good;
    rule.*member = &without_memory;
    const Complaint said = complaint_of(tokkos_verify_seed_rule(context.get(), &rule));
    CHECK(said.field.ends_with(".data"));
    CHECK(said.value == "null");
  }
  CHECK(ends.values() == expected.parent_ptr);
  rule = good;
  const std::vector<std::pair<const tokkos_array * tokkos_seed_rule::*, std::string>> named{
      {&tokkos_seed_rule::draft_tokens, "draft_tokens"},
      {&tokkos_seed_rule::first_child, "first_child"},
      {&tokkos_seed_rule::next_sibling, "next_sibling"},
      {&tokkos_seed_rule::uniforms, "uniforms"},
      {&tokkos_seed_rule::tree_status, "tree_status"}};
  for (const auto& [member, name] : named) {
    tokkos_array shorter = *(good.*member);
    --shorter.shape[0];
    rule = good;
    rule.*member = &shorter;
    CHECK(complaint_of(tokkos_verify_seed_rule(context.get(), &rule)).field == name + ".shape");
  }
  rule = good;
  rule.tree_status = rule.parent_ptr;
  CHECK(complaint_of(tokkos_verify_seed_rule(context.get(), &rule)).names("parent_ptr"));
}

TEST_CASE("a batch that cannot be verified is refused by name", "[interop]") {
  const OwnedStep owned = step_of({{.token_ids = {3}, .parents = {-1}}});
  StepOfC step(owned);
  std::vector<float> rows(2 * vocabulary, 1.0f / vocabulary);
  const tokkos_array model = tokkos_matrix(rows.data(), TOKKOS_FLOAT32, 2, vocabulary, 0);
  const Context context = context_on<Kokkos::Serial>();
  const Verifier verifier = verifier_on(context, limits_of(100, vocabulary));
  const VerifiedOfC verified = no_results();
  tokkos_verify_options options = tokkos_verify_options_default();
  const auto refused = [&](const tokkos_array* probs) {
    return complaint_of(
        tokkos_verifier_verify(verifier.get(), probs, step.get(), &options, verified.get()));
  };
  CHECK(refused(nullptr).field == "model_probs");
  const float half = 0.5f;
  options.bonus_uniforms = &half;
  options.bonus_uniform_count = 1;
  CHECK(refused(&model).field == "options.node_uniforms");
  options.bonus_uniforms = nullptr;
  options.bonus_uniform_count = 0;
  options.without_replacement = 2;
  CHECK(refused(&model).field == "options.without_replacement");
  options.without_replacement = 0;
  const float bad[] = {0.5f, 1.0f};
  options.node_uniforms = bad;
  options.node_uniform_count = 2;
  options.bonus_uniforms = &half;
  options.bonus_uniform_count = 1;
  CHECK(refused(&model).message == "options.node_uniforms[1] is 1, expected a number in [0, 1)");
  options.node_uniform_count = 1;
  CHECK(refused(&model).field == "options.node_uniforms.size");
  options = tokkos_verify_options_default();
  const std::int32_t no_row[] = {-1, 7};
  options.row_of_node = no_row;
  options.row_of_node_count = 2;
  CHECK(refused(&model).field == "options.row_of_node");
  options = tokkos_verify_options_default();
  step.request(0).id = nullptr;
  CHECK(refused(&model).names("requests.id"));
  tokkos_verified_draft draft = tokkos_verified_draft_default();
  CHECK(complaint_of(tokkos_verified_get(verified.get(), 0, &draft)).field == "request");
}

TEST_CASE("tokens are committed to history and mask, or to neither", "[interop]") {
  ScriptedGrammar grammar(3, vocabulary);
  const tokkos_mask_callbacks callbacks = callbacks_of(grammar);
  Mask mask;
  History history;
  check_ok(tokkos_mask_create(&callbacks, mask.put()));
  check_ok(tokkos_history_create(nullptr, 0, history.put()));
  std::vector<std::int32_t> allowed, refused;
  for (TokenId token = 3; token < vocabulary; ++token) {
    (grammar.allows({}, token) ? allowed : refused).push_back(token);
  }
  const std::vector<std::int32_t> bad{allowed[0], -1};
  CHECK(tokkos_commit(history.get(), mask.get(), refused.data(), 1) ==
        TOKKOS_ERROR_INVALID_ARGUMENT);
  CHECK(tokkos_commit(history.get(), nullptr, bad.data(), 2) == TOKKOS_ERROR_INVALID_ARGUMENT);
  std::size_t count = 1;
  const std::int32_t* tokens = nullptr;
  check_ok(tokkos_history_generated(history.get(), &tokens, &count));
  CHECK(count == 0);
  CHECK(grammar.accepted().empty());
  check_ok(tokkos_commit(history.get(), mask.get(), allowed.data(), 1));
  check_ok(tokkos_history_generated(history.get(), &tokens, &count));
  REQUIRE(count == 1);
  CHECK(tokens[0] == allowed[0]);
  CHECK(grammar.accepted() == std::vector<TokenId>{allowed[0]});
  std::int32_t times = 0;
  check_ok(tokkos_history_count(history.get(), allowed[0], &times));
  CHECK(times == 1);
  check_ok(tokkos_history_rollback(history.get(), 1));
  CHECK(tokkos_history_rollback(history.get(), 1) == TOKKOS_ERROR_INVALID_ARGUMENT);
  check_ok(tokkos_mask_rollback(mask.get(), 1));
  CHECK(grammar.accepted().empty());
}

}  // namespace tokkos::test
