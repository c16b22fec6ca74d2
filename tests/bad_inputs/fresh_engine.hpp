// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include "bad_inputs/step_bench.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::test {

inline const std::vector<DraftTree> verified_trees{{{3, 4, 5}, {-1, -1, 0}}, {}, {{6, 7}, {-1, 0}}};

/// Objects that were just made, with the step and the Views that they are given.
template <class Space>
struct FreshEngine {
  using Memory = MemoryOf<Space>;
  static constexpr std::int64_t vocabulary = ThreeRequests::vocabulary;
  static constexpr std::size_t nodes = 8;

  Space space;
  LogitProcessor<Space> processor{space, 12, vocabulary};
  Sampler<Space> sampler{space, 12, vocabulary};
  DraftVerifier<Space> verifier{space, nodes, vocabulary};
  ThreeRequests given;
  StepRequests requests = given.step.requests();
  BenchViews<Memory> views{ThreeRequests::logits(), 0};
  Guarded<float, Memory> model{nodes, vocabulary, 0, std::vector<float>(nodes* vocabulary, 0.01f)};
  std::vector<VerifiedDraft> verified;

  void update() {
    processor.inplace_update_logits(views.logits.matrix(), requests, views.status.vector());
  }
  void compute() {
    processor.compute_probs_from_logits(views.logits.matrix(), requests,
                                        views.probabilities.matrix(), views.status.vector());
  }
  void process() { processor.process(views.logits.matrix(), requests, views.outputs()); }
  void prepare_and_process() {
    processor.prepare(ThreeRequests::rows, requests);
    processor.process(views.logits.matrix(), views.outputs());
  }
  void sample() {
    sampler.sample_from_logits(views.logits.matrix(), requests, views.tokens.vector());
  }
  void sample_from_probabilities() {
    const std::vector<float> uniforms(nodes, 0.5f);
    const Matrix<const float, Memory> rows(
        model.matrix().data(),
        Kokkos::LayoutStride(ThreeRequests::rows, vocabulary, vocabulary, 1));
    sampler.sample_from_probabilities(rows, std::span(uniforms).first(ThreeRequests::rows),
                                      views.tokens.vector());
  }
  void verify() {
    const VerifyUniforms uniforms{std::vector<float>(nodes, 0.5f), std::vector<float>(3, 0.5f)};
    verified = verifier.verify(model.matrix(), {}, verified_trees, uniforms);
  }

  /// What calls have written so far.
  Bits bits() {
    space.fence("tokkos::test::bits");
    Bits all = views.bits();
    for (const VerifiedDraft& draft : verified) append(all, draft.tokens);
    return all;
  }

  /// What these calls write one after the other, each to Views as they were at first.
  Bits results_of(const std::vector<void (FreshEngine::*)()>& calls) {
    Bits all;
    for (const auto call : calls) {
      views = BenchViews<Memory>(ThreeRequests::logits(), 0);
      verified.clear();
      (this->*call)();
      const Bits of_call = bits();
      all.insert(all.end(), of_call.begin(), of_call.end());
    }
    return all;
  }
};

}  // namespace tokkos::test
