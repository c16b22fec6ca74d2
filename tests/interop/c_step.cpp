// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/c_step.hpp"

namespace tokkos::test {

tokkos_mask_callbacks callbacks_of(VocabularyMask& mask) {
  tokkos_mask_callbacks callbacks = tokkos_mask_callbacks_default();
  callbacks.user = &mask;
  callbacks.is_constrained = [](void* user) -> std::int32_t {
    return static_cast<VocabularyMask*>(user)->is_constrained() ? 1 : 0;
  };
  callbacks.fill = [](void* user, std::int32_t* words, std::size_t count) -> std::int32_t {
    static_cast<VocabularyMask*>(user)->fill_next_bitmask({words, count});
    return 0;
  };
  callbacks.accept = [](void* user, std::int32_t token) -> std::int32_t {
    return static_cast<VocabularyMask*>(user)->accept(token) ? 1 : 0;
  };
  callbacks.rollback = [](void* user, std::int32_t count) -> std::int32_t {
    static_cast<VocabularyMask*>(user)->rollback(count);
    return 0;
  };
  return callbacks;
}

StepOfC::StepOfC(const OwnedStep& owned) : m_step(tokkos_step_default()) {
  for (std::size_t i = 0; i < owned.configs.size(); ++i) {
    tokkos_request request = tokkos_request_default();
    add_config(owned.configs[i]);
    add_state(owned.states[i]);
    request.config = &m_configs.back();
    request.history = m_histories.back().get();
    request.mask = m_masks.back().get();
    request.id = owned.ids[i].c_str();
    if (owned.cum_num_token) {
      request.rows = (*owned.cum_num_token)[i + 1] - (*owned.cum_num_token)[i];
    }
    if (owned.trees) {
      tokkos_draft_tree& tree = m_trees.emplace_back(tokkos_draft_tree_default());
      tree.token_ids = (*owned.trees)[i].token_ids.data();
      tree.parents = (*owned.trees)[i].parents.data();
      tree.count = (*owned.trees)[i].size();
      const auto& order = (*owned.trees)[i].trial_order;
      if (!order.empty()) tree.trial_order = order.data();
      request.draft_tree = &tree;
    }
    if (owned.indices) request.draft_nodes = (*owned.indices)[i].data();
    m_requests.push_back(request);
  }
  m_step.requests = m_requests.data();
  m_step.request_count = m_requests.size();
}

void StepOfC::add_config(const GenerationConfig& config) {
  tokkos_generation_config& made = m_configs.emplace_back(tokkos_generation_config_default());
  made.temperature = config.temperature;
  made.top_k = config.top_k;
  made.top_p = config.top_p;
  made.min_p = config.min_p;
  made.presence_penalty = config.presence_penalty;
  made.frequency_penalty = config.frequency_penalty;
  made.repetition_penalty = config.repetition_penalty;
  made.penalty_policy = static_cast<std::int32_t>(config.penalty_policy);
  made.penalty_window = config.penalty_window;
  made.min_tokens = config.min_tokens;
  made.no_repeat_ngram_size = config.no_repeat_ngram_size;
  made.seed = config.seed;
  made.has_stream = config.stream ? 1 : 0;
  made.stream = config.stream.value_or(0);
  auto& biases = m_biases.emplace_back();
  for (const auto& [token, bias] : config.logit_bias) biases.push_back({bias, token, 0});
  made.logit_bias = biases.data();
  made.logit_bias_count = biases.size();
  made.allowed_token_ids = config.allowed_token_ids.data();
  made.allowed_token_count = config.allowed_token_ids.size();
  made.banned_token_ids = config.banned_token_ids.data();
  made.banned_token_count = config.banned_token_ids.size();
  made.end_token_ids = config.end_token_ids.data();
  made.end_token_count = config.end_token_ids.size();
  auto& words = m_bad_words.emplace_back();
  for (const auto& word : config.bad_words) words.push_back({word.data(), word.size()});
  made.bad_words = words.data();
  made.bad_word_count = words.size();
}

void StepOfC::add_state(const SequenceState& state) {
  History& history = m_histories.emplace_back();
  if (state.history != nullptr) {
    const auto prompt = state.history->prompt();
    check_ok(tokkos_history_create(prompt.data(), prompt.size(), history.put()));
    for (const TokenId token : state.history->generated()) {
      check_ok(tokkos_history_commit(history.get(), token));
    }
  }
  Mask& mask = m_masks.emplace_back();
  if (state.mask != nullptr) {
    const tokkos_mask_callbacks callbacks = callbacks_of(*state.mask);
    check_ok(tokkos_mask_create(&callbacks, mask.put()));
  }
}

}  // namespace tokkos::test
