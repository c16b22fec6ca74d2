// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/dlpack_import.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/interop/dlpack.hpp>

#include <optional>

namespace tokkos::interop {

namespace {

std::int32_t type_of(DLDataType dtype) {
  const bool is_integer = dtype.code == kDLInt || dtype.code == kDLUInt;
  if (is_integer) return dtype.bits == 32 ? TOKKOS_INT32 : TOKKOS_INT64;
  if (dtype.code == kDLBfloat) return TOKKOS_BFLOAT16;
  return dtype.bits == 32 ? TOKKOS_FLOAT32 : TOKKOS_FLOAT16;
}

DlpackTensor tensor_of(const void* tensor, std::int32_t kind, const char* name) {
  if (tensor == nullptr) throw Error(name, std::nullopt, "null", "a tensor");
  switch (kind) {
    case TOKKOS_DLPACK_TENSOR:
      return {name, *static_cast<const DLTensor*>(tensor)};
    case TOKKOS_DLPACK_MANAGED:
      return {name, *static_cast<const DLManagedTensor*>(tensor)};
    case TOKKOS_DLPACK_VERSIONED:
      return {name, *static_cast<const DLManagedTensorVersioned*>(tensor)};
    default:
      throw Error("kind", std::nullopt, to_text(kind), "TOKKOS_DLPACK_*, 0 to 2");
  }
}

}  // namespace

tokkos_array import_tensor(const DlpackDevice& device, const void* tensor, std::int32_t kind,
                           const char* name) {
  const DlpackTensor imported = tensor_of(tensor, kind, name);
  imported.check_device(device);
  tokkos_array array{};
  array.data = imported.data();
  array.ndim = imported.ndim();
  array.type = type_of(imported.dtype());
  array.flags = imported.is_read_only() ? TOKKOS_ARRAY_READ_ONLY : 0;
  for (int i = 0; i < array.ndim; ++i) {
    array.shape[i] = static_cast<std::int64_t>(imported.extent(i));
    array.strides[i] = static_cast<std::int64_t>(imported.stride(i));
  }
  return array;
}

}  // namespace tokkos::interop
