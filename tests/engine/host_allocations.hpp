// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tokkos::test {

/// The largest number of bytes that operator new was asked for since forget_host_allocations, so
/// that a std::vector of the wrong size does not go unnoticed.
std::size_t largest_host_allocation();
void forget_host_allocations();

/// Counts the memory that is allocated and not freed while it lives: by operator new, and by Kokkos
/// in every memory space. (Views of the host are aligned, which is another operator new: nothing is
/// counted twice.) One at a time, and none beside a KokkosEvents.
class HeldMemory {
 public:
  HeldMemory();
  ~HeldMemory();
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  /// Bytes held now beyond those at the beginning, and the most that were held at once.
  std::int64_t bytes() const;
  std::int64_t peak() const;
  /// The part of bytes() that operator new gave.
  std::int64_t host_bytes() const;
};

}  // namespace tokkos::test
