// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include <algorithm>
#include <chrono>

namespace tokkos::bench {

double seconds_of(const Space& space, const std::function<void()>& work) {
  space.fence("tokkos::bench::before");
  const auto begin = std::chrono::steady_clock::now();
  work();
  space.fence("tokkos::bench::after");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t iterations_for(std::int64_t elements) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 31) / elements, 11, 1000);
}

}  // namespace tokkos::bench
