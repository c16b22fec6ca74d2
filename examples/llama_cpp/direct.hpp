// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tokkos_sampler.hpp"

#include <cstdint>
#include <vector>

constexpr std::int32_t vocabulary = 500;

/// Tokkos without llama.cpp: one row of logits in the order of ids.
class Direct {
 public:
  Direct(const TokkosSamplerParameters& parameters, const std::vector<llama_token>& prompt)
      : m_parameters(parameters) {
    tokkos_context_options where = tokkos_context_options_default();
    where.backend = TOKKOS_BACKEND_SERIAL;
    tokkos_limits limits = tokkos_limits_default();
    limits.max_rows = 1;
    limits.vocabulary = vocabulary;
    m_works = tokkos_context_create(&where, &m_context) == TOKKOS_OK &&
              tokkos_processor_create(m_context, &limits, &m_processor) == TOKKOS_OK &&
              tokkos_history_create(prompt.data(), prompt.size(), &m_history) == TOKKOS_OK;
  }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;
  ~Direct() {
    tokkos_history_destroy(m_history);
    tokkos_processor_destroy(m_processor);
    tokkos_context_destroy(m_context);
  }

  bool works() const { return m_works; }

  /// The next token, -1 if something failed.
  llama_token next(std::vector<float> logits) {
    tokkos_generation_config config = tokkos_generation_config_default();
    config.temperature = m_parameters.temperature;
    config.top_k = m_parameters.top_k;
    config.top_p = m_parameters.top_p;
    config.min_p = m_parameters.min_p;
    config.penalty_policy = TOKKOS_PENALTY_LLAMA_CPP;
    config.repetition_penalty = m_parameters.penalty_repeat;
    config.frequency_penalty = m_parameters.penalty_freq;
    config.seed = m_parameters.seed;
    tokkos_request request = tokkos_request_default();
    request.config = &config;
    request.history = m_history;
    request.id = m_parameters.id.c_str();
    tokkos_step step = tokkos_step_default();
    step.requests = &request;
    step.request_count = 1;
    llama_token token = -1;
    const tokkos_array row = tokkos_matrix(logits.data(), TOKKOS_FLOAT32, 1, vocabulary, 0);
    const tokkos_array tokens = tokkos_vector(&token, TOKKOS_INT32, 1);
    tokkos_step_outputs outputs = tokkos_step_outputs_default();
    outputs.tokens = &tokens;
    const bool done = tokkos_processor_process(m_processor, &row, &step, &outputs, nullptr,
                                               nullptr) == TOKKOS_OK &&
                      tokkos_history_commit(m_history, token) == TOKKOS_OK;
    return done ? token : -1;
  }

 private:
  TokkosSamplerParameters m_parameters;
  tokkos_context* m_context = nullptr;
  tokkos_processor* m_processor = nullptr;
  tokkos_history* m_history = nullptr;
  bool m_works = false;
};
