// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::tools {

/// Recorded draft trees, in the arrays of batch_spec_verify.
struct VerifyInput {
  std::int64_t nodes = 0;
  std::int64_t vocabulary = 0;
  std::vector<float> draft_probs;  ///< [nodes, vocabulary]
  std::vector<float> model_probs;  ///< [nodes, vocabulary]
  std::vector<TokenId> draft_tokens;
  std::vector<std::int32_t> first_child;
  std::vector<std::int32_t> next_sibling;
  std::vector<float> uniform_samples;
  std::vector<std::int32_t> parent_ptr;  ///< [batch] roots
  std::vector<float> bonus_uniforms;     ///< [batch], Philox if the file has none
};

/// Reads and checks them.
/// @throws Error that names file, tensor, element, value and what was expected
VerifyInput read_verify_input(const std::string& file);

}  // namespace tokkos::tools
