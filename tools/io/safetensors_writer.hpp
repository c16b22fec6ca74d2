// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
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

/// Writes a safetensors file to a stream; whether that went well is the stream's to say.
void write_safetensors(std::ostream& out, std::span<const OutputTensor> tensors);

}  // namespace tokkos::tools
