// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/step_requests.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace tokkos {

/// Each row's temperature: that of its request.
inline void fill_row_temperatures(const StepRequests& requests, std::span<float> temperatures) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto first = static_cast<std::size_t>(requests.first_row(i));
    const auto count = static_cast<std::size_t>(requests.end_row(i)) - first;
    std::ranges::fill(temperatures.subspan(first, count),
                      requests.generation_configs[i].temperature);
  }
}

}  // namespace tokkos
