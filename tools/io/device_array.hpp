// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <string>
#include <vector>

namespace tokkos::tools {

/// An array in the memory of Kokkos's default execution space.
template <class T>
using DeviceArray = Kokkos::View<T*, Kokkos::DefaultExecutionSpace::memory_space>;

template <class T>
using UnmanagedHostArray = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// A copy of the values on the device.
template <class T>
DeviceArray<T> to_device(const std::string& label, const std::vector<T>& values) {
  const DeviceArray<T> device(Kokkos::view_alloc(label, Kokkos::WithoutInitializing),
                              values.size());
  Kokkos::deep_copy(device, UnmanagedHostArray<const T>(values.data(), values.size()));
  return device;
}

/// A copy of the values on the host; waits for the device.
template <class T>
std::vector<T> to_host(const DeviceArray<T>& device) {
  std::vector<T> values(device.extent(0));
  Kokkos::deep_copy(UnmanagedHostArray<T>(values.data(), values.size()), device);
  return values;
}

}  // namespace tokkos::tools
