// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/array_view.hpp"

#include <cstddef>

namespace tokkos::interop {

std::string type_name(std::int32_t type) {
  switch (type) {
    case TOKKOS_FLOAT32:
      return "float32";
    case TOKKOS_BFLOAT16:
      return "bfloat16";
    case TOKKOS_FLOAT16:
      return "float16";
    case TOKKOS_INT32:
      return "int32";
    case TOKKOS_INT64:
      return "int64";
    default:
      return to_text(type);
  }
}

namespace {

/// Throws unless the last element's place, counted in bytes, is a legal distance of pointers.
void check_reach(const std::string& name, std::int64_t rows, std::int64_t row_stride,
                 std::int64_t columns, std::int64_t column_stride, std::size_t element_size) {
  if (rows == 0 || columns == 0) return;
  std::int64_t down = 0, along = 0, last = 0, bytes = 0;
  const bool too_far =
      __builtin_mul_overflow(rows - 1, row_stride, &down) ||
      __builtin_mul_overflow(columns - 1, column_stride, &along) ||
      __builtin_add_overflow(down, along, &last) ||
      __builtin_add_overflow(last, std::int64_t{1}, &last) ||
      __builtin_mul_overflow(last, static_cast<std::int64_t>(element_size), &bytes);
  if (too_far) {
    throw Error(name + ".shape", 0, to_text(rows), "less memory than addresses reach");
  }
}

}  // namespace

ArrayShape checked_shape(const std::string& name, const tokkos_array& array, std::int32_t ndim,
                         std::size_t element_size, bool writes) {
  require(array.ndim == ndim, (name + ".ndim").c_str(), std::nullopt, array.ndim,
          ndim == 1 ? "1" : "2");
  require((array.flags & ~TOKKOS_ARRAY_READ_ONLY) == 0, (name + ".flags").c_str(), std::nullopt,
          array.flags, "0 or TOKKOS_ARRAY_READ_ONLY");
  if (writes && (array.flags & TOKKOS_ARRAY_READ_ONLY) != 0) {
    throw Error(name + ".flags", std::nullopt, "read-only", "an array that may be written");
  }
  for (int i = 0; i < ndim; ++i) {
    require(array.shape[i] >= 0, (name + ".shape").c_str(), i, array.shape[i], "0 or more");
    require(array.strides[i] >= 0, (name + ".strides").c_str(), i, array.strides[i],
            "0 (without gaps) or more");
  }
  const std::int64_t columns = ndim == 1 ? 1 : array.shape[1];
  const std::int64_t column_stride = ndim == 1 || array.strides[1] == 0 ? 1 : array.strides[1];
  const std::int64_t row_stride = array.strides[0] == 0 ? columns : array.strides[0];
  check_reach(name, array.shape[0], row_stride, columns, column_stride, element_size);
  if (array.data == nullptr && array.shape[0] != 0 && columns != 0) {
    throw Error(name + ".data", std::nullopt, "null",
                "memory of " + to_text(array.shape[0]) + " x " + to_text(columns) + " elements");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(array.data);
  if (address % element_size != 0) {
    throw Error(name + ".data", std::nullopt, std::to_string(address),
                "an address that is a multiple of " + std::to_string(element_size));
  }
  return {static_cast<std::size_t>(array.shape[0]), static_cast<std::size_t>(columns),
          static_cast<std::size_t>(row_stride), static_cast<std::size_t>(column_stride)};
}

}  // namespace tokkos::interop
