// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The documented ranges of everything that a step is given, one after the other; nothing is shared
// with the library's own checks.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>

#include "fuzz/step_input.hpp"

namespace tokkos::test {

namespace {

/// Looks at the values of one struct, whose members' names begin with `prefix`.
class Looker {
 public:
  Looker(std::string prefix, std::int64_t vocabulary, Faults& faults)
      : m_prefix(std::move(prefix)), m_vocabulary(vocabulary), m_faults(faults) {}

  void member(bool good, const char* name) {
    if (!good) m_faults.push_back({m_prefix + name});
  }
  void member(bool good, const std::string& name, std::int64_t value) {
    if (!good) m_faults.push_back({m_prefix + name, std::nullopt, std::to_string(value)});
  }
  void element(bool good, const std::string& name, std::size_t index, const std::string& value) {
    if (good) return;
    m_faults.push_back({m_prefix + name, static_cast<std::int64_t>(index), value});
  }
  void token(const std::string& name, std::size_t index, TokenId token) {
    element(0 <= token && token < m_vocabulary, name, index, std::to_string(token));
  }
  void tokens(const std::string& name, std::span<const TokenId> tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) token(name, i, tokens[i]);
  }

 private:
  std::string m_prefix;
  std::int64_t m_vocabulary;
  Faults& m_faults;
};

bool is_finite(float x) {
  return x >= -FLT_MAX && x <= FLT_MAX;
}

void look_at_config(const GenerationConfig& c, Looker look) {
  for (std::size_t i = 0; i < c.logit_bias.size(); ++i) {
    const auto& [token, bias] = c.logit_bias[i];
    look.token("logit_bias.token_id", i, token);
    // Halfway between the largest float32 and what would be the next one.
    look.element(bias == -HUGE_VAL || (-0x1.ffffffp127 < bias && bias < 0x1.ffffffp127),
                 "logit_bias", i, "");
  }
  for (std::size_t i = 0; i < c.bad_words.size(); ++i) {
    const std::string name = "bad_words[" + std::to_string(i) + "]";
    look.member(!c.bad_words[i].empty(), name + ".size", 0);
    look.tokens(name, c.bad_words[i]);
  }
  look.tokens("allowed_token_ids", c.allowed_token_ids);
  look.tokens("banned_token_ids", c.banned_token_ids);
  look.tokens("end_token_ids", c.end_token_ids);
  look.member(c.temperature >= 0 && c.temperature <= FLT_MAX, "temperature");
  look.member(c.top_k >= 0, "top_k", c.top_k);
  look.member(c.top_p > 0 && c.top_p <= 1, "top_p");
  look.member(c.min_p >= 0 && c.min_p <= 1, "min_p");
  look.member(is_finite(c.presence_penalty), "presence_penalty");
  look.member(is_finite(c.frequency_penalty), "frequency_penalty");
  look.member(c.repetition_penalty > 0 && c.repetition_penalty <= FLT_MAX, "repetition_penalty");
  const auto policy = static_cast<int>(c.penalty_policy);
  look.member(policy >= 0 && policy < 4, "penalty_policy", policy);
  look.member(c.penalty_window >= -1, "penalty_window", c.penalty_window);
  look.member(c.min_tokens >= 0, "min_tokens", c.min_tokens);
  look.member(c.no_repeat_ngram_size >= 0, "no_repeat_ngram_size", c.no_repeat_ngram_size);
}

/// The first row of each request and the end, where rows are given to the requests; else empty.
std::vector<std::int64_t> look_at_rows(const FuzzStep& fuzz, Looker look) {
  const OwnedStep& step = fuzz.step->step;
  const std::size_t requests = step.configs.size();
  const std::int64_t rows = fuzz.step->rows;
  std::vector<std::int64_t> cum;
  for (std::size_t i = 0; i <= requests; ++i) cum.push_back(static_cast<std::int64_t>(i));
  if (!step.cum_num_token) {
    const auto count = static_cast<std::int64_t>(requests);
    look.member(count == rows, "generation_configs.size", count);
    return count == rows ? cum : std::vector<std::int64_t>{};
  }
  cum.assign(step.cum_num_token->begin(), step.cum_num_token->end());
  const auto size = static_cast<std::int64_t>(cum.size());
  look.member(cum.size() == requests + 1, "cum_num_token.size", size);
  for (std::size_t i = 0; i < cum.size(); ++i) {
    const bool good = (i > 0 || cum[i] == 0) && (i == 0 || cum[i] >= cum[i - 1]) &&
                      (i + 1 < cum.size() || cum[i] == rows);
    look.element(good, "cum_num_token", i, std::to_string(cum[i]));
  }
  const bool good = cum.size() == requests + 1 && cum.front() == 0 && cum.back() == rows &&
                    std::ranges::is_sorted(cum);
  return good ? cum : std::vector<std::int64_t>{};
}

void look_at_drafts(const FuzzStep& fuzz, const std::vector<std::int64_t>& cum, Looker look,
                    Faults& faults) {
  const OwnedStep& step = fuzz.step->step;
  const std::size_t requests = step.configs.size();
  look.member(step.trees || !step.indices, "draft_trees");
  look.member(step.indices || !step.trees, "draft_token_indices");
  if (!step.trees || !step.indices) return;
  const auto of_requests = [&](std::size_t size, const char* name) {
    look.member(size == requests, name, static_cast<std::int64_t>(size));
  };
  of_requests(step.trees->size(), "draft_trees.size");
  of_requests(step.indices->size(), "draft_token_indices.size");
  if (step.trees->size() != requests || step.indices->size() != requests) return;
  for (std::size_t i = 0; i < requests; ++i) {
    const std::string place = std::to_string(i) + "]";
    const DraftTree& tree = (*step.trees)[i];
    add_faults(tree, static_cast<int>(fuzz.step->vocabulary), "draft_trees[" + place, faults);
    const auto& rows = (*step.indices)[i];
    const std::string name = "draft_token_indices[" + place;
    const auto count = static_cast<std::int64_t>(rows.size());
    if (!cum.empty()) look.member(count == cum[i + 1] - cum[i], name + ".size", count);
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const bool is_node =
          rows[j] >= -1 && rows[j] < static_cast<std::int64_t>(tree.token_ids.size());
      look.element(is_node, name, j, std::to_string(rows[j]));
    }
  }
}

