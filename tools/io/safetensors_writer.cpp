// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/safetensors_writer.hpp"

#include <tokkos/core/error.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tokkos::tools {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Error(file, std::nullopt, "not writable (" + why + ")", "a place for the output file");
}

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

void write_to(const fs::path& place, const std::string& file,
              std::span<const OutputTensor> tensors) {
  errno = 0;
  std::ofstream stream(place, std::ios::binary | std::ios::trunc);
  const std::string header = make_header(tensors);
  const std::uint64_t length = header.size();
  stream.write(reinterpret_cast<const char*>(&length), sizeof(length));
  stream.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const OutputTensor& tensor : tensors) {
    stream.write(reinterpret_cast<const char*>(tensor.bytes.data()),
                 static_cast<std::streamsize>(tensor.bytes.size()));
  }
  stream.close();
  if (!stream) refuse(file, std::strerror(errno));
}

}  // namespace

void check_output_place(const std::string& file) {
  std::error_code ignored;
  const fs::path parent = fs::path(file).parent_path();
  if (fs::is_directory(file, ignored)) refuse(file, "it is a directory");
  if (!parent.empty() && !fs::is_directory(parent, ignored)) {
    refuse(file, "there is no directory " + parent.string());
  }
}

void write_safetensors(const std::string& file, std::span<const OutputTensor> tensors) {
  check_output_place(file);
  std::error_code problem;
  const bool exists = fs::exists(file, problem);
  // A device or a pipe must not be replaced by a file.
  if (exists && !fs::is_regular_file(file, problem)) return write_to(file, file, tensors);

  const fs::path place = exists ? fs::canonical(file) : fs::path(file);
  fs::path unfinished = place;
  unfinished += ".unfinished-" + std::to_string(getpid());
  try {
    write_to(unfinished, file, tensors);
    fs::rename(unfinished, place, problem);
    if (problem) refuse(file, problem.message());
  } catch (...) {
    fs::remove(unfinished, problem);
    throw;
  }
}

}  // namespace tokkos::tools
