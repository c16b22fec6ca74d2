// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/io/safetensors.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// Reads tensors of a safetensors file. The header is checked in full when the file is opened;
/// nothing is allocated for a tensor but what its own reader asks for.
class SafetensorsReader {
 public:
  /// @throws Error if the file cannot be read or is no well-formed safetensors file
  explicit SafetensorsReader(std::string file);

  const std::string& file() const { return m_file; }
  std::span<const TensorInfo> tensors() const { return m_tensors; }
  const TensorInfo* find(std::string_view name) const;

  /// @throws Error if there is no such tensor
  const TensorInfo& require(std::string_view name) const;

  /// Throws Error{file: tensor name, its type and shape, expected} unless `ok`.
  void check(const TensorInfo& tensor, bool ok, const std::string& expected) const;

  /// Throws unless the tensor is of that type and has that shape, -1 standing for any extent.
  void check_shape(const TensorInfo& tensor, std::string_view dtype,
                   const std::vector<std::int64_t>& shape) const;

  /// Reads all elements, bit for bit. The tensor has to be of 32-bit elements.
  void read(const TensorInfo& tensor, std::span<float> elements);
  void read(const TensorInfo& tensor, std::span<std::int32_t> elements);

  /// Reads all elements of an F32, F16 or BF16 tensor, widened exactly.
  void read_widened(const TensorInfo& tensor, std::span<float> elements);

  /// Reads elements from `first` on as double, from F64, F32, F16, BF16 or an integer type.
  void read_numbers(const TensorInfo& tensor, std::int64_t first, std::span<double> numbers);

 private:
  void read_bytes(const TensorInfo& tensor, std::uint64_t first, std::span<std::byte> bytes);

  std::string m_file;
  std::ifstream m_stream;
  std::uint64_t m_data = 0;  // where the data begin in the file
  std::vector<TensorInfo> m_tensors;
};

}  // namespace tokkos::tools