/// Philox needs to know the request and how far it is, where there is a row to draw for.
void look_at_streams(const OwnedStep& step, const std::vector<std::int64_t>& cum, Looker look) {
  for (std::size_t i = 0; i + 1 < cum.size(); ++i) {
    if (cum[i] == cum[i + 1] || i >= step.states.size()) continue;
    const auto ids = static_cast<std::int64_t>(step.ids.size());
    look.member(step.ids.size() == step.configs.size(), "request_ids.size", ids);
    const std::string state = "sequence_states[" + std::to_string(i) + "]";
    look.member(step.states[i].history != nullptr, (state + ".history").c_str());
  }
}

}  // namespace

Faults faults_of(const FuzzStep& fuzz) {
  const RandomStep& step = *fuzz.step;
  const OwnedStep& owned = step.step;
  const std::size_t requests = owned.configs.size();
  Faults faults;
  Looker look("", step.vocabulary, faults);
  if (fuzz.prepares) {
    look.member(step.rows <= max_rows, "rows", step.rows);
  } else {
    look.element(step.rows <= max_rows, "logits.extent", 0, std::to_string(step.rows));
  }
  const std::vector<std::int64_t> cum = look_at_rows(fuzz, look);
  const auto of_requests = [&](std::size_t size, const char* name) {
    look.member(size == requests, name, static_cast<std::int64_t>(size));
  };
  of_requests(owned.states.size(), "sequence_states.size");
  if (!owned.ids.empty()) of_requests(owned.ids.size(), "request_ids.size");
  look_at_drafts(fuzz, cum, look, faults);
  for (std::size_t i = 0; i < requests; ++i) {
    const std::string place = std::to_string(i) + "].";
    look_at_config(owned.configs[i], {"generation_configs[" + place, step.vocabulary, faults});
    const TokenHistory* history = i < owned.states.size() ? owned.states[i].history : nullptr;
    if (history == nullptr) continue;
    Looker inside("sequence_states[" + place + "history.", step.vocabulary, faults);
    inside.tokens("prompt", history->prompt());
    inside.tokens("generated", history->generated());
  }
  if (!fuzz.uniforms.empty()) {
    add_uniform_faults(fuzz.uniforms, static_cast<std::size_t>(step.rows), "uniforms", faults);
  } else if (fuzz.draws) {
    look_at_streams(owned, cum, look);
  }
  return faults;
}

}  // namespace tokkos::test
