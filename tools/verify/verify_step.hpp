// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/verify/verify_input.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::tools {

enum class VerifyRule { seed, lossless };

/// What the library makes of recorded draft trees.
struct VerifyResult {
  std::vector<float> model_probs;         ///< [nodes, V], what is left after rejections; 0 where
                                          ///< a bad status ended the walk
  std::vector<std::int32_t> parent_ptr;   ///< [batch] last accepted nodes
  std::vector<std::int32_t> tree_status;  ///< [batch]
  std::vector<std::int32_t> accepted;     ///< [batch] number of accepted nodes
  std::vector<TokenId> bonus_tokens;      ///< [batch], only of rule `lossless`
};

/// Verifies the trees on Kokkos's default execution space.
VerifyResult verify_step(const VerifyInput& input, VerifyRule rule);

}  // namespace tokkos::tools
