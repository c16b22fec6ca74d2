// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/target_model.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace tokkos::tools {

/// Throws unless this program was built with the LM head.
void require_lm_head();

/// Batches of training that make_lm_head_target does.
std::int64_t lm_head_batches(std::size_t text_length);

/// Trains a neural model on a text.
/// @param max_rows most rows of a step
/// @param after_each called after each batch
std::shared_ptr<TargetModel<Kokkos::DefaultExecutionSpace>> make_lm_head_target(
    std::span<const TokenId> text, TokenId vocabulary, std::uint64_t seed, std::int64_t max_rows,
    const std::function<void()>& after_each);

}  // namespace tokkos::tools
