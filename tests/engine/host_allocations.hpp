// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tokkos::test {

/// The largest number of bytes that operator new was asked for since forget_host_allocations, so
/// that a std::vector of the wrong size does not go unnoticed.
std::size_t largest_host_allocation();
void forget_host_allocations();

}  // namespace tokkos::test
