// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tokkos::bench {

void register_probabilities();
void register_token();
void register_truncation();
void register_pipeline();
void register_bitmask();
void register_verify();
void register_mixes();
void register_steps();
void register_lm_head();  ///< where the component is built

}  // namespace tokkos::bench
