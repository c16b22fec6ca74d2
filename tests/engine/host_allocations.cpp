// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host_allocations.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest = 0;
std::atomic<std::int64_t> held_by_new = 0, held_by_kokkos = 0, most_held = 0;

void add(std::atomic<std::int64_t>& held, std::int64_t bytes) {
  held += bytes;
  const std::int64_t all = held_by_new + held_by_kokkos;
  std::int64_t most = most_held;
  while (all > most && !most_held.compare_exchange_weak(most, all)) continue;
}

/// Stands before what operator new gives: its size.
constexpr std::size_t prefix = alignof(std::max_align_t);
static_assert(prefix >= sizeof(std::size_t));

void release(void* memory) {
  if (memory == nullptr) return;
  void* begin = static_cast<std::byte*>(memory) - prefix;
  add(held_by_new, -static_cast<std::int64_t>(*static_cast<std::size_t*>(begin)));
  std::free(begin);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes > largest) largest = bytes;
  void* begin = bytes > SIZE_MAX - prefix ? nullptr : std::malloc(prefix + bytes);
  if (begin == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(begin) = bytes;
  add(held_by_new, static_cast<std::int64_t>(bytes));
  return static_cast<std::byte*>(begin) + prefix;
}
// A sanitizer's library has one that does not call the other.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace tokkos::test {

namespace tools = Kokkos::Tools::Experimental;

namespace {

std::int64_t at_beginning = 0, by_new_at_beginning = 0;
tools::EventSet previous;

void count_allocation(Kokkos::Profiling::SpaceHandle, const char*, const void*,
                      std::uint64_t bytes) {
  add(held_by_kokkos, static_cast<std::int64_t>(bytes));
}
void count_release(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
  add(held_by_kokkos, -static_cast<std::int64_t>(bytes));
}

}  // namespace

std::size_t largest_host_allocation() {
  return largest;
}
void forget_host_allocations() {
  largest = 0;
}

HeldMemory::HeldMemory() {
  previous = tools::get_callbacks();
  tools::set_allocate_data_callback(count_allocation);
  tools::set_deallocate_data_callback(count_release);
  by_new_at_beginning = held_by_new;
  at_beginning = held_by_new + held_by_kokkos;
  most_held = at_beginning;
}

HeldMemory::~HeldMemory() {
  tools::set_callbacks(previous);
}

std::int64_t HeldMemory::bytes() const {
  return held_by_new + held_by_kokkos - at_beginning;
}
std::int64_t HeldMemory::peak() const {
  return most_held - at_beginning;
}
std::int64_t HeldMemory::host_bytes() const {
  return held_by_new - by_new_at_beginning;
}

}  // namespace tokkos::test
