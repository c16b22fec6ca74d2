// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/c_api.hpp"
#include "fuzz/trees_input.hpp"
#include "interop/c_step.hpp"

namespace tokkos::test {

namespace {

using Host = Kokkos::HostSpace;

constexpr std::int64_t max_nodes = 18;

/// What a verification is given.
struct Verification {
  int vocabulary = 1;
  std::size_t nodes = 0;
  OwnedStep step;
  std::vector<float> model_probs, draft_probs;
  std::vector<std::int32_t> row_of_node;
  std::optional<VerifyUniforms> uniforms;  ///< none: Philox
  bool without_replacement = false;
  bool greedy = false;

  Matrix<const float, Host> rows(const std::vector<float>& values) const {
    const auto width = static_cast<std::size_t>(vocabulary);
    return Matrix<const float, Host>(values.data(), Kokkos::LayoutStride(nodes, width, width, 1));
  }
};

/// What it says.
struct Verdict {
  std::optional<std::string> refusal;
  std::vector<std::vector<std::int32_t>> nodes;
  std::vector<std::vector<TokenId>> tokens;
  std::vector<std::int32_t> bonus, status;

  bool operator==(const Verdict&) const = default;
};

std::vector<float> fuzz_rows(FuzzBytes& bytes, const Verification& given) {
  const auto width = static_cast<std::size_t>(given.vocabulary);
  std::vector<float> rows(given.nodes * width);
  for (std::size_t i = 0; i < given.nodes; ++i) {
    fill_row(bytes, std::span(rows).subspan(i * width, width));
  }
  return rows;
}

/// A row for each node, in their order but perhaps for two.
void give_rows(FuzzBytes& bytes, OwnedStep& step) {
  step.cum_num_token = {0};
  for (std::size_t i = 0; i < step.indices->size(); ++i) {
    std::vector<std::int32_t>& nodes = (*step.indices)[i];
    const auto count = static_cast<std::int32_t>((*step.trees)[i].size());
    for (std::int32_t node = 0; node < count; ++node) nodes.push_back(node);
    if (count > 0 && bytes.rarely()) std::swap(nodes.front(), nodes.back());
    step.cum_num_token->push_back(step.cum_num_token->back() + count + 1);
  }
}

Verification make_verification(FuzzBytes& bytes) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Verification given;
  given.vocabulary = bytes.one_of({5, 1, 2, 33});
  given.greedy = bytes.flag();
  given.without_replacement = bytes.flag();
  given.step.trees = make_draft_trees(bytes, given.vocabulary, 6);
  given.step.indices.emplace();  // which C fills itself
  const bool philox = bytes.flag();
  if (!philox) given.uniforms.emplace();
  for (DraftTree& tree : *given.step.trees) {
    tree.parents.resize(tree.size());  // in C they have one count
    GenerationConfig config;
    config.seed = bytes.byte();
    given.step.add(config, TokenHistory({1, 0}));
    given.step.indices->push_back({-1});
    given.nodes += tree.size() + 1;
    if (philox) continue;
    given.uniforms->bonus.push_back(bytes.mostly({0.5f, 0.0f, 0.9f}, {1.0f, -0.1f, nan}));
    for (std::size_t i = 0; i <= tree.size(); ++i) {
      given.uniforms->nodes.push_back(bytes.mostly({0.5f, 0.0f, 0.99f}, {1.0f, -0.1f, nan}));
    }
  }
  if (!philox && given.nodes > 0 && bytes.rarely()) given.uniforms->nodes.push_back(0.5f);
  given.model_probs = fuzz_rows(bytes, given);
  if (bytes.flag()) given.draft_probs = fuzz_rows(bytes, given);
  if (bytes.flag()) {
    const auto count = static_cast<std::int32_t>(given.nodes);
    for (std::int32_t i = 0; i < count; ++i) {
      given.row_of_node.push_back(bytes.mostly<std::int32_t>({i, -1, 0}, {-2, count}));
    }
  }
  if (bytes.rarely()) give_rows(bytes, given.step);
  return given;
}

/// What is wrong with the rows, as C says it.
std::optional<std::string> fault_of_rows(const OwnedStep& step) {
  for (std::size_t i = 0; i < step.indices->size(); ++i) {
    const std::vector<std::int32_t>& nodes = (*step.indices)[i];
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      const std::int32_t expected = static_cast<std::int32_t>(j) - 1;
      if (nodes[j] == expected) continue;
      return "requests[" + std::to_string(i) + "].draft_nodes[" + std::to_string(j) + "] is " +
             std::to_string(nodes[j]) + ", expected " + std::to_string(expected) +
             ": verification takes the rows in the order of the nodes";
    }
  }
  return std::nullopt;
}

