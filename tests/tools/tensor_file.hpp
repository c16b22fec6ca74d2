// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tokkos::test {

/// A folder of its own that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (m_path / name).string(); }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

void write_bytes(const std::string& file, const std::string& bytes);
std::string read_bytes(const std::string& file);

/// Makes safetensors files byte by byte, without the code under test.
class TensorFile {
 public:
  template <class T>
  void add(const std::string& name, const std::string& dtype,
           const std::vector<std::int64_t>& shape, const std::vector<T>& elements) {
    std::string bytes(elements.size() * sizeof(T), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
    add_bytes(name, dtype, shape, bytes);
  }
  void add_bytes(const std::string& name, const std::string& dtype,
                 const std::vector<std::int64_t>& shape, const std::string& bytes);

  std::string bytes() const;
  void write(const std::string& file) const { write_bytes(file, bytes()); }

  /// A whole file of that header and those data.
  static std::string bytes_of(const std::string& header, const std::string& data);

 private:
  std::string m_entries;
  std::string m_data;
};

struct StoredTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;

  template <class T>
  std::vector<T> as() const {
    std::vector<T> elements(bytes.size() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
};

/// Reads a safetensors file, without the code under test; checks with REQUIRE what the format
/// demands.
std::map<std::string, StoredTensor> read_tensor_file(const std::string& file);

}  // namespace tokkos::test
