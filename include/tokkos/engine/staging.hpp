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
#include <memory>
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

/// Whether what an execution space reads is staged in memory of the host first, because the host
/// cannot write to that of the space.
template <class ExecutionSpace>
inline constexpr bool needs_upload =
    !Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                                MemoryOf<ExecutionSpace>>::accessible;

/// The only way from host arrays to the device: one blob that is filled on the host and uploaded by
/// one copy. Where the host can write device memory, blob and upload are the same bytes and nothing
/// is copied. Memory grows with what is staged and is kept; it never depends on rows x vocabulary.
///
/// Use: begin, add for each array, upload, then `on_device` for each array, and end behind the last
/// kernel that reads them. An upload on one instance and kernels on another need `precede` between.
/// Blobs that take turns share the memory through which they are filled: no kernel reads that, so
/// that it is free again when the upload is done.
template <class ExecutionSpace>
class Staging {
 public:
  /// Where the arrays of the device lie.
  using memory_space = MemoryOf<ExecutionSpace>;
  /// Whether the mirror and the device are different memories.
  static constexpr bool needs_copy = needs_upload<ExecutionSpace>;
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
  /// Where the mirror lies: pinned where that can be had.
  using mirror_space =
      std::conditional_t<needs_copy, Kokkos::SharedHostPinnedSpace, Kokkos::HostSpace>;
#else
  /// Where the mirror lies: pinned where that can be had.
  using mirror_space = Kokkos::HostSpace;
#endif

  /// Place of an array in the blob.
  template <class T>
  struct Slot {
    std::size_t offset = 0;  ///< in bytes
    std::size_t count = 0;   ///< of elements
  };

  /// Fills this blob through the mirror of `other` from now on. Before anything is staged.
  void share_mirror(Staging& other);

  /// Starts an empty blob with room for `bytes` bytes (arrays are aligned to 64 bytes each). Waits
  /// until what may still read the last one is done: the kernels before `end`, or all of `space`
  /// where there was no end; and, until the mirror is free, for the last upload from it.
  void begin(const ExecutionSpace& space, std::size_t bytes);

  /// Makes room for `bytes` bytes without starting a blob; what was staged is lost if that takes
  /// more than there is. Waits as `begin` does, but only then.
  void make_room(const ExecutionSpace& space, std::size_t bytes);

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

  /// The slot's elements in the mirror.
  template <class T>
  std::span<T> host(Slot<T> slot) const {
    return {reinterpret_cast<T*>(host_bytes() + slot.offset), slot.count};
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

  /// The slot's elements on the device.
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
  /// Bytes held, host and device together; a mirror of another blob is counted there.
  std::size_t capacity() const;

 private:
  static constexpr std::size_t alignment = 64;
  using Blob = Kokkos::View<std::byte*, memory_space>;

  /// Memory of the host that one blob after the other is filled through.
  struct Mirror {
    using View = Kokkos::View<std::byte*, mirror_space>;
    OwnedView<View> bytes;
    Ordering<ExecutionSpace> uploaded;  // what was uploaded from it last
  };

  Mirror& mirror();
  std::byte* host_bytes() const;
  bool has_room(std::size_t bytes);
  void wait_until_unused(const ExecutionSpace& space);
  void grow(std::size_t bytes);
  std::size_t reserve(std::size_t bytes);
  void download(const ExecutionSpace& space, std::size_t offset, std::size_t bytes);

  OwnedView<Blob> m_blob;
  std::shared_ptr<Mirror> m_mirror;  // of host backends: none, the blob is filled itself
  bool m_shares_mirror = false;      // it is another's
  std::size_t m_size = 0;
  Ordering<ExecutionSpace> m_uploaded;
  Ordering<ExecutionSpace> m_used;
  bool m_open = false;  // begun and not ended
};

}  // namespace tokkos
