// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host_allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> largest = 0;
}

void* operator new(std::size_t bytes) {
  if (bytes > largest) largest = bytes;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tokkos::test {

std::size_t largest_host_allocation() {
  return largest;
}
void forget_host_allocations() {
  largest = 0;
}

}  // namespace tokkos::test
