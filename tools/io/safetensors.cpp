// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/safetensors.hpp"

#include <tokkos/core/error.hpp>

#include "tools/io/checked_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace tokkos::tools {

using nlohmann::json;

namespace {

constexpr std::array<Dtype, 17> dtypes{{{"BOOL", 1, false},
                                        {"U8", 1, false},
                                        {"I8", 1, false},
                                        {"F8_E4M3", 1, true},
                                        {"F8_E5M2", 1, true},
                                        {"F8_E8M0", 1, true},
                                        {"U16", 2, false},
                                        {"I16", 2, false},
                                        {"F16", 2, true},
                                        {"BF16", 2, true},
                                        {"U32", 4, false},
                                        {"I32", 4, false},
                                        {"F32", 4, true},
                                        {"U64", 8, false},
                                        {"I64", 8, false},
                                        {"F64", 8, true},
                                        {"C64", 8, false}}};

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// Bytes of the tensor, or -1 if that number does not fit.
std::int64_t byte_count(const TensorInfo& tensor) {
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) return 0;
  std::int64_t bytes = tensor.dtype->bytes;
  for (const std::int64_t extent : tensor.shape) {
    if (extent > largest / bytes) return -1;
    bytes *= extent;
  }
  return bytes;
}

std::vector<std::int64_t> read_sizes(const JsonObject& entry, std::string_view key) {
  const json* member = entry.find(key);
  const std::string expected = "an array of integers in [0, " + to_text(largest) + "]";
  entry.require(member && member->is_array(), key, expected);
  std::vector<std::int64_t> sizes;
  for (const json& element : *member) {
    entry.require(element.is_number_unsigned() &&
                      element.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest),
                  key, expected);
    sizes.push_back(element.get<std::int64_t>());
  }
  return sizes;
}

TensorInfo read_entry(const JsonObject& entry, const std::string& name, std::uint64_t data_bytes) {
  entry.allow_only({"dtype", "shape", "data_offsets"});
  TensorInfo tensor;
  tensor.name = name;
  tensor.dtype = find_dtype(entry.text("dtype", ""));
  entry.require(tensor.dtype != nullptr, "dtype", "a safetensors type (F32, F16, BF16, I32, ...)");
  tensor.shape = read_sizes(entry, "shape");
  const auto offsets = read_sizes(entry, "data_offsets");
  entry.require(offsets.size() == 2 && offsets[0] <= offsets[1] &&
                    static_cast<std::uint64_t>(offsets[1]) <= data_bytes,
                "data_offsets",
                "[begin, end] with begin <= end <= " + std::to_string(data_bytes) +
                    ", the bytes of data in the file");
  tensor.begin = static_cast<std::uint64_t>(offsets[0]);
  tensor.end = static_cast<std::uint64_t>(offsets[1]);
  const std::int64_t bytes = byte_count(tensor);
  entry.require(bytes >= 0, "shape", "a tensor of less than 2^63 bytes");
  entry.require(bytes == offsets[1] - offsets[0], "shape",
                "a shape of " + to_text(offsets[1] - offsets[0]) +
                    " bytes as in data_offsets, not " + to_text(bytes) + " bytes");
  return tensor;
}

void check_metadata(const json& metadata, const std::string& name) {
  const JsonObject object(metadata, name);
  for (const auto& [key, value] : metadata.items()) {
    object.require(value.is_string(), key, "a string");
  }
}

void check_places(const std::vector<TensorInfo>& tensors, std::uint64_t data_bytes,
                  const std::string& file) {
  std::uint64_t expected = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != expected) {
      throw Error(file + ": tensor " + shortened(tensor.name) + ".data_offsets", std::nullopt,
                  "[" + std::to_string(tensor.begin) + "," + std::to_string(tensor.end) + "]",
                  "a begin of " + std::to_string(expected) + ": no tensors that overlap, no holes");
    }
    expected = tensor.end;
  }
  if (expected != data_bytes) {
    throw Error(file + ": data", std::nullopt, std::to_string(data_bytes) + " bytes",
                std::to_string(expected) + " bytes, the end of the last tensor");
  }
}

}  // namespace

const Dtype* find_dtype(std::string_view name) {
  const auto found = std::ranges::find(dtypes, name, &Dtype::name);
  return name.empty() || found == dtypes.end() ? nullptr : &*found;
}

std::int64_t TensorInfo::size() const {
  return static_cast<std::int64_t>(end - begin) / dtype->bytes;
}

std::string type_and_shape(std::string_view dtype, const std::vector<std::int64_t>& shape) {
  constexpr std::size_t most = 8;
  std::string text;
  for (const std::int64_t extent : std::span(shape).first(std::min(most, shape.size()))) {
    text += (text.empty() ? "" : ", ") + to_text(extent);
  }
  if (shape.size() > most) text += ", ... " + std::to_string(shape.size()) + " extents";
  return std::string(dtype) + " [" + text + "]";
}

std::vector<TensorInfo> parse_safetensors_header(std::string_view header, std::uint64_t data_bytes,
                                                 const std::string& file) {
  constexpr int depth = 3;  // the header, a tensor, its shape
  if (header.empty() || header.front() != '{') {
    throw Error(file + ": header", std::nullopt, "no safetensors header",
                "JSON that begins with {");
  }
  const json parsed = parse_json(header, file + ": header", depth);
  std::vector<TensorInfo> tensors;
  for (const auto& [name, value] : parsed.items()) {
    if (name == "__metadata__") {
      check_metadata(value, file + ": __metadata__");
    } else {
      const JsonObject entry(value, file + ": tensor " + shortened(name));
      tensors.push_back(read_entry(entry, name, data_bytes));
    }
  }
  std::ranges::sort(tensors, [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  check_places(tensors, data_bytes, file);
  return tensors;
}

}  // namespace tokkos::tools
