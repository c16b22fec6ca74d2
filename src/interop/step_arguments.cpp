// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/step_arguments.hpp"

#include <tokkos/core/error.hpp>

#include "interop/draft_tree.hpp"
#include "interop/edit_hook.hpp"
#include "interop/generation_config.hpp"
#include "interop/history.hpp"
#include "interop/mask.hpp"
#include "interop/sized_struct.hpp"

#include <limits>
#include <optional>

namespace tokkos::interop {

namespace {

tokkos_request default_request() {
  tokkos_request request{};
  request.rows = 1;
  return request;
}

/// Request number i of an array whose elements have the size that the first one says.
tokkos_request request_at(const tokkos_step& step, std::size_t i) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(step.requests);
  const std::size_t size = step.requests->size;
  const auto* request = reinterpret_cast<const tokkos_request*>(bytes + i * size);
  const std::string name = "requests[" + std::to_string(i) + "]";
  if (request->size != size) {
    throw Error(name + ".size", std::nullopt, std::to_string(request->size),
                std::to_string(size) + ", that of the first request");
  }
  return read_struct(name, request, default_request());
}

}  // namespace

void StepArguments::assign(const tokkos_step* given) {
  const tokkos_step step = read_struct("step", given, tokkos_step{});
  checked_array("requests", step.requests, step.request_count);
  if (step.request_count > 0) check_size("requests[0]", step.requests->size);
  m_edit_hook = edit_hook_of(step);
  const std::size_t count = step.request_count;
  m_configs.resize(count);
  m_states.resize(count);
  m_ids.resize(count);
  m_trees.resize(count);
  m_nodes.resize(count);
  m_cum_num_token.assign(1, 0);
  m_has_drafts = false;
  std::size_t named = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const tokkos_request request = request_at(step, i);
    assign_request("requests[" + std::to_string(i) + "]", request, i);
    named += request.id != nullptr ? 1 : 0;
  }
  m_has_ids = named > 0;
  if (named == 0 || named == count) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (request_at(step, i).id != nullptr || m_configs[i].stream) continue;
    throw Error("requests[" + std::to_string(i) + "].id", std::nullopt, "null",
                "an id, as other requests of the step have, or config.stream");
  }
}

void StepArguments::assign_request(const std::string& name, const tokkos_request& request,
                                   std::size_t i) {
  assign_config(name + ".config", request.config, m_configs[i]);
  m_states[i] = {};
  if (request.history != nullptr) {
    m_states[i].history = &live(name + ".history", request.history).tokens;
  }
  if (request.mask != nullptr) {
    CallbackMask& grammar = live(name + ".mask", request.mask).grammar;
    grammar.set_request(static_cast<std::int64_t>(i));
    m_states[i].mask = &grammar;
  }
  m_ids[i] = request.id == nullptr ? "" : request.id;
  const std::int64_t first = m_cum_num_token.back();
  const std::int64_t most = std::numeric_limits<std::int32_t>::max() - first;
  require(request.rows >= 0 && request.rows <= most, (name + ".rows").c_str(), std::nullopt,
          request.rows, "0 or more, and less than 2^31 in the step");
  m_cum_num_token.push_back(static_cast<std::int32_t>(first + request.rows));
  assign_tree(name, request, i);
}

void StepArguments::assign_tree(const std::string& name, const tokkos_request& request,
                                std::size_t i) {
  assign_draft_tree(name + ".draft_tree", request.draft_tree, m_vocabulary, m_trees[i]);
  m_has_drafts = m_has_drafts || request.draft_tree != nullptr || request.draft_nodes != nullptr;
  m_nodes[i].clear();
  if (request.draft_nodes != nullptr) {
    m_nodes[i].assign(request.draft_nodes, request.draft_nodes + request.rows);
  }
}

void StepArguments::fill_nodes() {
  for (std::size_t i = 0; i < m_nodes.size(); ++i) {
    if (!m_nodes[i].empty()) continue;
    m_nodes[i].assign(static_cast<std::size_t>(m_cum_num_token[i + 1] - m_cum_num_token[i]), -1);
  }
}

void StepArguments::check_rows(std::int64_t expected) const {
  if (rows() == expected) return;
  throw Error("the sum of requests[].rows", std::nullopt, to_text(rows()),
              "the number of rows of the logits, " + to_text(expected));
}

void StepArguments::check_verified_rows() const {
  for (std::size_t i = 0; i < m_nodes.size(); ++i) {
    const std::int64_t rows = m_cum_num_token[i + 1] - m_cum_num_token[i];
    const auto most = static_cast<std::int64_t>(m_trees[i].size()) + 1;
    if (rows <= most) continue;
    throw Error("requests[" + std::to_string(i) + "].rows", std::nullopt, to_text(rows),
                "at most a row for the root and one for each draft node, " + to_text(most));
  }
}

StepRequests StepArguments::requests() {
  if (m_has_drafts) fill_nodes();
  StepRequests requests;
  requests.generation_configs = m_configs;
  requests.sequence_states = m_states;
  if (m_has_ids) requests.request_ids = m_ids;
  requests.cum_num_token = m_cum_num_token;
  if (m_has_drafts) {
    requests.draft_trees = m_trees;
    requests.draft_token_indices = m_nodes;
  }
  if (m_edit_hook) requests.edit_hook = &m_edit_hook;
  return requests;
}

GreedyTies greedy_ties_of(const char* field, std::int32_t number) {
  require(number == TOKKOS_TIES_UNIFORM || number == TOKKOS_TIES_LOWEST_ID, field, std::nullopt,
          number, "TOKKOS_TIES_UNIFORM or TOKKOS_TIES_LOWEST_ID");
  return number == TOKKOS_TIES_LOWEST_ID ? GreedyTies::lowest_id : GreedyTies::uniform;
}

StepOptions step_options_of(const tokkos_step_options* options) {
  if (options == nullptr) return {};
  const auto given = read_struct("options", options, tokkos_step_options{});
  checked_array("options.uniforms", given.uniforms, given.uniform_count);
  const GreedyTies ties = greedy_ties_of("options.ties", given.ties);
  require(given.store_mask == 0 || given.store_mask == 1, "options.store_mask", std::nullopt,
          given.store_mask, "0 or 1");
  StepOptions taken;
  taken.uniforms = std::span(given.uniforms, given.uniform_count);
  taken.ties = ties;
  taken.store_mask = given.store_mask == 1;
  return taken;
}

}  // namespace tokkos::interop

using namespace tokkos::interop;

void tokkos_request_init(tokkos_request* request, size_t size) {
  initialize_struct(request, size, default_request());
}

void tokkos_step_init(tokkos_step* step, size_t size) {
  initialize_struct(step, size, tokkos_step{});
}

void tokkos_step_options_init(tokkos_step_options* options, size_t size) {
  initialize_struct(options, size, tokkos_step_options{});
}
