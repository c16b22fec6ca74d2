// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

/// Records what Kokkos is asked for while it lives. One at a time.
class KokkosEvents {
 public:
  KokkosEvents();
  ~KokkosEvents();
  KokkosEvents(const KokkosEvents&) = delete;
  KokkosEvents& operator=(const KokkosEvents&) = delete;

  struct Allocation {
    std::string label;
    std::uint64_t bytes;
  };
  const std::vector<std::string>& launches() const { return m_launches; }
  /// The instance that each launch went to, as Kokkos::Tools::Experimental::device_id numbers them:
  /// on hosts all instances of a backend have one number, on devices each has its own.
  const std::vector<std::uint32_t>& launch_instances() const { return m_instances; }
  /// Launches that no region was open around.
  const std::vector<std::string>& launches_outside_regions() const { return m_outside; }
  const std::vector<Allocation>& allocations() const { return m_allocations; }
  const std::vector<std::string>& regions() const { return m_regions; }
  /// Fences of the host, by their labels, and copies between memories.
  const std::vector<std::string>& fences() const { return m_fences; }
  const std::vector<Allocation>& copies() const { return m_copies; }
  std::uint64_t largest_allocation() const;

 private:
  static KokkosEvents* s_recorder;
  static void record_launch(const char* name, std::uint32_t device, std::uint64_t* id);
  static void record_allocation(Kokkos::Profiling::SpaceHandle space, const char* label,
                                const void* pointer, std::uint64_t bytes);
  static void record_region(const char* name);
  static void record_end_of_region();
  static void record_fence(const char* name, std::uint32_t device, std::uint64_t* id);
  static void record_copy(Kokkos::Profiling::SpaceHandle to, const char* label, const void* target,
                          Kokkos::Profiling::SpaceHandle from, const char* from_label,
                          const void* source, std::uint64_t bytes);

  Kokkos::Tools::Experimental::EventSet m_previous;
  std::vector<std::string> m_launches, m_outside;
  std::vector<std::uint32_t> m_instances;
  int m_open_regions = 0;
  std::vector<Allocation> m_allocations;
  std::vector<std::string> m_regions;
  std::vector<std::string> m_fences;
  std::vector<Allocation> m_copies;
};

}  // namespace tokkos::test
