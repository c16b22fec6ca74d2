// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tokkos {

/// A device as DLPack numbers it: DLDevice, without its header.
struct DlpackDevice {
  std::int32_t type = 1;  ///< DLDeviceType: 1 is kDLCPU, 2 kDLCUDA, 10 kDLROCM
  std::int32_t id = 0;    ///< number of the device among those of its type

  /// Whether tensors on `other` can be read and written by kernels of this device: the same one,
  /// or memory that is managed or, for hosts, pinned.
  constexpr bool reaches(const DlpackDevice& other) const {
    constexpr std::int32_t cpu = 1, cuda = 2, cuda_host = 3, rocm_host = 11, cuda_managed = 13;
    if (type == cpu) {
      return other.type == cpu || other.type == cuda_host || other.type == rocm_host;
    }
    if (type == cuda && other.type == cuda_managed) return true;
    return type == other.type && id == other.id;
  }
};

/// The device that an execution space instance works on.
template <class ExecutionSpace>
DlpackDevice dlpack_device_of(const ExecutionSpace& space) {
  if constexpr (requires { space.cuda_device(); }) {
    return {2, space.cuda_device()};
  } else if constexpr (requires { space.hip_device(); }) {
    return {10, space.hip_device()};
  } else {
    return {};
  }
}

/// What to hand a producer as `__dlpack__(stream=...)`, so that its work comes before what the
/// instance is given next: the stream as a number, 1 for CUDA's default stream and 0 for HIP's.
/// None on hosts.
template <class ExecutionSpace>
std::optional<std::int64_t> dlpack_stream_of(const ExecutionSpace& space) {
  if constexpr (requires { space.cuda_stream(); }) {
    const auto stream = reinterpret_cast<std::intptr_t>(space.cuda_stream());
    return stream == 0 ? 1 : std::int64_t{stream};
  } else if constexpr (requires { space.hip_stream(); }) {
    return std::int64_t{reinterpret_cast<std::intptr_t>(space.hip_stream())};
  } else {
    return std::nullopt;
  }
}

}  // namespace tokkos
