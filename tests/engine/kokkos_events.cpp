// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/kokkos_events.hpp"

#include <algorithm>
#include <string_view>

namespace tokkos::test {

namespace tools = Kokkos::Tools::Experimental;

KokkosEvents* KokkosEvents::s_recorder = nullptr;

KokkosEvents::KokkosEvents() : m_previous(tools::get_callbacks()) {
  s_recorder = this;
  tools::set_begin_parallel_for_callback(record_launch);
  tools::set_begin_parallel_reduce_callback(record_launch);
  tools::set_begin_parallel_scan_callback(record_launch);
  tools::set_allocate_data_callback(record_allocation);
  tools::set_push_region_callback(record_region);
  tools::set_pop_region_callback(record_end_of_region);
  tools::set_begin_fence_callback(record_fence);
  tools::set_begin_deep_copy_callback(record_copy);
}

KokkosEvents::~KokkosEvents() {
  tools::set_callbacks(m_previous);
  s_recorder = nullptr;
}

std::uint64_t KokkosEvents::largest_allocation() const {
  std::uint64_t largest = 0;
  for (const Allocation& allocation : m_allocations) largest = std::max(largest, allocation.bytes);
  return largest;
}

void KokkosEvents::record_launch(const char* name, std::uint32_t instance, std::uint64_t* id) {
  *id = 0;
  s_recorder->m_launches.emplace_back(name);
  s_recorder->m_instances.push_back(instance);
  if (s_recorder->m_open_regions == 0) s_recorder->m_outside.emplace_back(name);
}

void KokkosEvents::record_allocation(Kokkos::Profiling::SpaceHandle, const char* label, const void*,
                                     std::uint64_t bytes) {
  // On devices Kokkos asks for no bytes of scratch memory at every launch of teams.
  if (bytes > 0) s_recorder->m_allocations.push_back({label, bytes});
}

void KokkosEvents::record_fence(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  // Kokkos fences before it calls a tool, such as this recorder.
  if (!std::string_view(name).starts_with("Kokkos::Tools::"))
    s_recorder->m_fences.emplace_back(name);
}

void KokkosEvents::record_copy(Kokkos::Profiling::SpaceHandle, const char* label, const void*,
                               Kokkos::Profiling::SpaceHandle, const char*, const void*,
                               std::uint64_t bytes) {
  s_recorder->m_copies.push_back({label, bytes});
}

void KokkosEvents::record_region(const char* name) {
  s_recorder->m_regions.emplace_back(name);
  ++s_recorder->m_open_regions;
}

void KokkosEvents::record_end_of_region() {
  --s_recorder->m_open_regions;
}

}  // namespace tokkos::test
