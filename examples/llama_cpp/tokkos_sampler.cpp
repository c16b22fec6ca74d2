// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Against llama.h and tokkos.h alone, in C++17 as llama.cpp is: nothing of Kokkos reaches the
// engine.
#include "tokkos_sampler.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

namespace {

template <class T, tokkos_status (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { destroy(object); }
};
template <class T, tokkos_status (*destroy)(T*)>
using Owned = std::unique_ptr<T, Destroy<T, destroy>>;

class Sampler {
 public:
  Sampler(std::int32_t vocabulary, TokkosSamplerParameters parameters)
      : m_vocabulary(vocabulary), m_parameters(std::move(parameters)) {
    for (const llama_logit_bias& bias : m_parameters.logit_bias) {
      m_biases.push_back({bias.bias, bias.token, 0});
    }
  }

  /// Makes what a step needs, and tries one: an unusable parameter is seen here.
  bool start() {
    if (m_vocabulary > 0) m_logits.assign(static_cast<std::size_t>(m_vocabulary), 0.0f);
    m_probabilities = m_logits;
    tokkos_context_options where = tokkos_context_options_default();
    where.backend = m_parameters.backend;
    tokkos_context* context = nullptr;
    if (tokkos_context_create(&where, &context) != TOKKOS_OK) return false;
    m_context.reset(context);
    tokkos_limits limits = tokkos_limits_default();
    limits.max_rows = 1;
    limits.vocabulary = m_vocabulary;
    tokkos_processor* processor = nullptr;
    if (tokkos_processor_create(context, &limits, &processor) != TOKKOS_OK) return false;
    m_processor.reset(processor);
    return start_history() && process() == TOKKOS_OK;
  }

  /// A copy that goes on as this one would; null if it cannot be made.
  std::unique_ptr<Sampler> clone() const {
    auto copy = std::make_unique<Sampler>(m_vocabulary, m_parameters);
    if (!copy->start()) return nullptr;
    for (const llama_token token : m_prompt) copy->accept(token);
    copy->m_prompt_ended = m_prompt_ended;
    if (!copy->start_history()) return nullptr;
    for (const llama_token token : m_generated) copy->accept(token);
    return copy;
  }

  void reset() {
    m_prompt.clear();
    m_generated.clear();
    m_prompt_ended = false;
    m_error.clear();
  }

  void accept(llama_token token) {
    if (!m_prompt_ended) {
      m_prompt.push_back(token);
      return;
    }
    m_generated.push_back(token);
    if (tokkos_history_commit(m_history.get(), token) != TOKKOS_OK) m_error = tokkos_last_error();
  }

  void apply(llama_token_data_array& candidates) {
    candidates.selected = -1;
    if (!m_prompt_ended) {
      m_prompt_ended = true;
      if (!start_history()) m_error = tokkos_last_error();
    }
    if (!m_error.empty() || !read(candidates)) return;
    if (process() != TOKKOS_OK) {
      m_error = tokkos_last_error();
      return;
    }
    if (m_token < 0) {
      char names[128];
      tokkos_row_status_names(m_status, names, sizeof names, nullptr);
      m_row_error = names;
    }
    for (std::size_t i = 0; i < candidates.size; ++i) {
      const llama_token id = candidates.data[i].id;
      candidates.data[i].p = m_probabilities[static_cast<std::size_t>(id)];
      if (id == m_token) candidates.selected = static_cast<std::int64_t>(i);
    }
  }

  const char* error() const { return m_error.empty() ? m_row_error.c_str() : m_error.c_str(); }

 private:
  /// The prompt is what was accepted so far.
  bool start_history() {
    tokkos_history* history = nullptr;
    if (tokkos_history_create(m_prompt.data(), m_prompt.size(), &history) != TOKKOS_OK)
      return false;
    m_history.reset(history);
    return true;
  }

  /// The candidates as a row of logits: a token that is not among them is forbidden.
  bool read(const llama_token_data_array& candidates) {
    m_row_error.clear();
    m_logits.assign(m_logits.size(), -std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < candidates.size; ++i) {
      const llama_token id = candidates.data[i].id;
      if (id < 0 || id >= m_vocabulary) {
        m_row_error = "a candidate's id is " + std::to_string(id) + ", expected [0, " +
                      std::to_string(m_vocabulary) + ")";
        return false;
      }
      m_logits[static_cast<std::size_t>(id)] = candidates.data[i].logit;
    }
    return true;
  }

