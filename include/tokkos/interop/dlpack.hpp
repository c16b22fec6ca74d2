// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/interop/dlpack_device.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace tokkos {

/// A DLPack tensor of one or two dimensions whose every member was checked, as Views. Nothing is
/// copied and nothing is owned: whoever holds the tensor keeps it alive, and calls its deleter,
/// when the work is done.
///
/// Accepted are float32, float16, bfloat16, int32, uint32 (as int32) and int64 of one lane; strides
/// that are null (row after row) or given, with the elements of a row side by side; any byte offset
/// that leaves the elements aligned. Errors are called after the member: "logits.strides[1] is 2,
/// expected ...".
class DlpackTensor {
 public:
  /// @param name how errors call the tensor: the argument that it is to be
  /// @throws Error that names version, ndim, dtype, shape, strides, byte_offset or data
  DlpackTensor(const char* name, const DLTensor& tensor, bool is_read_only = false);
  /// The same of a managed tensor, which is not consumed.
  DlpackTensor(const char* name, const DLManagedTensor& managed)
      : DlpackTensor(name, managed.dl_tensor) {}
  /// The same of a versioned one; its read-only flag is honoured.
  DlpackTensor(const char* name, const DLManagedTensorVersioned& managed)
      : DlpackTensor(name, checked_version(name, managed),
                     (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {}

  /// [rows, columns], rows may be padded. A T that is not const is refused for a read-only tensor.
  /// @throws Error that names device, ndim, dtype or flags
  template <class T, class ExecutionSpace>
  Matrix<T, MemoryOf<ExecutionSpace>> matrix(const ExecutionSpace& space) const {
    check_use<T>(dlpack_device_of(space), 2);
    return Matrix<T, MemoryOf<ExecutionSpace>>(
        static_cast<T*>(m_data), Kokkos::LayoutStride(extent(0), stride(0), extent(1), stride(1)));
  }

  /// [count]. @throws Error as matrix does
  template <class T, class ExecutionSpace>
  Vector<T, MemoryOf<ExecutionSpace>> vector(const ExecutionSpace& space) const {
    check_use<T>(dlpack_device_of(space), 1);
    return Vector<T, MemoryOf<ExecutionSpace>>(static_cast<T*>(m_data),
                                               Kokkos::LayoutStride(extent(0), stride(0)));
  }

  /// Throws Error that names the device unless kernels of `device` reach the tensor.
  void check_device(const DlpackDevice& device) const;

  void* data() const { return m_data; }  ///< byte offset included
  /// Number of dimensions.
  int ndim() const { return m_ndim; }
  /// Type of the elements.
  DLDataType dtype() const { return m_dtype; }
  /// Whether it is refused where it would be written.
  bool is_read_only() const { return m_is_read_only; }
  /// Extent of dimension i.
  std::size_t extent(int i) const { return static_cast<std::size_t>(m_shape[i]); }
  /// Stride of dimension i, in elements.
  std::size_t stride(int i) const { return static_cast<std::size_t>(m_strides[i]); }

 private:
  static const DLTensor& checked_version(const char* name, const DLManagedTensorVersioned& managed);
  void check_dtype() const;
  void take_places(const DLTensor& tensor);
  void take_data(const DLTensor& tensor);

  template <class T>
  void check_use(const DlpackDevice& device, int ndim) const {
    using Element = std::remove_const_t<T>;
    check_device(device);
    require(m_ndim == ndim, (m_name + ".ndim").c_str(), std::nullopt, std::int64_t{m_ndim},
            ndim == 1 ? "1" : "2");
    constexpr bool is_integer = std::is_integral_v<Element>;
    constexpr bool is_bfloat = std::is_same_v<Element, bfloat16>;
    constexpr int code = is_integer ? kDLInt : is_bfloat ? kDLBfloat : kDLFloat;
    check_dtype_is(code, sizeof(Element) * 8);
    if (m_is_read_only && !std::is_const_v<T>) {
      throw Error(m_name + ".flags", std::nullopt, "read-only", "a tensor that may be written");
    }
  }
  void check_dtype_is(int code, std::size_t bits) const;

  std::string m_name;
  void* m_data = nullptr;
  DLDevice m_device{};
  DLDataType m_dtype{};
  int m_ndim = 0;
  std::int64_t m_shape[2] = {1, 1};
  std::int64_t m_strides[2] = {1, 1};
  bool m_is_read_only = false;
};

}  // namespace tokkos
