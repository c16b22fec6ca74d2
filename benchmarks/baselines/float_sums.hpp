// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inputs.hpp"

namespace tokkos::bench {

/// The library's softmax by rows on a host, as it would be with sums in float32: what exact sums
/// cost. One thread per row, chunk by chunk; no masks.
void softmax_with_float_sums(const Space& space, const Rows<float>& logits,
                             const Numbers<float>& temperature, const Rows<float>& probabilities);

}  // namespace tokkos::bench