  /// One row: bias, penalties, softmax with temperature, truncation, draw.
  tokkos_status process() {
    tokkos_generation_config config = tokkos_generation_config_default();
    config.temperature = m_parameters.temperature;
    config.top_k = m_parameters.top_k;
    config.top_p = m_parameters.top_p;
    config.min_p = m_parameters.min_p;
    config.penalty_policy = m_parameters.penalty_policy;
    config.penalty_window = m_parameters.penalty_last_n;
    config.repetition_penalty = m_parameters.penalty_repeat;
    config.frequency_penalty = m_parameters.penalty_freq;
    config.presence_penalty = m_parameters.penalty_present;
    config.logit_bias = m_biases.data();
    config.logit_bias_count = m_biases.size();
    config.seed = m_parameters.seed;
    tokkos_request request = tokkos_request_default();
    request.config = &config;
    request.history = m_history.get();
    request.id = m_parameters.id.c_str();
    tokkos_step step = tokkos_step_default();
    step.requests = &request;
    step.request_count = 1;

    const tokkos_array logits = tokkos_matrix(m_logits.data(), TOKKOS_FLOAT32, 1, m_vocabulary, 0);
    const tokkos_array probabilities =
        tokkos_matrix(m_probabilities.data(), TOKKOS_FLOAT32, 1, m_vocabulary, 0);
    const tokkos_array token = tokkos_vector(&m_token, TOKKOS_INT32, 1);
    const tokkos_array status = tokkos_vector(&m_status, TOKKOS_INT32, 1);
    m_status = 0;
    tokkos_step_outputs outputs = tokkos_step_outputs_default();
    outputs.truncated_probabilities = &probabilities;
    outputs.tokens = &token;
    outputs.row_status = &status;
    tokkos_step_options options = tokkos_step_options_default();
    options.ties = TOKKOS_TIES_LOWEST_ID;  // as llama.cpp's greedy sampler, by id
    return tokkos_processor_process(m_processor.get(), &logits, &step, &outputs, &options, nullptr);
  }

  std::int32_t m_vocabulary;
  TokkosSamplerParameters m_parameters;
  std::vector<tokkos_token_bias> m_biases;
  Owned<tokkos_context, tokkos_context_destroy> m_context;
  Owned<tokkos_processor, tokkos_processor_destroy> m_processor;
  Owned<tokkos_history, tokkos_history_destroy> m_history;
  std::vector<llama_token> m_prompt;
  std::vector<llama_token> m_generated;
  bool m_prompt_ended = false;
  std::vector<float> m_logits;
  std::vector<float> m_probabilities;
  std::int32_t m_token = -1;
  std::int32_t m_status = 0;
  std::string m_error;      // stays until reset: the history is not what it should be
  std::string m_row_error;  // of the last row
};

Sampler& of(const llama_sampler* sampler) {
  return *static_cast<Sampler*>(sampler->ctx);
}

llama_sampler* wrap(std::unique_ptr<Sampler> sampler);

const char* sampler_name(const llama_sampler*) {
  return "tokkos";
}
void sampler_accept(llama_sampler* sampler, llama_token token) {
  of(sampler).accept(token);
}
void sampler_apply(llama_sampler* sampler, llama_token_data_array* candidates) {
  of(sampler).apply(*candidates);
}
void sampler_reset(llama_sampler* sampler) {
  of(sampler).reset();
}
llama_sampler* sampler_clone(const llama_sampler* sampler) {
  return wrap(of(sampler).clone());
}
void sampler_free(llama_sampler* sampler) {
  delete &of(sampler);
}

llama_sampler* wrap(std::unique_ptr<Sampler> sampler) {
  // Member by member: later versions of llama.cpp have more of them, which stay null.
  static llama_sampler_i functions = [] {
    llama_sampler_i members{};
    members.name = sampler_name;
    members.accept = sampler_accept;
    members.apply = sampler_apply;
    members.reset = sampler_reset;
    members.clone = sampler_clone;
    members.free = sampler_free;
    return members;
  }();
  return sampler ? llama_sampler_init(&functions, sampler.release()) : nullptr;
}

}  // namespace

llama_sampler* llama_sampler_init_tokkos(std::int32_t n_vocab,
                                         const TokkosSamplerParameters& parameters) {
  auto sampler = std::make_unique<Sampler>(n_vocab, parameters);
  if (!sampler->start()) return nullptr;
  return wrap(std::move(sampler));
}

const char* llama_sampler_tokkos_error(const llama_sampler* sampler) {
  return of(sampler).error();
}
