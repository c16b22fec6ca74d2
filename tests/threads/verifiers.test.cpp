// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Draft verification and draws from probabilities on two threads, each with objects of its own.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "reference/verify_reference.hpp"
#include "threads/two_threads.hpp"

namespace tokkos::test {
namespace {

constexpr std::size_t vocabulary = 4500;
constexpr int steps = 4;

/// Trees of different shapes with the distributions before and after each of their nodes.
struct Drafts {
  std::vector<DraftTree> trees;
  std::vector<std::string> ids;
  std::vector<float> model, draft, uniforms;
  VerifyUniforms verify_uniforms;
  std::size_t nodes = 0;

  explicit Drafts(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 6; ++i) {
      DraftTree& tree = trees.emplace_back();
      ids.push_back("request-" + std::to_string(i));
      for (int node = 0; node < static_cast<int>(random() % 7); ++node) {
        tree.parents.push_back(std::max(-1, node - 1 - static_cast<int>(random() % 3)));
        tree.token_ids.push_back(static_cast<TokenId>(random() % vocabulary));
      }
      nodes += 1 + tree.size();
      verify_uniforms.bonus.push_back(random_uniform(random));
    }
    model.resize(nodes * vocabulary);
    draft.resize(nodes * vocabulary);
    for (std::size_t node = 0; node < nodes; ++node) {
      fill_random_distribution(std::span(model).subspan(node * vocabulary, vocabulary), random);
      fill_random_distribution(std::span(draft).subspan(node * vocabulary, vocabulary), random);
      verify_uniforms.nodes.push_back(random_uniform(random));
      uniforms.push_back(random_uniform(random));
    }
  }
};

void append_verified(Bits& bits, const std::vector<VerifiedDraft>& verified) {
  for (const VerifiedDraft& draft : verified) {
    append(bits, draft.accepted_nodes);
    append(bits, draft.tokens);
    bits.push_back(static_cast<std::uint32_t>(draft.status));
  }
}

/// Dense, chosen, shared and greedy drafts, and draws from the same rows, step after step.
template <class ExecutionSpace>
Bits run_drafts(const ExecutionSpace& space, std::uint64_t seed, EventTraceRecorder* trace) {
  using Memory = MemoryOf<ExecutionSpace>;
  DraftVerifier<ExecutionSpace> verifier(space, 64, vocabulary, std::nullopt, trace);
  Sampler<ExecutionSpace> sampler(space, 64, vocabulary, {}, trace);
  Bits bits;
  for (int step = 0; step < steps; ++step) {
    const Drafts given(100 * seed + static_cast<std::uint64_t>(step));
    const Guarded<float, Memory> model(given.nodes, vocabulary, 0, given.model);
    const Guarded<float, Memory> draft(given.nodes, vocabulary, 0, given.draft);
    Guarded<TokenId, Memory> tokens(given.nodes);
    Guarded<std::int32_t, Memory> status(given.nodes);
    sampler.sample_from_probabilities(model.matrix(), given.uniforms, tokens.vector(),
                                      status.vector());
    const auto verify = [&](const DraftProbabilities<Memory>& drafts) {
      append_verified(bits, verifier.verify(model.matrix(), drafts, given.trees,
                                            given.verify_uniforms, given.ids));
    };
    const std::vector<std::int32_t> first_row(given.nodes, 0);
    verify({draft.matrix()});
    verify({});
    verify({draft.matrix(), first_row, true});
    append_verified(bits,
                    verifier.template verify_greedy<float>(model.matrix(), given.trees, given.ids));
    space.fence("tokkos::test::two_threads_drafts");
    append(bits, tokens.values());
    append(bits, status.values());
  }
  append(bits, std::vector<std::int32_t>(verifier.statistics().accepted.begin(),
                                         verifier.statistics().accepted.end()));
  return bits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two threads verify drafts with the bits that each gets alone",
                        "[engine][threads]", ExecutionSpaces) {
  check_two_threads<TestType>(
      [](const TestType& space, std::uint64_t seed, EventTraceRecorder* trace) {
        return run_drafts(space, seed, trace);
      });
}

}  // namespace tokkos::test
