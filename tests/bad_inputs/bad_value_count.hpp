// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::test {

/// Counts a bad value that is given to the library; the sum is printed when the program ends.
void count_bad_value(std::int64_t values = 1);

}  // namespace tokkos::test
