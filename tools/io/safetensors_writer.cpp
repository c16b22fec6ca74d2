// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/safetensors_writer.hpp"

#include <nlohmann/json.hpp>

#include <ostream>

namespace tokkos::tools {

namespace {

std::string make_header(std::span<const OutputTensor> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::size_t begin = 0;
  for (const OutputTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.bytes.size();
    auto& entry = header[tensor.name];
    entry["dtype"] = tensor.dtype;
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = {begin, end};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data are aligned
  return text;
}

}  // namespace

void write_safetensors(std::ostream& out, std::span<const OutputTensor> tensors) {
  const std::string header = make_header(tensors);
  const std::uint64_t length = header.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const OutputTensor& tensor : tensors) {
    out.write(reinterpret_cast<const char*>(tensor.bytes.data()),
              static_cast<std::streamsize>(tensor.bytes.size()));
  }
}

}  // namespace tokkos::tools
