// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace tokkos::bench {

using Space = Kokkos::DefaultExecutionSpace;

/// Seconds that `work` takes on `space`, fenced on both sides.
double seconds_of(const Space& space, const std::function<void()>& work);

/// The median; 0 of nothing.
double median(std::vector<double> values);

/// How often a benchmark over this many elements runs: at least 11 times, more where one run is
/// short.
std::int64_t iterations_for(std::int64_t elements);

}  // namespace tokkos::bench
