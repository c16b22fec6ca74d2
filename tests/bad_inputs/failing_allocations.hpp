// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::test {

/// From now on the n-th allocation of this program (from 0) fails, once; n < 0: none. On a host
/// backend that is memory of Views as well. What is allocated until stop_failing is left out of a
/// leak sanitizer's report: tests count it.
void fail_allocation(std::int64_t n);

/// The same of all allocations from the n-th on. Not for what makes or frees Views: Kokkos does not
/// survive that.
void fail_allocations_from(std::int64_t n);

/// What became of the allocation that was to fail.
struct FailedAllocation {
  bool happened = false;
  bool of_view = false;  ///< It was memory of a View.
  /// Allocations that Kokkos 5.0.2 never gives back because of it. While it makes a View, it holds
  /// first the memory, then the record of it, by bare pointers, so that they are lost with what
  /// belongs to them where one of the next allocations fails. Counted from the memory on, on a host
  /// backend without a tool (with one, a copy of the label for it comes before, which loses the
  /// memory, too):
  ///   1. SharedAllocationRecord::m_label: the memory is lost
  ///   2. m_destroy's execution space instance: nothing, the base class gives the memory back
  ///   3. make_shared_allocation_record's std::string{label}: the record, with its memory, label
  ///      and instance
  ///   4. its functor's execution space instance: the same four
  /// (core/src: impl/Kokkos_SharedAlloc.cpp, View/Kokkos_ViewAlloc.hpp). Nothing else is lost.
  std::int64_t lost_by_kokkos = 0;
};

/// Lets every allocation succeed again. To be called while the Kokkos tool of the call, if there
/// was one, is still set.
FailedAllocation stop_failing();

/// Allocations that were made and not given back yet.
std::int64_t live_allocations();

}  // namespace tokkos::test
