// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokkos::tools {

/// An element type of a safetensors file.
struct Dtype {
  std::string_view name;
  std::int64_t bytes;
  bool is_float;
};

/// The type of that name, or null.
const Dtype* find_dtype(std::string_view name);

/// One entry of a safetensors header, checked against the file.
struct TensorInfo {
  std::string name;
  const Dtype* dtype = nullptr;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< in the data that follows the header
  std::uint64_t end = 0;

  /// Number of elements.
  std::int64_t size() const;
};

/// "F32 [2, 5]"; of many extents the first few and their number.
std::string type_and_shape(std::string_view dtype, const std::vector<std::int64_t>& shape);

/// Reads the header of a safetensors file: every tensor's type, shape and place, in the order of
/// their places.
/// @param header the JSON between the length and the data
/// @param data_bytes size of what follows the header
/// @param file what errors call the file
/// @throws Error if anything differs from the format: an unknown dtype or field, a shape that
/// overflows
///   or does not fit its place, places that overlap, leave holes or do not cover the data
std::vector<TensorInfo> parse_safetensors_header(std::string_view header, std::uint64_t data_bytes,
                                                 const std::string& file);

}  // namespace tokkos::tools
