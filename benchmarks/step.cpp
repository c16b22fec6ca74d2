// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// step/...: a whole step of requests with 1000 tokens of history each and parameters of all kinds,
// from LogitProcessor::prepare to the drawn tokens. staging_ratio is the time of `prepare` over
// that of the kernels of `process`.
// validation/...: what the validation of such a step takes, step_ratio over the time of the whole
// step. `process` with requests validates them twice, for its own checks and for `prepare`.

#include <tokkos/engine/logit_processor.hpp>

#include "baselines/memory.hpp"
#include "case.hpp"
#include "register.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

namespace tokkos::bench {

namespace {

constexpr int prompt_tokens = 200;
constexpr int generated_tokens = 800;

/// Requests that differ in everything that one can ask for.
struct MixedRequests {
  std::vector<GenerationConfig> configs;
  std::deque<TokenHistory> histories;
  std::vector<SequenceState> states;
  std::vector<std::string> ids;

  MixedRequests(std::int64_t count, std::int64_t vocabulary) {
    for (std::int64_t i = 0; i < count; ++i) add(static_cast<int>(i), vocabulary);
  }

  void add(int i, std::int64_t vocabulary) {
    // A stride that shares no factor with the vocabulary's length; one token in ten comes again.
    const auto token = [&](int k) {
      return static_cast<TokenId>((std::int64_t{k - k % 10 / 9} * 7919 + i * 131) % vocabulary);
    };
    std::vector<TokenId> prompt;
    for (int k = 0; k < prompt_tokens; ++k) prompt.push_back(token(k));
    histories.emplace_back(prompt);
    for (int k = 0; k < generated_tokens; ++k) histories.back().commit(token(prompt_tokens + k));
    constexpr float temperatures[] = {0.7f, 0.0f, 0.3f, 1.0f, 1.5f};
    GenerationConfig config;
    config.temperature = temperatures[i % 5];
    config.penalty_policy = penalty_policies[i % 4];
    config.penalty_window = -1;
    config.presence_penalty = 0.2f;
    config.frequency_penalty = i % 2 == 0 ? 0.1f : 0.0f;
    config.repetition_penalty = 1.1f;
    if (i % 3 == 0) config.top_p = 0.9f;
    if (i % 3 == 1) config.top_k = 40;
    for (int k = 0; k < 20 * (i % 3); ++k) config.logit_bias.emplace_back(token(31 * k), 0.5);
    if (i % 4 == 1) config.banned_token_ids = {token(2000), token(2001)};
    if (i % 8 == 2) config.no_repeat_ngram_size = 4;
    if (i % 8 == 3) config.allowed_token_ids = {token(1), token(2), token(3000)};
    configs.push_back(config);
    states.push_back({&histories.back(), nullptr});
    ids.push_back("request " + std::to_string(i));
  }

  StepRequests step() const {
    StepRequests step;
    step.generation_configs = configs;
    step.sequence_states = states;
    step.request_ids = ids;
    return step;
  }
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void whole_step(benchmark::State& state, std::int64_t n, std::int64_t v) {
  const Case<float> given(n, v);
  const Rows<float> source = make_logits<float>(n, v);
  const MixedRequests requests(n, v);
  const Space space;
  LogitProcessor<Space> processor(space, n, v);
  std::vector<double> staging, kernels;
  const auto run = [&] {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    processor.prepare(n, requests.step());
    const auto prepared = Clock::now();
    processor.process(given.logits, {.tokens = given.tokens});
    space.fence("tokkos::bench::step");
    const auto done = Clock::now();
    staging.push_back(std::chrono::duration<double>(prepared - begin).count());
    kernels.push_back(std::chrono::duration<double>(done - prepared).count());
  };
  run_timed(state, given.elements() * sizeof(float),
            {run, [&] { restore(source, given.logits); }, true});
  state.counters["staging_seconds"] = median(staging);
  state.counters["staging_ratio"] = median(staging) / median(kernels);
  state.counters["staged_bytes"] = static_cast<double>(processor.staged_bytes());
}

void validation(benchmark::State& state, std::int64_t n, std::int64_t v) {
  const Case<float> given(n, v);
  const Rows<float> source = make_logits<float>(n, v);
  const MixedRequests requests(n, v);
  const StepRequests step = requests.step();
  LogitProcessor<Space> processor(Space(), n, v);
  const auto run = [&] { processor.process(given.logits, step, {.tokens = given.tokens}); };
  const auto check = [&] {
    validate(step, n, v);
    validate(step, n, v);
  };
  run_timed(state, 0, {check, {}, true},
            {{"step_ratio", false, {run, [&] { restore(source, given.logits); }, true}}});
}

}  // namespace

void register_steps() {
  for (const std::int64_t n : row_counts) {
    register_timed(case_name("step", "float32", n, 128256), n * 128256,
                   [=](benchmark::State& state) { whole_step(state, n, 128256); });
    register_timed(case_name("validation", "float32", n, 128256), n * 128256,
                   [=](benchmark::State& state) { validation(state, n, 128256); });
  }
}

}  // namespace tokkos::bench
