// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/engine/staging.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// How Staging waits, grows and copies: the members that staging.cpp instantiates.

namespace tokkos {

/// Copies bytes between host and device, asynchronously on `space`.
template <class ExecutionSpace, class To, class From>
void copy_bytes(const ExecutionSpace& space, const To& to, const From& from) {
  Kokkos::deep_copy(space, to, from);
}

template <class ExecutionSpace>
typename Staging<ExecutionSpace>::Mirror& Staging<ExecutionSpace>::mirror() {
  if (!m_mirror) m_mirror = std::make_shared<Mirror>();
  return *m_mirror;
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::share_mirror(Staging& other) {
  if constexpr (needs_copy) {
    other.mirror();
    m_mirror = other.m_mirror;
    m_shares_mirror = true;
  }
}

template <class ExecutionSpace>
std::byte* Staging<ExecutionSpace>::host_bytes() const {
  if constexpr (needs_copy) {
    return m_mirror ? m_mirror->bytes.get().data() : nullptr;
  } else {
    return m_blob.get().data();
  }
}

template <class ExecutionSpace>
bool Staging<ExecutionSpace>::has_room(std::size_t bytes) {
  if constexpr (needs_copy) {
    if (bytes > mirror().bytes.get().size()) return false;
  }
  return bytes <= m_blob.get().size();
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::wait_until_unused(const ExecutionSpace& space) {
  if constexpr (needs_copy) {
    mirror().uploaded.wait();
    if (m_open) {
      space.fence("tokkos::staging::wait");
    } else {
      m_used.wait();
    }
  }
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::grow(std::size_t bytes) {
  const std::size_t room = staging_room(bytes);
  m_size = 0;
  if (bytes > m_blob.get().size()) {
    m_blob = {};  // not held beside what takes its place
    m_blob = OwnedView<Blob>(
        Blob(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::staging::blob"), room));
  }
  if constexpr (needs_copy) {
    if (bytes > mirror().bytes.get().size()) {
      using View = typename Mirror::View;
      mirror().bytes = {};
      mirror().bytes = OwnedView<View>(
          View(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::staging::mirror"), room));
    }
  }
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::begin(const ExecutionSpace& space, std::size_t bytes) {
  wait_until_unused(space);
  m_open = true;
  if (!has_room(bytes)) grow(bytes);
  m_size = 0;
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::make_room(const ExecutionSpace& space, std::size_t bytes) {
  if (has_room(bytes)) return;
  wait_until_unused(space);
  grow(bytes);
}

template <class ExecutionSpace>
std::size_t Staging<ExecutionSpace>::reserve(std::size_t bytes) {
  const std::size_t offset = m_size;
  const std::size_t end = offset + (bytes + alignment - 1) / alignment * alignment;
  if (end > m_blob.get().size()) {
    throw Error("staging", std::nullopt, std::to_string(end) + " bytes",
                "at most the " + std::to_string(m_blob.get().size()) + " bytes that were begun");
  }
  m_size = end;
  return offset;
}

template <class ExecutionSpace>
void Staging<ExecutionSpace>::upload(const ExecutionSpace& space) {
  if constexpr (needs_copy) {
    if (m_size == 0) return;
    const auto range = std::pair<std::size_t, std::size_t>(0, m_size);
    copy_bytes(space, Kokkos::subview(m_blob.get(), range),
               Kokkos::subview(mirror().bytes.get(), range));
    m_uploaded.record(space);
    mirror().uploaded.record(space);
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
    copy_bytes(space, Kokkos::subview(mirror().bytes.get(), range),
               Kokkos::subview(m_blob.get(), range));
  }
  space.fence("tokkos::staging::download");
  m_open = false;  // nothing reads the blob any more
}

template <class ExecutionSpace>
std::size_t Staging<ExecutionSpace>::capacity() const {
  const bool has_mirror = needs_copy && m_mirror && !m_shares_mirror;
  return m_blob.get().size() + (has_mirror ? m_mirror->bytes.get().size() : 0);
}

}  // namespace tokkos
