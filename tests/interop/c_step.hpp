// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include "interop/c_objects.hpp"
#include "request/owned_step.hpp"

#include <deque>
#include <vector>

namespace tokkos::test {

/// The callbacks of a mask of C++.
tokkos_mask_callbacks callbacks_of(VocabularyMask& mask);

/// A step of C++ as one of C, with histories and masks of its own. Masks call those of the step,
/// and arrays are the step's too.
class StepOfC {
 public:
  explicit StepOfC(const OwnedStep& owned);
  explicit StepOfC(OwnedStep&&) = delete;
  const tokkos_step* get() const { return &m_step; }
  tokkos_request& request(std::size_t i) { return m_requests[i]; }
  tokkos_generation_config& config(std::size_t i) { return m_configs[i]; }
  tokkos_draft_tree& tree(std::size_t i) { return m_trees[i]; }
  tokkos_history* history(std::size_t i) const { return m_histories[i].get(); }

 private:
  void add_config(const GenerationConfig& config);
  void add_state(const SequenceState& state);

  std::deque<std::vector<tokkos_token_bias>> m_biases;
  std::deque<std::vector<tokkos_token_list>> m_bad_words;
  std::deque<tokkos_generation_config> m_configs;
  std::deque<tokkos_draft_tree> m_trees;
  std::deque<History> m_histories;
  std::deque<Mask> m_masks;
  std::vector<tokkos_request> m_requests;
  tokkos_step m_step;
};

}  // namespace tokkos::test
