// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/host_allocations.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

/// Keeps every event as text: "+name" or "-name".
class Journal : public EventTraceRecorder {
 public:
  void begin(std::string_view event, std::span<const std::string> ids) override {
    note("+", event, ids);
    m_open.emplace_back(event);
  }
  void end(std::string_view event, std::span<const std::string> ids) override {
    note("-", event, ids);
    if (m_open.empty() || m_open.back() != event) {
      m_nested = false;
    } else {
      m_open.pop_back();
    }
  }

  bool is_balanced() const { return m_nested && m_open.empty(); }
  const std::vector<std::string>& lines() const { return m_lines; }
  const std::vector<std::string>& last_ids() const { return m_ids; }
  std::vector<std::string> take() { return std::exchange(m_lines, {}); }

 private:
  void note(const char* sign, std::string_view event, std::span<const std::string> ids) {
    m_lines.push_back(sign + std::string(event));
    m_ids.assign(ids.begin(), ids.end());
  }

  std::vector<std::string> m_lines, m_open, m_ids;
  bool m_nested = true;
};

using Lines = std::vector<std::string>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("each stage of a step is traced by the seed's names", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const RandomStep step = make_random_step_with_histories(64, 64, 5);
  const auto rows = static_cast<std::size_t>(step.rows);
  const Guarded<float, MemorySpace> logits(rows, 64, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(rows);
  Journal journal;
  LogitProcessor<TestType> processor(TestType(), step.rows, 64, {}, &journal);
  Sampler<TestType> sampler(TestType(), step.rows, 64, {}, &journal);
  processor.inplace_update_logits(logits.matrix(), step.step.requests());
  CHECK(journal.last_ids() == step.step.ids);
  CHECK(journal.take() ==
        Lines{"+update logits", "+apply penalty", "-apply penalty", "+apply logit bias",
              "-apply logit bias", "+apply logit mask", "-apply logit mask",  // on the host
              "+apply logit bias", "-apply logit bias", "+apply penalty", "-apply penalty",
              "+apply logit mask", "-apply logit mask", "-update logits"});
  processor.compute_probs_from_logits(logits.matrix(), step.step.requests(), logits.matrix());
  CHECK(journal.take() == Lines{"+softmax", "-softmax"});
  sampler.sample_from_logits(logits.matrix(), step.step.requests(), tokens.vector());
  CHECK(journal.take() == Lines{"+sampling", "+softmax", "-softmax", "-sampling"});
  CHECK(journal.last_ids() == step.step.ids);

  DraftVerifier<TestType> verifier(TestType(), 4, 64, std::nullopt, &journal);
  const Guarded<float, MemorySpace> probs(1, 64, 0, {});
  const std::vector<std::string> ids = {"only"};
  verifier.verify(probs.matrix(), probs.matrix(), std::vector<DraftTree>(1), {{0.5f}, {0.5f}}, ids);
  CHECK(journal.last_ids() == ids);
  CHECK(journal.take() == Lines{"+draft verification", "-draft verification"});
  CHECK(journal.is_balanced());
}

TEMPLATE_LIST_TEST_CASE("the launch that edits is a stage for each kind of its edits", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> logits(1, 64, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(1);
  TokenHistory history;
  history.commit(7);
  Journal journal;
  LogitProcessor<TestType> processor(TestType(), 1, 64, {}, &journal);
  const auto editing = [&](bool penalizes, std::optional<TokenId> biased) {
    OwnedStep step;
    GenerationConfig config;
    if (penalizes) config.presence_penalty = 0.5f;
    if (biased) config.logit_bias = {{*biased, 1.0}};
    step.add(config, history);
    processor.prepare(1, step.requests());
    journal.take();
    processor.process(logits.matrix(), {.tokens = tokens.vector()});
    const Lines lines = journal.take();
    CHECK((lines.front() == "+update logits" && journal.is_balanced()));
    return Lines(lines.begin() + 1, std::ranges::find(lines, "-update logits"));
  };
  const Lines bias = {"+apply logit bias", "-apply logit bias"};
  const Lines penalty = {"+apply penalty", "-apply penalty"};
  const Lines both = {"+apply logit bias", "+apply penalty", "-apply penalty", "-apply logit bias"};
  CHECK(editing(false, {}) == Lines{});
  CHECK(editing(false, 7) == bias);
  CHECK(editing(true, {}) == penalty);
  CHECK(editing(true, 8) == both);
  CHECK(editing(true, 7) == both);  // the bias of a penalized token goes with its penalty
}

TEMPLATE_LIST_TEST_CASE("raw log-probabilities are stages too", "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> logits(1, 64, 0, {}), values(1, 3, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(1), top(1, 3, 0, {});
  const Guarded<float, MemorySpace> raw(1);
  OwnedStep step;
  step.add({.logit_bias = {{7, 1.0}}});
  Journal journal;
  LogitProcessor<TestType> processor(TestType(), 1, 64, {}, &journal);
  processor.prepare(1, step.requests());
  journal.take();
  processor.process(logits.matrix(), {.tokens = tokens.vector(),
                                      .raw_logprobs = raw.vector(),
                                      .raw_top_tokens = top.matrix(),
                                      .raw_top_logprobs = values.matrix()});
  CHECK(journal.take() == Lines{"+softmax", "-softmax", "+sampling", "-sampling", "+update logits",
                                "-update logits", "+update logits", "+apply logit bias",
                                "-apply logit bias", "-update logits", "+softmax", "-softmax",
                                "+sampling", "-sampling"});
}

TEMPLATE_LIST_TEST_CASE("a trace is balanced when a matcher or a check throws", "[engine]",
                        ExecutionSpaces) {
  RandomStep step = make_random_step(64, 64, 5, 8);
  const auto rows = static_cast<std::size_t>(step.rows);
  const Guarded<float, MemoryOf<TestType>> logits(rows, 64, 0, {});
  Journal journal;
  LogitProcessor<TestType> processor(TestType(), step.rows, 64, {}, &journal);
  int failures = 0;
  for (ScriptedGrammar& grammar : step.grammars) {
    if (!grammar.is_constrained()) continue;
    grammar.throw_at(0);
    CHECK_THROWS_AS(processor.inplace_update_logits(logits.matrix(), step.step.requests()),
                    GrammarFailure);
    CHECK(journal.is_balanced());
    grammar.throw_at(-1);
    ++failures;
  }
  CHECK(failures > 0);
  step.step.configs[0].temperature = -1;
  CHECK_THROWS_AS(processor.inplace_update_logits(logits.matrix(), step.step.requests()), Error);
  CHECK_THROWS_AS(
      processor.compute_probs_from_logits(logits.matrix(), step.step.requests(), logits.matrix()),
      Error);
  CHECK(journal.is_balanced());
}

TEMPLATE_LIST_TEST_CASE("request ids are copied for a trace alone", "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  constexpr std::size_t long_id = std::size_t{1} << 22;
  RandomStep step = make_random_step_with_histories(64, 64, 5);
  step.step.ids.back() = std::string(long_id, 'x');
  const StepRequests requests = step.step.requests();
  const auto rows = static_cast<std::size_t>(step.rows);
  const Guarded<float, MemorySpace> logits(rows, 64, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(rows);
  Journal journal;
  for (EventTraceRecorder* recorder :
       {static_cast<EventTraceRecorder*>(nullptr), static_cast<EventTraceRecorder*>(&journal)}) {
    LogitProcessor<TestType> processor(TestType(), step.rows, 64, {}, recorder);
    Sampler<TestType> sampler(TestType(), step.rows, 64, {}, recorder);
    forget_host_allocations();
    processor.inplace_update_logits(logits.matrix(), requests);
    sampler.sample_from_logits(logits.matrix(), requests, tokens.vector());
    processor.process(logits.matrix(), requests, {.tokens = tokens.vector()});
    processor.prepare(step.rows, requests);
    processor.process(logits.matrix(), {.tokens = tokens.vector()});
    CHECK((largest_host_allocation() >= long_id) == (recorder != nullptr));
  }
}

}  // namespace tokkos::test
