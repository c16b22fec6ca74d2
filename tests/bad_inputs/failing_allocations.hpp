// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::test {

/// From now on the n-th allocation of this program (from 0) fails, once; n < 0: none. On a host
/// backend that is memory of Views as well.
void fail_allocation(std::int64_t n);

/// What became of the allocation that was to fail.
struct FailedAllocation {
  bool happened = false;
  /// It was one of the four right behind the memory of a View: there Kokkos 5.0.2 makes what
  /// belongs to the View, copies of its label for one, and where that fails, it loses the View.
  bool behind_view = false;
};

/// Lets every allocation succeed again.
FailedAllocation stop_failing();

/// Allocations that were made and not given back yet.
std::int64_t live_allocations();

}  // namespace tokkos::test
