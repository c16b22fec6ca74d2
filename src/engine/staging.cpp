// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/staging.hpp>

#include "kernels/instantiate.hpp"

#include <string>
#include <utility>

namespace tokkos {

template <class ExecutionSpace>
void Staging<ExecutionSpace>::begin(const ExecutionSpace& space, std::size_t bytes) {
  if constexpr (needs_copy) {
    m_uploaded.wait();
    if (m_open) {
      space.fence("tokkos::staging::wait");
    } else {
      m_used.wait();
    }
  }
  m_open = true;
  if (bytes > m_mirror.get().size()) {
    const std::size_t room = staging_room(bytes);
    m_size = 0;
    m_blob = {};  // not held beside what takes their place
    m_mirror = {};
    const Mirror mirror(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::staging::mirror"),
                        room);
    if constexpr (needs_copy) {
      const Blob blob(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::staging::blob"),
                      room);
      m_blob = OwnedView<Blob>(blob);
    } else {
      m_blob = OwnedView<Blob>(mirror);
    }
    m_mirror = OwnedView<Mirror>(mirror);
  }
  m_size = 0;
}

template <class ExecutionSpace>
std::size_t Staging<ExecutionSpace>::reserve(std::size_t bytes) {
  const std::size_t offset = m_size;
  const std::size_t end = offset + (bytes + alignment - 1) / alignment * alignment;
  if (end > m_mirror.get().size()) {
    throw Error("staging", std::nullopt, std::to_string(end) + " bytes",
                "at most the " + std::to_string(m_mirror.get().size()) + " bytes that were begun");
  }
  m_size = end;
  return offset;
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::upload(const ExecutionSpace& space) {
  if constexpr (needs_copy) {
    if (m_size == 0) return;
    const auto range = std::pair<std::size_t, std::size_t>(0, m_size);
    Kokkos::deep_copy(space, Kokkos::subview(m_blob.get(), range),
                      Kokkos::subview(m_mirror.get(), range));
    m_uploaded.record(space);
  }
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::end(const ExecutionSpace& space) {
  m_open = false;
  if constexpr (needs_copy) m_open = !m_used.record(space);
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::download(const ExecutionSpace& space, std::size_t offset,
                                       std::size_t bytes) {
  if constexpr (needs_copy) {
    const auto range = std::pair<std::size_t, std::size_t>(offset, offset + bytes);
    Kokkos::deep_copy(space, Kokkos::subview(m_mirror.get(), range),
                      Kokkos::subview(m_blob.get(), range));
  }
  space.fence("tokkos::staging::download");
  m_open = false;  // nothing reads the blob any more
}

template <class ExecutionSpace>
std::size_t Staging<ExecutionSpace>::capacity() const {
  return m_mirror.get().size() + (needs_copy ? m_blob.get().size() : 0);
}

#define TOKKOS_INSTANTIATE(Space) template class Staging<Space>;
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
