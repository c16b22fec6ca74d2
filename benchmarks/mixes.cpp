// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// mix/...: whole steps through the engine layer, staging and upload included.
//   chat           64 rows, V = 128256, T = 0.7, a quarter of the rows penalized; tokens
//   json_agent     32 rows, V = 151936, half of the rows masked to 100 tokens; tokens
//   single_user    1 row, V = 262144; token
//   rollout        512 rows, V = 129280; log-sum-exp
//   draft_trees    16 requests of 33 rows (the root and 32 drafts), V = 128256; probabilities

#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>

#include "baselines/memory.hpp"
#include "case.hpp"
#include "register.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace tokkos::bench {

namespace {

/// A grammar that always allows the same tokens.
class FewTokens final : public VocabularyMask {
 public:
  FewTokens(std::int64_t vocabulary, std::int64_t allowed) : m_vocabulary(vocabulary) {
    for (std::int64_t i = 0; i < allowed; ++i) {
      m_tokens.push_back(i * 7919 % vocabulary);
    }
  }
  void fill_next_bitmask(std::span<std::int32_t> words) override {
    for (const std::int64_t token : m_tokens) {
      words[static_cast<std::size_t>(token / 32)] |= static_cast<std::int32_t>(1u << token % 32);
    }
  }
  bool accept(TokenId token) override { return token < m_vocabulary; }
  void rollback(std::int32_t) override {}

 private:
  std::int64_t m_vocabulary;
  std::vector<std::int64_t> m_tokens;
};

/// Requests with everything that they refer to.
struct Requests {
  std::vector<GenerationConfig> configs;
  std::deque<TokenHistory> histories;
  std::vector<SequenceState> states;
  std::vector<std::string> ids;
  std::vector<std::int32_t> rows;
  std::vector<DraftTree> trees;
  std::vector<std::vector<std::int32_t>> indices;

  void add(const GenerationConfig& config, int generated, VocabularyMask* mask = nullptr) {
    configs.push_back(config);
    histories.emplace_back();
    for (int i = 0; i < generated; ++i) histories.back().commit(i * 37 % 30000);
    states.push_back({&histories.back(), mask});
    ids.push_back("request " + std::to_string(ids.size()));
  }

  StepRequests step() const {
    StepRequests step;
    step.generation_configs = configs;
    step.sequence_states = states;
    step.request_ids = ids;
    if (!trees.empty()) {
      step.cum_num_token = rows;
      step.draft_trees = trees;
      step.draft_token_indices = indices;
    }
    return step;
  }
};

GenerationConfig with_temperature(float temperature) {
  GenerationConfig config;
  config.temperature = temperature;
  return config;
}

void run_mix(benchmark::State& state, std::int64_t n, std::int64_t v, const Requests& requests,
             bool wants_probabilities) {
  Case<float> given(n, v);
  given.with_probabilities();
  const Space space;
  LogitProcessor<Space> processor(space, n, v);
  const Rows<float> source = make_logits<float>(n, v);
  StepOutputs<Memory> outputs;
  if (wants_probabilities) {
    outputs.probabilities = given.probabilities;
  } else {
    outputs.tokens = given.tokens;
  }
  const Timed own{[&] { processor.process(given.logits, requests.step(), outputs); },
                  [&] { restore(source, given.logits); }, true};
  const Number maximum("tokkos::bench::maximum");
  const Rival rival =
      wants_probabilities
          ? Rival{"copy_ratio", false, {[&] { copy_rows(space, source, given.probabilities); }}}
          : Rival{"read_ratio", false, {[&] { read_rows(space, source, maximum); }}};
  run_timed(state, given.elements() * sizeof(float) * (wants_probabilities ? 2 : 1), own, {rival});
}

void chat(benchmark::State& state) {
  Requests requests;
  for (int i = 0; i < 64; ++i) {
    GenerationConfig config = with_temperature(0.7f);
    if (i % 4 == 0) {
      config.presence_penalty = 0.3f;
      config.frequency_penalty = 0.2f;
      config.repetition_penalty = 1.1f;
    }
    requests.add(config, 256);
  }
  run_mix(state, 64, 128256, requests, false);
}

void json_agent(benchmark::State& state) {
  FewTokens grammar(151936, 100);
  Requests requests;
  for (int i = 0; i < 32; ++i) {
    requests.add(with_temperature(0.7f), 64, i % 2 == 0 ? &grammar : nullptr);
  }
  run_mix(state, 32, 151936, requests, false);
}

void single_user(benchmark::State& state) {
  Requests requests;
  requests.add(with_temperature(0.7f), 64);
  run_mix(state, 1, 262144, requests, false);
}

void draft_trees(benchmark::State& state) {
  constexpr int drafts = 32;
  Requests requests;
  requests.rows.push_back(0);
  for (int i = 0; i < 16; ++i) {
    GenerationConfig config = with_temperature(0.7f);
    config.repetition_penalty = 1.1f;
    requests.add(config, 256);
    DraftTree tree;
    for (std::int32_t j = 0; j < drafts; ++j) {  // a binary tree
      tree.token_ids.push_back(1000 + 17 * j);
      tree.parents.push_back((j + 2) / 2 - 2);
    }
    std::vector<std::int32_t> rows(drafts + 1);
    std::iota(rows.begin(), rows.end(), -1);
    requests.trees.push_back(tree);
    requests.indices.push_back(rows);
    requests.rows.push_back((i + 1) * (drafts + 1));
  }
  run_mix(state, std::int64_t{16} * (drafts + 1), 128256, requests, true);
}

void rollout(benchmark::State& state) {
  const Case<float> given(512, 129280, 1.0f);
  const Number maximum("tokkos::bench::maximum");
  const Space space;
  run_timed(state, given.elements() * sizeof(float), {[&] {
              measure(space, given.step(), given.measures());
              log_sum_exp(space, given.step(), given.measures(), given.log_sum_exp);
            }},
            {{"read_ratio", false, {[&] { read_rows(space, given.logits, maximum); }}}});
}

}  // namespace

void register_mixes() {
  register_timed("mix/chat", std::int64_t{64} * 128256, chat);
  register_timed("mix/json_agent", std::int64_t{32} * 151936, json_agent);
  register_timed("mix/single_user", 262144, single_user);
  register_timed("mix/rollout", std::int64_t{512} * 129280, rollout);
  register_timed("mix/draft_trees", std::int64_t{16} * 33 * 128256, draft_trees);
}

}  // namespace tokkos::bench
