// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "bad_inputs/failing_allocations.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>

#include "lost_by_kokkos.hpp"

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr int far = 1000;
std::atomic<std::int64_t> left = never;  // allocations before the one that fails
std::atomic<bool> failed = false;
std::atomic<bool> stays_out = false;  // those behind it fail, too
// Allocations from the memory of the last View up to the one that failed.
std::atomic<int> since_view = far;
std::atomic<std::int64_t> live = 0;
std::optional<tokkos::test::UnreportedLeaks> unreported;

/// Notes where an allocation stands, and says whether it is to fail.
bool is_to_fail(std::size_t alignment) {
  if (left == never || (failed && !stays_out)) return false;
  if (failed) return true;
  // Nothing but Kokkos asks for an alignment.
  const bool of_view = alignment > alignof(std::max_align_t);
  since_view = of_view ? 0 : since_view + 1;
  if (left.fetch_sub(1) > 0) return false;
  failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory =
      is_to_fail(alignment) ? nullptr : std::aligned_alloc(alignment, size == 0 ? alignment : size);
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

// The forms for arrays call these. (So do those that return null, but not in a sanitizer's
// library.)
void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept
    try {
  return operator new(bytes, alignment);
} catch (const std::bad_alloc&) {
  return nullptr;
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
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}

namespace tokkos::test {

namespace {

std::int64_t lost_by_kokkos(int place) {
  const bool has_tool = Kokkos::Tools::profileLibraryLoaded();
  if (has_tool && place == 1) return 1;
  switch (has_tool ? place - 1 : place) {
    case 1:
      return 1;
    case 3:
    case 4:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

void fail_allocation(std::int64_t n) {
  failed = false;
  stays_out = false;
  since_view = far;
  left = n < 0 ? never : n;
  unreported.emplace();
}

void fail_allocations_from(std::int64_t n) {
  fail_allocation(n);
  stays_out = true;
}

FailedAllocation stop_failing() {
  unreported.reset();
  left = never;
  return {failed, failed && since_view == 0, failed ? lost_by_kokkos(since_view) : 0};
}

std::int64_t live_allocations() {
  return live;
}

}  // namespace tokkos::test
