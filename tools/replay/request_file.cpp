// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/request_file.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/core/types.hpp>

#include "tools/io/checked_json.hpp"
#include "tools/replay/request_fields.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tokkos::tools {

namespace {

using nlohmann::json;

PenaltyPolicy read_policy(const JsonObject& file) {
  const auto policy = find_penalty_policy(file.text("policy", "seed"));
  file.require(policy.has_value(), "policy",
               "\"seed\", \"openai\", \"hugging_face\" or \"llama_cpp\"");
  return *policy;
}

DraftTree read_draft(const JsonObject& request, std::int64_t num_tokens, std::int64_t vocabulary,
                     std::vector<std::int32_t>& rows) {
  rows.assign(static_cast<std::size_t>(num_tokens), -1);
  const json* member = request.find("draft");
  if (!member) return {};
  const JsonObject draft(*member, request.name() + ".draft");
  draft.allow_only({"token_ids", "parents", "rows"});
  DraftTree tree;
  tree.token_ids = draft.integers("token_ids", 0, vocabulary - 1);
  const auto nodes = static_cast<std::int64_t>(tree.size());
  const std::string expected = nodes == 0 ? "-1 (the draft has no nodes)" : "";
  tree.parents = draft.integers("parents", -1, nodes - 1, expected);
  draft.require(tree.parents.size() == tree.size(), "parents",
                to_text(nodes) + " elements, one per draft token");
  rows = draft.integers("rows", -1, nodes - 1, expected);
  draft.require(static_cast<std::int64_t>(rows.size()) == num_tokens, "rows",
                to_text(num_tokens) + " elements, one per row (num_tokens)");
  return tree;
}

/// Throws, by the file's names, what the library says of a tree that is none.
void check_tree(const DraftTree& tree, std::int64_t vocabulary, const std::string& name) {
  try {
    validate(tree, vocabulary, 0);
  } catch (const Error& error) {
    const std::size_t member = error.field().rfind('.');
    throw Error(name + error.field().substr(member), error.index(), error.value(),
                error.expected());
  }
}

void read_request(const JsonObject& request, std::int64_t rows, std::int64_t vocabulary,
                  ReplayRequests& requests) {
  request.allow_only({"id", "temperature", "top_p", "top_k", "min_p", "presence_penalty",
                      "frequency_penalty", "repetition_penalty", "logit_bias", "prompt_token_ids",
                      "generated_token_ids", "num_tokens", "draft", "masked", "seed", "logprobs",
                      "top_logprobs"});
  requests.ids.push_back(request.text("id", ""));
  requests.configs.push_back(read_generation_config(request, vocabulary));
  requests.log_probabilities.push_back(read_log_probability_request(request));

  TokenHistory history(request.integers("prompt_token_ids", 0, vocabulary - 1));
  for (const TokenId token : request.integers("generated_token_ids", 0, vocabulary - 1)) {
    history.commit(token);
  }
  requests.histories.push_back(std::move(history));

  const std::int64_t num_tokens =
      request.integer("num_tokens", 1, 0, rows - requests.cum_num_token.back());
  requests.cum_num_token.push_back(
      static_cast<std::int32_t>(requests.cum_num_token.back() + num_tokens));

  auto& draft_rows = requests.draft_rows.emplace_back();
  requests.drafts.push_back(read_draft(request, num_tokens, vocabulary, draft_rows));
  check_tree(requests.drafts.back(), vocabulary, request.name() + ".draft");
  requests.masked.push_back(request.boolean("masked", true));
}

}  // namespace

StepRequests ReplayRequests::step() const {
  StepRequests step;
  step.generation_configs = configs;
  step.sequence_states = states;
  step.request_ids = ids;
  step.cum_num_token = cum_num_token;
  if (std::ranges::any_of(drafts, [](const DraftTree& draft) { return draft.size() > 0; })) {
    step.draft_trees = drafts;
    step.draft_token_indices = draft_rows;
  }
  return step;
}

std::vector<std::int32_t> ReplayRequests::masked_rows() const {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < masked.size(); ++i) {
    for (std::int32_t row = cum_num_token[i]; masked[i] && row < cum_num_token[i + 1]; ++row) {
      rows.push_back(row);
    }
  }
  return rows;
}

ReplayRequests parse_request_file(const std::string& text, const std::string& file,
                                  std::int64_t rows, std::int64_t vocabulary) {
  constexpr int depth = 5;  // file, requests, request, draft, parents
  const json parsed = parse_json(text, file, depth);
  const JsonObject top(parsed, file);
  top.allow_only({"active_vocab_size", "policy", "requests"});
  const PenaltyPolicy policy = read_policy(top);

  top.require(top.find("active_vocab_size") || vocabulary <= max_active_vocabulary,
              "active_vocab_size",
              "an integer in [1, " + to_text(max_active_vocabulary) + "], because V is " +
                  to_text(vocabulary));
  ReplayRequests requests;
  requests.active_vocabulary =
      top.integer("active_vocab_size", vocabulary, 1, std::min(vocabulary, max_active_vocabulary));
  const json* list = top.find("requests");
  top.require(list && list->is_array(), "requests", "an array of requests");
  for (const json& request : *list) {
    const std::string name = file + ": requests[" + std::to_string(requests.ids.size()) + "]";
    read_request(JsonObject(request, name), rows, vocabulary, requests);
  }
  if (requests.cum_num_token.back() != rows) {
    throw Error(file + ": sum of num_tokens", std::nullopt, to_text(requests.cum_num_token.back()),
                to_text(rows) + ", the rows of the logits");
  }
  for (GenerationConfig& config : requests.configs) config.penalty_policy = policy;
  for (const TokenHistory& history : requests.histories) {
    requests.states.push_back({.history = &history, .mask = nullptr});
  }
  return requests;
}

}  // namespace tokkos::tools
