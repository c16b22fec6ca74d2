// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/tensor_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace tokkos::test {

TemporaryFolder::TemporaryFolder() {
  static int number = 0;
  m_path = std::filesystem::temp_directory_path() /
           ("tokkos-test-" + std::to_string(getpid()) + "-" + std::to_string(number++));
  std::filesystem::create_directories(m_path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
}

void write_bytes(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string read_bytes(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void TensorFile::add_bytes(const std::string& name, const std::string& dtype,
                           const std::vector<std::int64_t>& shape, const std::string& bytes) {
  std::string extents;
  for (const std::int64_t extent : shape) {
    if (!extents.empty()) extents += ",";
    extents += std::to_string(extent);
  }
  if (!m_entries.empty()) m_entries += ",";
  m_entries += "\"";
  m_entries += name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + extents +
               "],\"data_offsets\":[" + std::to_string(m_data.size()) + "," +
               std::to_string(m_data.size() + bytes.size()) + "]}";
  m_data += bytes;
}

std::string TensorFile::bytes() const {
  return bytes_of("{" + m_entries + "}", m_data);
}

std::string TensorFile::bytes_of(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    length[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  return length + header + data;
}

std::map<std::string, StoredTensor> read_tensor_file(const std::string& file) {
  const std::string bytes = read_bytes(file);
  REQUIRE(bytes.size() >= 8);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  REQUIRE(length <= bytes.size() - 8);
  REQUIRE(length % 8 == 0);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  const std::string data = bytes.substr(8 + length);
  std::map<std::string, StoredTensor> tensors;
  std::size_t covered = 0;
  for (const auto& [name, entry] : header.items()) {
    const std::size_t begin = entry["data_offsets"][0];
    const std::size_t end = entry["data_offsets"][1];
    REQUIRE(begin <= end);
    REQUIRE(end <= data.size());
    std::int64_t elements = 1;
    StoredTensor tensor{entry["dtype"], entry["shape"], data.substr(begin, end - begin)};
    for (const std::int64_t extent : tensor.shape) elements *= extent;
    REQUIRE(static_cast<std::size_t>(elements) * 4 == end - begin);
    covered += end - begin;
    tensors.emplace(name, tensor);
  }
  REQUIRE(covered == data.size());
  return tensors;
}

}  // namespace tokkos::test
