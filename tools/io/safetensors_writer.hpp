// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// A tensor to be written; its elements are not owned.
struct OutputTensor {
  OutputTensor(std::string tensor_name, std::span<const float> elements,
               std::vector<std::int64_t> tensor_shape)
      : name(std::move(tensor_name)),
        dtype("F32"),
        shape(std::move(tensor_shape)),
        bytes(std::as_bytes(elements)) {}
  OutputTensor(std::string tensor_name, std::span<const std::int32_t> elements,
               std::vector<std::int64_t> tensor_shape)
      : name(std::move(tensor_name)),
        dtype("I32"),
        shape(std::move(tensor_shape)),
        bytes(std::as_bytes(elements)) {}

  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Checks that a file can be made there, without making it.
/// @throws Error that names the file
void check_output_place(const std::string& file);

/// Writes a safetensors file. A regular file appears whole or not at all: it is written beside its
/// place and renamed.
/// @throws Error if it cannot be written; what stood there before is unchanged then
void write_safetensors(const std::string& file, std::span<const OutputTensor> tensors);

}  // namespace tokkos::tools
