// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/core/types.hpp>
#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tokkos::interop {

/// A step of C as the requests of C++. Kept from step to step, so that its memory is reused.
class StepArguments {
 public:
  /// @param vocabulary tokens of draft trees are below
  explicit StepArguments(std::int64_t vocabulary = max_vocabulary) : m_vocabulary(vocabulary) {}

  /// Copies all but histories and masks. @throws Error, HandleError; values are not checked
  void assign(const tokkos_step* step);

  /// The step, whose rows were checked before; lives until the next assign.
  StepRequests requests();
  std::span<const DraftTree> trees() const { return m_trees; }
  std::span<const std::string> request_ids() const { return m_ids; }
  /// Throws Error unless the step has as many rows as the logits.
  void check_rows(std::int64_t rows) const;
  /// Throws if a request has more rows than a verification has nodes for it.
  void check_verified_rows() const;
  /// Number of the step's rows.
  std::int64_t rows() const { return m_cum_num_token.empty() ? 0 : m_cum_num_token.back(); }

 private:
  void assign_request(const std::string& name, const tokkos_request& request, std::size_t i);
  void assign_tree(const std::string& name, const tokkos_request& request, std::size_t i);
  /// Rows of requests without draft nodes are behind the last committed token.
  void fill_nodes();

  std::int64_t m_vocabulary;
  std::vector<GenerationConfig> m_configs;
  std::vector<SequenceState> m_states;
  std::vector<std::string> m_ids;
  std::vector<std::int32_t> m_cum_num_token;
  std::vector<DraftTree> m_trees;
  std::vector<std::vector<std::int32_t>> m_nodes;
  bool m_has_ids = false;
  bool m_has_drafts = false;
  EditHook m_edit_hook;
};

/// The GreedyTies of TOKKOS_TIES_*. @throws Error, of `field`, if the number is none of them
GreedyTies greedy_ties_of(const char* field, std::int32_t number);

/// The options of C; they live as long as what they point to. Null: defaults.
/// @throws Error if an array is null but not empty, or a number is none of its enumeration
StepOptions step_options_of(const tokkos_step_options* options);

}  // namespace tokkos::interop
