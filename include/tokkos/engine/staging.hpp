// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/owned_view.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/engine/ordering.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tokkos {

/// Bytes to hold for `bytes` bytes to stage: a sixteenth of the power of two below them is the
/// step, a page at least. So no more than a sixteenth lies idle, where doubling idles up to a half,
/// and a step that grows allocates at most sixteen times until it has doubled.
constexpr std::size_t staging_room(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t step = std::max(page, std::bit_floor(bytes) / 16);
  return (bytes + step - 1) / step * step;
}

/// The only way from host arrays to the device: one blob that is filled on the host and uploaded by
/// one copy. Where the host can write device memory, blob and upload are the same bytes and nothing
/// is copied. Memory grows with what is staged and is kept; it never depends on rows x vocabulary.
///
/// Use: begin, add for each array, upload, then `on_device` for each array, and end behind the last
/// kernel that reads them. An upload on one instance and kernels on another need `precede` between.
template <class ExecutionSpace>
class Staging {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;
  static constexpr bool needs_copy =
      !Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, memory_space>::accessible;
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
  using mirror_space =
      std::conditional_t<needs_copy, Kokkos::SharedHostPinnedSpace, Kokkos::HostSpace>;
#else
  using mirror_space = Kokkos::HostSpace;
#endif

  /// Place of an array in the blob.
  template <class T>
  struct Slot {
    std::size_t offset = 0;
    std::size_t count = 0;
  };

  /// Starts an empty blob with room for `bytes` bytes (arrays are aligned to 64 bytes each). Waits
  /// until what may still read the last one is done: the kernels before `end`, or all of `space`
  /// where there was no end.
  void begin(const ExecutionSpace& space, std::size_t bytes);

  /// Reserves an array of `count` elements; `host` fills it.
  template <class T>
  Slot<T> add(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reserve(count * sizeof(T)), count};
  }

  /// Room that `count` elements of T take in the blob.
  template <class T>
  static constexpr std::size_t room(std::size_t count) {
    return (count * sizeof(T) + alignment - 1) / alignment * alignment;
  }

  template <class T>
  std::span<T> host(Slot<T> slot) const {
    return {reinterpret_cast<T*>(m_mirror.get().data() + slot.offset), slot.count};
  }

  /// Copies what was added to the device, asynchronously on `space`.
  void upload(const ExecutionSpace& space);

  /// Kernels that `space` is given from now on begin after the upload.
  void precede(const ExecutionSpace& space) const {
    m_uploaded.precede(space);
  }

  /// The last kernel that reads the blob was given to `space`.
  void end(const ExecutionSpace& space);

  /// Copies an array back from the device to `host(slot)` and waits for it and all before it.
  template <class T>
  void download(const ExecutionSpace& space, Slot<T> slot) {
    download(space, slot.offset, slot.count * sizeof(T));
  }

  template <class T>
  Vector<T, memory_space> on_device(Slot<T> slot) const {
    if (slot.count == 0) return {};
    return vector_of<T, memory_space>(reinterpret_cast<T*>(m_blob.get().data() + slot.offset),
                                      slot.count);
  }

  /// The array as [count / columns, columns].
  template <class T>
  Matrix<T, memory_space> on_device(Slot<T> slot, std::size_t columns) const {
    if (slot.count == 0) return {};
    const std::size_t rows = slot.count / columns;
    return Matrix<T, memory_space>(reinterpret_cast<T*>(m_blob.get().data() + slot.offset),
                                   Kokkos::LayoutStride(rows, columns, columns, 1));
  }

  /// Bytes staged since `begin`.
  std::size_t size() const {
    return m_size;
  }
  /// Bytes held, host and device together.
  std::size_t capacity() const;

 private:
  static constexpr std::size_t alignment = 64;
  std::size_t reserve(std::size_t bytes);
  void download(const ExecutionSpace& space, std::size_t offset, std::size_t bytes);

  using Blob = Kokkos::View<std::byte*, memory_space>;
  using Mirror = Kokkos::View<std::byte*, mirror_space>;
  OwnedView<Blob> m_blob;
  OwnedView<Mirror> m_mirror;  // of host backends: the blob itself
  std::size_t m_size = 0;
  Ordering<ExecutionSpace> m_uploaded;
  Ordering<ExecutionSpace> m_used;
  bool m_open = false;  // begun and not ended
};

}  // namespace tokkos
