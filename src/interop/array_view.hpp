// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/as_column.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace tokkos::interop {

/// TOKKOS_FLOAT32 and so on.
template <class T>
constexpr std::int32_t type_number() {
  if constexpr (std::is_same_v<T, float>) return TOKKOS_FLOAT32;
  if constexpr (std::is_same_v<T, bfloat16>) return TOKKOS_BFLOAT16;
  if constexpr (std::is_same_v<T, float16>) return TOKKOS_FLOAT16;
  if constexpr (std::is_same_v<T, std::int32_t>) return TOKKOS_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return TOKKOS_INT64;
}

/// Name of an array's type, for errors; its number where it is none.
std::string type_name(std::int32_t type);

/// Places of an array's elements, checked: extents >= 0, products that fit.
struct ArrayShape {
  std::size_t rows = 0;
  std::size_t columns = 1;
  std::size_t row_stride = 1;
  std::size_t column_stride = 1;
};

/// Checks all that does not depend on the type, memory included, and returns the places of the
/// elements.
/// @param element_size bytes
/// @param writes whether a read-only array is refused
/// @throws Error that names the member
ArrayShape checked_shape(const std::string& name, const tokkos_array& array, std::int32_t ndim,
                         std::size_t element_size, bool writes);

/// Throws unless the array's elements are of T.
template <class T>
void check_type(const std::string& name, const tokkos_array& array) {
  constexpr std::int32_t expected = type_number<std::remove_const_t<T>>();
  if (array.type == expected) return;
  throw Error(name + ".type", std::nullopt, type_name(array.type), type_name(expected));
}

/// An array that must be given.
inline const tokkos_array& given_array(const char* name, const tokkos_array* array) {
  if (array == nullptr) throw Error(name, std::nullopt, "null", "an array");
  return *array;
}

/// Number of rows of an array that must be given. @throws Error if it is none
inline std::int64_t row_count(const char* name, const tokkos_array* array) {
  const std::int64_t rows = given_array(name, array).shape[0];
  require(rows >= 0, (std::string(name) + ".shape").c_str(), 0, rows, "0 or more");
  return rows;
}

/// Where an array's elements lie. One without elements may have no memory, and gets an address all
/// the same, which is not read: a View without memory would be one that is left out.
template <class T>
T* memory_of(const tokkos_array& array) {
  static std::remove_const_t<T> nothing{};
  return array.data == nullptr ? &nothing : static_cast<T*>(array.data);
}

/// An array as a View; left out if it is null ("not given").
/// @throws Error if it is of another type or shape, or read-only and T is not const
template <class T, class MemorySpace>
Matrix<T, MemorySpace> matrix_of(const char* name, const tokkos_array* array) {
  if (array == nullptr) return {};
  check_type<T>(name, *array);
  const ArrayShape shape = checked_shape(name, *array, 2, sizeof(T), !std::is_const_v<T>);
  return Matrix<T, MemorySpace>(
      memory_of<T>(*array),
      Kokkos::LayoutStride(shape.rows, shape.row_stride, shape.columns, shape.column_stride));
}

template <class T, class MemorySpace>
Vector<T, MemorySpace> vector_of_array(const char* name, const tokkos_array* array) {
  if (array == nullptr) return {};
  check_type<T>(name, *array);
  const ArrayShape shape = checked_shape(name, *array, 1, sizeof(T), !std::is_const_v<T>);
  return Vector<T, MemorySpace>(memory_of<T>(*array),
                                Kokkos::LayoutStride(shape.rows, shape.row_stride));
}

/// An array of one or two dimensions; of one it is a matrix of one column.
template <class T, class MemorySpace>
Matrix<T, MemorySpace> columns_of_array(const char* name, const tokkos_array* array) {
  if (array == nullptr) return {};
  if (array->ndim == 1) return as_column(vector_of_array<T, MemorySpace>(name, array));
  require(array->ndim == 2, (std::string(name) + ".ndim").c_str(), std::nullopt, array->ndim,
          "1 or 2");
  return matrix_of<T, MemorySpace>(name, array);
}

/// Throws if rows of masks are given without masks.
inline void check_masks_given(const tokkos_array* bitmask, const tokkos_array* row_index) {
  if (bitmask != nullptr || row_index == nullptr) return;
  throw Error("bitmask", std::nullopt, "null", "an array, because bitmask_row_index is given");
}

/// An array of int32 or int64.
template <class MemorySpace>
IndexVector<MemorySpace> index_vector_of(const char* name, const tokkos_array* array) {
  if (array == nullptr) return {};
  if (array->type == TOKKOS_INT64) {
    return vector_of_array<const std::int64_t, MemorySpace>(name, array);
  }
  return vector_of_array<const std::int32_t, MemorySpace>(name, array);
}

/// Calls `function` with the logits as a View of their type, const where they are only read.
/// @throws Error if they are null, or of no type that logits have
template <class MemorySpace, bool writes, class Function>
auto with_logits(const char* name, const tokkos_array* array, Function&& function) {
  const auto view = [&]<class Logit>(std::type_identity<Logit>) {
    using Element = std::conditional_t<writes, Logit, const Logit>;
    return function(matrix_of<Element, MemorySpace>(name, array));
  };
  switch (given_array(name, array).type) {
    case TOKKOS_FLOAT32:
      return view(std::type_identity<float>{});
    case TOKKOS_BFLOAT16:
      return view(std::type_identity<bfloat16>{});
    case TOKKOS_FLOAT16:
      return view(std::type_identity<float16>{});
    default:
      throw Error(std::string(name) + ".type", std::nullopt, type_name(array->type),
                  "float32, bfloat16 or float16");
  }
}

}  // namespace tokkos::interop
