// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/safetensors_reader.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/numerics/bfloat16.hpp>
#include <tokkos/numerics/float16.hpp>

#include "tools/io/checked_json.hpp"
#include "tools/io/input_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

namespace tokkos::tools {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {

constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

// Elements of a file's type that are converted at a time.
constexpr std::size_t slice = 1 << 16;

template <class From, class To>
void convert(std::span<const std::byte> bytes, std::span<To> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    From from;
    std::memcpy(&from, bytes.data() + i * sizeof(From), sizeof(From));
    if constexpr (requires { from.widen(); }) {
      to[i] = static_cast<To>(from.widen());
    } else {
      to[i] = static_cast<To>(from);
    }
  }
}

using Converter = void (*)(std::span<const std::byte>, std::span<double>);

Converter find_converter(std::string_view dtype) {
  constexpr std::pair<std::string_view, Converter> converters[] = {
      {"F64", convert<double, double>},        {"F32", convert<float, double>},
      {"F16", convert<float16, double>},       {"BF16", convert<bfloat16, double>},
      {"I64", convert<std::int64_t, double>},  {"I32", convert<std::int32_t, double>},
      {"I16", convert<std::int16_t, double>},  {"I8", convert<std::int8_t, double>},
      {"U64", convert<std::uint64_t, double>}, {"U32", convert<std::uint32_t, double>},
      {"U16", convert<std::uint16_t, double>}, {"U8", convert<std::uint8_t, double>},
      {"BOOL", convert<std::uint8_t, double>},
  };
  for (const auto& [name, converter] : converters) {
    if (name == dtype) return converter;
  }
  return nullptr;
}

}  // namespace

SafetensorsReader::SafetensorsReader(std::string file) : m_file(std::move(file)) {
  const std::uint64_t file_bytes = open_input_file(m_file, m_stream);
  if (file_bytes < 8) {
    throw Error(m_file, std::nullopt, std::to_string(file_bytes) + " bytes long",
                "a safetensors file (at least 8 bytes)");
  }
  std::uint64_t header_bytes = 0;
  m_stream.read(reinterpret_cast<char*>(&header_bytes), sizeof(header_bytes));
  const std::uint64_t most = std::min(file_bytes - 8, longest_header);
  if (!m_stream || header_bytes > most) {  // GCOV_EXCL_BR_LINE: the file shrinks meanwhile
    throw Error(m_file + ": header length", std::nullopt, std::to_string(header_bytes),
                "at most " + std::to_string(most) + " (what the file holds, and 100 MB)");
  }
  std::string header(header_bytes, '\0');
  m_stream.read(header.data(), static_cast<std::streamsize>(header_bytes));
  if (!m_stream) {  // GCOV_EXCL_BR_LINE: the file shrinks meanwhile
    throw Error(m_file, std::nullopt, "not readable", "a whole safetensors file");
  }
  m_data = 8 + header_bytes;
  m_tensors = parse_safetensors_header(header, file_bytes - m_data, m_file);
}

const TensorInfo* SafetensorsReader::find(std::string_view name) const {
  const auto found = std::ranges::find(m_tensors, name, &TensorInfo::name);
  return found == m_tensors.end() ? nullptr : &*found;
}

const TensorInfo& SafetensorsReader::require(std::string_view name) const {
  const TensorInfo* tensor = find(name);
  if (!tensor) {
    throw Error(m_file + ": tensor " + std::string(name), std::nullopt, "missing",
                "a tensor of that name");
  }
  return *tensor;
}

void SafetensorsReader::check(const TensorInfo& tensor, bool ok,
                              const std::string& expected) const {
  if (ok) return;
  throw Error(m_file + ": tensor " + shortened(tensor.name), std::nullopt,
              type_and_shape(tensor.dtype->name, tensor.shape), expected);
}

void SafetensorsReader::check_shape(const TensorInfo& tensor, std::string_view dtype,
                                    const std::vector<std::int64_t>& shape) const {
  const bool same = tensor.dtype->name == dtype && tensor.shape.size() == shape.size() &&
                    std::ranges::equal(tensor.shape, shape, [](std::int64_t a, std::int64_t b) {
                      return b == -1 || a == b;
                    });
  const bool any = std::ranges::find(shape, -1) != shape.end();
  check(tensor, same, type_and_shape(dtype, shape) + (any ? " (-1: any)" : ""));
}

void SafetensorsReader::read(const TensorInfo& tensor, std::span<float> elements) {
  read_bytes(tensor, 0, std::as_writable_bytes(elements));
}

void SafetensorsReader::read(const TensorInfo& tensor, std::span<std::int32_t> elements) {
  read_bytes(tensor, 0, std::as_writable_bytes(elements));
}

void SafetensorsReader::read_widened(const TensorInfo& tensor, std::span<float> elements) {
  if (tensor.dtype->name == "F32") return read(tensor, elements);
  const auto converter =
      tensor.dtype->name == "F16" ? convert<float16, float> : convert<bfloat16, float>;
  std::vector<std::byte> buffer(std::min(elements.size(), slice) * 2);
  for (std::size_t first = 0; first < elements.size(); first += slice) {
    const auto part = elements.subspan(first, std::min(slice, elements.size() - first));
    const std::span<std::byte> bytes(buffer.data(), part.size() * 2);
    read_bytes(tensor, first * 2, bytes);
    converter(bytes, part);
  }
}

void SafetensorsReader::read_numbers(const TensorInfo& tensor, std::int64_t first,
                                     std::span<double> numbers) {
  const Converter converter = find_converter(tensor.dtype->name);
  check(tensor, converter != nullptr, "a type that can be compared (F32, F16, I32, ...)");
  std::vector<std::byte> buffer(numbers.size() * static_cast<std::size_t>(tensor.dtype->bytes));
  read_bytes(tensor, static_cast<std::uint64_t>(first * tensor.dtype->bytes), buffer);
  converter(buffer, numbers);
}

void SafetensorsReader::read_bytes(const TensorInfo& tensor, std::uint64_t first,
                                   std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  if (first > tensor.end - tensor.begin || bytes.size() > tensor.end - tensor.begin - first) {
    throw Error(m_file + ": tensor " + shortened(tensor.name), std::nullopt,
                std::to_string(tensor.end - tensor.begin) + " bytes long",
                std::to_string(first + bytes.size()) + " bytes");
  }
  m_stream.seekg(static_cast<std::streamoff>(m_data + tensor.begin + first));
  m_stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!m_stream) {  // GCOV_EXCL_BR_LINE: the file shrinks meanwhile
    throw Error(m_file + ": tensor " + shortened(tensor.name), std::nullopt, "not readable",
                "a file that stays as it was");
  }
}

}  // namespace tokkos::tools