Verdict through_cpp(const Verification& given) {
  const Kokkos::Serial serial;
  DraftVerifier<Kokkos::Serial> verifier(serial, max_nodes, given.vocabulary);
  Verdict verdict;
  // Without Philox C++ is not given the rows.
  if (given.greedy || given.uniforms) verdict.refusal = fault_of_rows(given.step);
  if (verdict.refusal) return verdict;
  try {
    std::vector<VerifiedDraft> drafts;
    const auto model = given.rows(given.model_probs);
    if (given.greedy) {
      drafts = verifier.template verify_greedy<float>(model, *given.step.trees);
    } else {
      DraftProbabilities<Host> probabilities;
      if (!given.draft_probs.empty()) probabilities.rows = given.rows(given.draft_probs);
      probabilities.row_of_node = given.row_of_node;
      probabilities.without_replacement = given.without_replacement;
      drafts = verifier.verify(
          model, probabilities, *given.step.trees,
          given.uniforms ? *given.uniforms : verify_uniforms(given.step.requests()));
    }
    for (const VerifiedDraft& draft : drafts) {
      verdict.nodes.push_back(draft.accepted_nodes);
      verdict.tokens.push_back(draft.tokens);
      verdict.bonus.push_back(draft.bonus_token);
      verdict.status.push_back(draft.status);
    }
  } catch (const Error& error) {
    verdict = {};
    verdict.refusal = in_words_of_c(error.what());
  }
  return verdict;
}

tokkos_verify_options options_of(const Verification& given, const tokkos_array& draft_probs) {
  tokkos_verify_options options = tokkos_verify_options_default();
  if (!given.draft_probs.empty()) options.draft_probs = &draft_probs;
  options.row_of_node = given.row_of_node.data();
  options.row_of_node_count = given.row_of_node.size();
  options.without_replacement = given.without_replacement ? 1 : 0;
  if (!given.uniforms || given.uniforms->bonus.empty()) return options;
  options.node_uniforms = given.uniforms->nodes.data();
  options.node_uniform_count = given.uniforms->nodes.size();
  options.bonus_uniforms = given.uniforms->bonus.data();
  options.bonus_uniform_count = given.uniforms->bonus.size();
  return options;
}

Verdict through_c(const Verification& given, const Context& context) {
  ErrorWatch watch;
  const tokkos_limits limits = limits_of(max_nodes, given.vocabulary);
  Verifier verifier;
  VerifiedOfC verified;
  check_ok(tokkos_verifier_create(context.get(), &limits, verifier.put()));
  check_ok(tokkos_verified_create(verified.put()));
  const StepOfC step(given.step);
  const tokkos_array model = array_of(given.rows(given.model_probs));
  const tokkos_array drafts = array_of(given.rows(given.draft_probs));
  const tokkos_verify_options options = options_of(given, drafts);
  const tokkos_status status =
      given.greedy
          ? tokkos_verifier_verify_greedy(verifier.get(), &model, step.get(), verified.get())
          : tokkos_verifier_verify(verifier.get(), &model, step.get(), &options, verified.get());
  Verdict verdict;
  if (!watch.worked(status)) {
    verdict.refusal = watch.text();
    return verdict;
  }
  std::size_t count = 0;
  check_ok(tokkos_verified_count(verified.get(), &count));
  for (std::size_t i = 0; i < count; ++i) {
    tokkos_verified_draft draft = tokkos_verified_draft_default();
    check_ok(tokkos_verified_get(verified.get(), i, &draft));
    const std::span nodes(draft.accepted_nodes, draft.accepted_count);
    const std::span tokens(draft.tokens, draft.token_count);
    verdict.nodes.emplace_back(nodes.begin(), nodes.end());
    verdict.tokens.emplace_back(tokens.begin(), tokens.end());
    verdict.bonus.push_back(draft.bonus_token);
    verdict.status.push_back(draft.status);
  }
  return verdict;
}

}  // namespace

void fuzz_c_verification(FuzzBytes& bytes) {
  const Context& context = c_context(bytes.flag());
  const Verification given = make_verification(bytes);
  const Verdict expected = through_cpp(given);
  const Verdict found = through_c(given, context);
  expect(found.refusal.has_value() == expected.refusal.has_value(), "C refuses what C++ refuses");
  expect(found == expected, "a verification through C says what C++ says");
}

}  // namespace tokkos::test
