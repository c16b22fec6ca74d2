// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace tokkos {

/// A point in the work of an execution space instance for which another instance or the host can
/// wait: an event of CUDA or HIP. On host backends every launch is done when it returns, and
/// nothing is ever waited for.
template <class ExecutionSpace>
class Ordering {
 public:
  Ordering() = default;
  ~Ordering();
  /// Moves; what is left orders nothing.
  Ordering(Ordering&& other) noexcept : m_event(std::exchange(other.m_event, nullptr)) {}
  /// Moves; what is left orders nothing.
  Ordering& operator=(Ordering&& other) noexcept {
    std::swap(m_event, other.m_event);
    return *this;
  }
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;

  /// The point is behind all that `space` was given so far. While the work of `space` is captured
  /// in a graph, every replay reaches the point anew; false where a graph cannot (HIP).
  bool record(const ExecutionSpace& space);

  /// What `space` is given from now on begins after the point. Does not wait on the host, unless
  /// the work of `space` is captured where a graph cannot wait (HIP).
  void precede(const ExecutionSpace& space) const;

  /// Waits on the host until the point is reached; at once if none was recorded.
  void wait() const;

 private:
  void* m_event = nullptr;
};

/// An instance beside `space` on which uploads run while `space` works: a stream of its own on a
/// device, `space` itself on a host.
template <class ExecutionSpace>
ExecutionSpace upload_instance(const ExecutionSpace& space);

}  // namespace tokkos
