// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/ordering.hpp>

#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"

#include <Kokkos_Core.hpp>

#include <optional>
#include <string>

// Kokkos offers no way for one instance to wait for another but a fence of the host, so that
// devices are asked here. Host backends need none of it.

namespace tokkos {

namespace {

template <class ExecutionSpace>
struct Events {
  static bool record(void*&, const ExecutionSpace&) { return true; }
  static void precede(void*, const ExecutionSpace&) {}
  static void wait(void*) {}
  static void destroy(void*) {}
};

#if defined(KOKKOS_ENABLE_CUDA)  // its events
template <>
struct Events<Kokkos::Cuda> {
  static void check(cudaError_t result, const char* call) {
    if (result == cudaSuccess) return;
    throw Error(call, std::nullopt, cudaGetErrorString(result), "success");
  }
  static bool is_captured(const Kokkos::Cuda& space) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(space.cuda_stream(), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }
  static bool record(void*& event, const Kokkos::Cuda& space) {
    if (event == nullptr) {
      cudaEvent_t made = nullptr;
      check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreateWithFlags");
      event = made;
    }
    // In a graph an event that others wait for, or that others record, is a node: each replay
    // records it, or waits for what was recorded last.
    const unsigned flags = is_captured(space) ? cudaEventRecordExternal : cudaEventRecordDefault;
    check(cudaEventRecordWithFlags(static_cast<cudaEvent_t>(event), space.cuda_stream(), flags),
          "cudaEventRecordWithFlags");
    return true;
  }
  static void precede(void* event, const Kokkos::Cuda& space) {
    const unsigned flags = is_captured(space) ? cudaEventWaitExternal : cudaEventWaitDefault;
    check(cudaStreamWaitEvent(space.cuda_stream(), static_cast<cudaEvent_t>(event), flags),
          "cudaStreamWaitEvent");
  }
  static void wait(void* event) {
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "cudaEventSynchronize");
  }
  static void destroy(void* event) {
    static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
  }
};
#endif

#if defined(KOKKOS_ENABLE_HIP)  // its events
template <>
struct Events<Kokkos::HIP> {
  static void check(hipError_t result, const char* call) {
    if (result == hipSuccess) return;
    throw Error(call, std::nullopt, hipGetErrorString(result), "success");
  }
  static bool is_captured(const Kokkos::HIP& space) {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    check(hipStreamIsCapturing(space.hip_stream(), &status), "hipStreamIsCapturing");
    return status != hipStreamCaptureStatusNone;
  }
  // Not every version of HIP can make events of others nodes of a graph: none is recorded there,
  // and what the graph is to wait for is waited for here.
  static bool record(void*& event, const Kokkos::HIP& space) {
    if (is_captured(space)) return false;
    if (event == nullptr) {
      hipEvent_t made = nullptr;
      check(hipEventCreateWithFlags(&made, hipEventDisableTiming), "hipEventCreateWithFlags");
      event = made;
    }
    check(hipEventRecord(static_cast<hipEvent_t>(event), space.hip_stream()), "hipEventRecord");
    return true;
  }
  static void precede(void* event, const Kokkos::HIP& space) {
    if (is_captured(space)) return wait(event);
    check(hipStreamWaitEvent(space.hip_stream(), static_cast<hipEvent_t>(event), 0),
          "hipStreamWaitEvent");
  }
  static void wait(void* event) {
    check(hipEventSynchronize(static_cast<hipEvent_t>(event)), "hipEventSynchronize");
  }
  static void destroy(void* event) {
    static_cast<void>(hipEventDestroy(static_cast<hipEvent_t>(event)));
  }
};
#endif

}  // namespace

template <class ExecutionSpace>
Ordering<ExecutionSpace>::~Ordering() {
  if (m_event != nullptr) Events<ExecutionSpace>::destroy(m_event);
}

template <class ExecutionSpace>
bool Ordering<ExecutionSpace>::record(const ExecutionSpace& space) {
  return Events<ExecutionSpace>::record(m_event, space);
}

template <class ExecutionSpace>
void Ordering<ExecutionSpace>::precede(const ExecutionSpace& space) const {
  if (m_event != nullptr) Events<ExecutionSpace>::precede(m_event, space);
}

template <class ExecutionSpace>
void Ordering<ExecutionSpace>::wait() const {
  if (m_event != nullptr) Events<ExecutionSpace>::wait(m_event);
}

template <class ExecutionSpace>
ExecutionSpace upload_instance(const ExecutionSpace& space) {
  if constexpr (runs_on_host<ExecutionSpace>) {
    return space;
  } else {
    return Kokkos::Experimental::partition_space(space, 1).front();
  }
}

#define TOKKOS_INSTANTIATE(Space) \
  template class Ordering<Space>; \
  template Space upload_instance<Space>(const Space&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
