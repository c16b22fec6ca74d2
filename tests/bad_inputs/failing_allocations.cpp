// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "bad_inputs/failing_allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> left = never;  // allocations before the one that fails
std::atomic<bool> failed = false;
std::atomic<int> since_view =
    0;  // allocations since the memory of a View, up to the one that fails
std::atomic<std::int64_t> live = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  const bool fails = left != never && left.fetch_sub(1) == 0;
  if (fails) failed = true;
  // Nothing but Kokkos asks for an alignment.
  if (!failed || fails) since_view = alignment > alignof(std::max_align_t) ? 0 : since_view + 1;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = fails ? nullptr : std::aligned_alloc(alignment, size == 0 ? alignment : size);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  --live;
  std::free(memory);
}

}  // namespace

// The forms for arrays, and those that return null, call these.
void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace tokkos::test {

void fail_allocation(std::int64_t n) {
  failed = false;
  since_view = 5;
  left = n;
}
FailedAllocation stop_failing() {
  left = never;
  return {failed, failed && since_view >= 1 && since_view <= 4};
}
std::int64_t live_allocations() {
  return live;
}

}  // namespace tokkos::test
