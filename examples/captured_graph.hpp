// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <stdexcept>
#include <string>

// Kokkos cannot capture what an instance is given, so that the backends' own calls stand here. They
// differ in their first letters.
#if defined(KOKKOS_ENABLE_CUDA)
#define EXAMPLE_DEVICE(call) cuda##call
#elif defined(KOKKOS_ENABLE_HIP)
#define EXAMPLE_DEVICE(call) hip##call
#endif

namespace example {

/// The launches of some work on one execution space instance as a graph, to be replayed. On a host,
/// where launches are done when they return, there is none.
template <class ExecutionSpace>
class CapturedGraph {
 public:
  static constexpr bool is_possible = false;

  template <class Work>
  CapturedGraph(const ExecutionSpace&, const Work&) {}
  void replay() const {}
};

#if defined(EXAMPLE_DEVICE)

#if defined(KOKKOS_ENABLE_CUDA)
using Device = Kokkos::Cuda;
inline cudaStream_t stream_of(const Device& space) {
  return space.cuda_stream();
}
#else
using Device = Kokkos::HIP;
inline hipStream_t stream_of(const Device& space) {
  return space.hip_stream();
}
#endif

template <>
class CapturedGraph<Device> {
 public:
  static constexpr bool is_possible = true;

  /// Runs `work`, whose launches are captured instead of begun. Each of its kernels must have run
  /// before: what the first launch of a kernel sets up belongs to no graph.
  template <class Work>
  CapturedGraph(const Device& space, const Work& work) : m_stream(stream_of(space)) {
    // Relaxed: Kokkos asks for an allocation of no bytes at every launch of teams.
    check(EXAMPLE_DEVICE(StreamBeginCapture)(m_stream, EXAMPLE_DEVICE(StreamCaptureModeRelaxed)));
    EXAMPLE_DEVICE(Graph_t) graph = nullptr;
    try {
      work();
    } catch (...) {
      static_cast<void>(EXAMPLE_DEVICE(StreamEndCapture)(m_stream, &graph));
      throw;
    }
    check(EXAMPLE_DEVICE(StreamEndCapture)(m_stream, &graph));
    check(EXAMPLE_DEVICE(GraphInstantiateWithFlags)(&m_graph, graph, 0));
    check(EXAMPLE_DEVICE(GraphDestroy)(graph));
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() { static_cast<void>(EXAMPLE_DEVICE(GraphExecDestroy)(m_graph)); }

  /// Launches all of it again, on the instance that it was captured on.
  void replay() const { check(EXAMPLE_DEVICE(GraphLaunch)(m_graph, m_stream)); }

 private:
  static void check(EXAMPLE_DEVICE(Error_t) result) {
    if (result == EXAMPLE_DEVICE(Success)) return;
    throw std::runtime_error(std::string("graph: ") + EXAMPLE_DEVICE(GetErrorString)(result));
  }

  EXAMPLE_DEVICE(Stream_t) m_stream;
  EXAMPLE_DEVICE(GraphExec_t) m_graph = nullptr;
};

#undef EXAMPLE_DEVICE
#endif

}  // namespace example
