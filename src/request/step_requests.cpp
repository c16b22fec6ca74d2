// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/step_requests.hpp>

#include <algorithm>
#include <string>

namespace tokkos {

namespace {

void require_size(const char* field, std::size_t size, std::size_t expected,
                  const char* reason = "one for each request") {
  if (size == expected) return;
  throw Error(std::string(field) + ".size", std::nullopt, std::to_string(size),
              std::to_string(expected) + " (" + reason + ")");
}

void validate_cum_num_token(std::span<const std::int32_t> cum, std::size_t requests,
                            std::int64_t rows) {
  require_size("cum_num_token", cum.size(), requests + 1, "requests + 1");
  require(cum[0] == 0, "cum_num_token", 0, cum[0], "0");
  for (std::size_t i = 1; i < cum.size(); ++i) {
    if (cum[i] < cum[i - 1]) {
      throw Error("cum_num_token", static_cast<std::int64_t>(i), to_text(cum[i]),
                  "at least the one before, " + to_text(cum[i - 1]));
    }
  }
  if (cum.back() != rows) {
    throw Error("cum_num_token", static_cast<std::int64_t>(requests), to_text(cum.back()),
                "the number of rows, " + to_text(rows));
  }
}

void validate_history(const TokenHistory& history, std::int64_t vocabulary, std::size_t request) {
  for (const TokenCount& entry : history.counts()) {
    if (entry.token < vocabulary) continue;
    const auto generated = history.generated();
    throw Error("sequence_states[" + std::to_string(request) + "].history.generated",
                std::ranges::find(generated, entry.token) - generated.begin(), to_text(entry.token),
                "a token in [0, " + to_text(vocabulary) + ")");
  }
  if (history.largest_prompt_token() < vocabulary) return;
  const auto prompt = history.prompt();
  const auto place = std::ranges::find_if(prompt, [=](TokenId t) { return t >= vocabulary; });
  throw Error("sequence_states[" + std::to_string(request) + "].history.prompt",
              place - prompt.begin(), to_text(*place),
              "a token in [0, " + to_text(vocabulary) + ")");
}

void validate_draft_token_indices(const StepRequests& requests, std::size_t request) {
  const auto& indices = (*requests.draft_token_indices)[request];
  const auto nodes = static_cast<std::int64_t>((*requests.draft_trees)[request].size());
  const std::string field = "draft_token_indices[" + std::to_string(request) + "]";
  const std::int64_t rows = requests.end_row(request) - requests.first_row(request);
  if (static_cast<std::int64_t>(indices.size()) != rows) {
    throw Error(field + ".size", std::nullopt, std::to_string(indices.size()),
                "the number of the request's rows, " + to_text(rows));
  }
  for (std::size_t j = 0; j < indices.size(); ++j) {
    if (indices[j] >= -1 && indices[j] < nodes) continue;
    throw Error(field, static_cast<std::int64_t>(j), to_text(indices[j]),
                "a draft node in [-1, " + to_text(nodes) + ")");
  }
}

}  // namespace

std::int64_t StepRequests::first_row(std::size_t request) const {
  return cum_num_token ? (*cum_num_token)[request] : static_cast<std::int64_t>(request);
}

std::int64_t StepRequests::end_row(std::size_t request) const {
  return cum_num_token ? (*cum_num_token)[request + 1] : static_cast<std::int64_t>(request) + 1;
}

std::int32_t StepRequests::draft_node(std::size_t request, std::int64_t row) const {
  if (!draft_token_indices) return -1;
  return (*draft_token_indices)[request][static_cast<std::size_t>(row)];
}

void validate(const StepRequests& requests, std::int64_t rows, std::int64_t vocabulary) {
  const std::size_t count = requests.size();
  require_size("sequence_states", requests.sequence_states.size(), count);
  if (!requests.request_ids.empty()) {
    require_size("request_ids", requests.request_ids.size(), count);
  }
  if (requests.cum_num_token) {
    validate_cum_num_token(*requests.cum_num_token, count, rows);
  } else if (static_cast<std::int64_t>(count) != rows) {
    throw Error("generation_configs.size", std::nullopt, std::to_string(count),
                "the number of rows, " + to_text(rows));
  }
  if (requests.draft_trees.has_value() != requests.draft_token_indices.has_value()) {
    const bool trees = requests.draft_trees.has_value();
    throw Error(
        trees ? "draft_token_indices" : "draft_trees", std::nullopt, "not given",
        trees ? "given together with draft_trees" : "given together with draft_token_indices");
  }
  if (requests.draft_trees) {
    require_size("draft_trees", requests.draft_trees->size(), count);
    require_size("draft_token_indices", requests.draft_token_indices->size(), count);
  }
  if (requests.edit_hook != nullptr && !*requests.edit_hook) {
    throw Error("edit_hook", std::nullopt, "an empty function", "one that can be called, or null");
  }
  for (std::size_t i = 0; i < count; ++i) {
    validate(requests.generation_configs[i], vocabulary, static_cast<std::int64_t>(i));
    if (const TokenHistory* history = requests.sequence_states[i].history) {
      validate_history(*history, vocabulary, i);
    }
    if (requests.draft_trees) {
      validate((*requests.draft_trees)[i], vocabulary, static_cast<std::int64_t>(i));
      validate_draft_token_indices(requests, i);
    }
  }
}

}  // namespace tokkos
