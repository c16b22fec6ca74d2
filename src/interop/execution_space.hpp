// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/core/error.hpp>

#include "interop/engine_parts.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tokkos::interop {

/// TOKKOS_BACKEND_* of an execution space. Spaces are told apart by what they have, so that no
/// backend has to be named to the preprocessor.
template <class ExecutionSpace>
std::int32_t backend_number() {
  const std::string_view name = ExecutionSpace::name();
  if (name == "Cuda") return TOKKOS_BACKEND_CUDA;
  if (name == "HIP") return TOKKOS_BACKEND_HIP;
  return name == "OpenMP" ? TOKKOS_BACKEND_OPENMP : TOKKOS_BACKEND_SERIAL;
}

template <class ExecutionSpace>
concept HasStream = requires(const ExecutionSpace& space) {
  space.cuda_stream();
}
|| requires(const ExecutionSpace& space) {
  space.hip_stream();
};

/// The instance on the caller's stream, or Kokkos's own.
/// @throws Error if a stream is given to an execution space that has none
template <class ExecutionSpace>
ExecutionSpace instance_of(const tokkos_context_options& options) {
  if (options.has_stream == 0) {
    if (options.stream != nullptr) {
      throw Error("has_stream", std::nullopt, "0, with a stream", "1, or no stream");
    }
    return ExecutionSpace();
  }
  if constexpr (requires(const ExecutionSpace& space) { space.cuda_stream(); }) {
    return ExecutionSpace(static_cast<decltype(ExecutionSpace().cuda_stream())>(options.stream));
  } else if constexpr (requires(const ExecutionSpace& space) { space.hip_stream(); }) {
    return ExecutionSpace(static_cast<decltype(ExecutionSpace().hip_stream())>(options.stream));
  } else {
    throw Error("has_stream", std::nullopt, to_text(options.has_stream),
                "0: a host backend has no streams");
  }
}

}  // namespace tokkos::interop
