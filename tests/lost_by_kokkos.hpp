// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

// There if the program has a leak sanitizer.
extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
}

namespace tokkos::test {

/// In its debug mode Kokkos keeps a list of all memory of Views, from which a View that could not
/// be made is not taken: the next one reads memory that is free. Tests that let Kokkos's own
/// allocations fail skip then.
#ifdef KOKKOS_ENABLE_DEBUG
inline constexpr bool kokkos_survives_failing_allocations = false;
#else
inline constexpr bool kokkos_survives_failing_allocations = true;
#endif

/// What is allocated while it lives is left out of a leak sanitizer's report: Kokkos loses memory
/// where a View cannot be made.
class UnreportedLeaks {
 public:
  UnreportedLeaks() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  ~UnreportedLeaks() {
    if (__lsan_enable != nullptr) __lsan_enable();
  }
  UnreportedLeaks(const UnreportedLeaks&) = delete;
  UnreportedLeaks& operator=(const UnreportedLeaks&) = delete;
};

}  // namespace tokkos::test
