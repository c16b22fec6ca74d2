// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inputs.hpp"

#include <functional>
#include <string>

// LibTorch, where it was found when the benchmarks were configured, and only on hosts.

namespace tokkos::bench {

/// Its version, or "not found".
std::string libtorch_version();

/// softmax(logits / temperature) by LibTorch into `probabilities`, with the default execution
/// space's number of threads and nothing allocated: ready to be called again and again. Empty
/// without LibTorch.
std::function<void()> softmax_by_libtorch(const Rows<float>& logits, float temperature,
                                          const Rows<float>& probabilities);

}  // namespace tokkos::bench
