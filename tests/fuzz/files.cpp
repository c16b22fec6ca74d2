// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Files that strangers wrote: what is made with care is read if and only if it was made right, and
// of any bytes at all nothing comes but a read or an Error.
#include <tokkos/core/error.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

#include "fuzz/files_input.hpp"
#include "fuzz/harnesses.hpp"
#include "tools/io/safetensors.hpp"
#include "tools/io/safetensors_reader.hpp"
#include "tools/replay/replay_input.hpp"
#include "tools/replay/request_file.hpp"
#include "tools/verify/verify_input.hpp"

namespace tokkos::test {

namespace {

using namespace tools;

/// Calls it and says whether it came to its end; anything thrown but an Error passes on.
template <class Call>
bool succeeds(const Call& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    expect(!text.empty() && text.size() < 2000, "an Error has a message, which is not endless");
    expect(text.find('\n') == std::string_view::npos, "an Error is one line");
    return false;
  }
}

/// A file of the process that is written over and over.
class ScratchFile {
 public:
  explicit ScratchFile(const char* name)
      : m_path(std::filesystem::temp_directory_path() /
               ("tokkos-fuzz-" + std::to_string(getpid()) + name)) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string write(std::string_view bytes) const {
    std::ofstream(m_path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return m_path.string();
  }

 private:
  std::filesystem::path m_path;
};

/// What holds of every header that was accepted.
void check_tensors(const std::vector<TensorInfo>& tensors, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : tensors) {
    expect(tensor.begin == end && tensor.end >= tensor.begin, "tensors tile the data");
    end = tensor.end;
    __extension__ using Wide = unsigned __int128;
    Wide size = 1;
    for (const std::int64_t extent : tensor.shape) {
      expect(extent >= 0, "extents are not negative");
      if (extent == 0) size = 0;
    }
    for (const std::int64_t extent : tensor.shape) {
      size *= static_cast<std::uint64_t>(extent);
      expect(size <= data_bytes, "no tensor has more elements than there are bytes");
    }
    expect(size * static_cast<std::uint64_t>(tensor.dtype->bytes) == tensor.end - tensor.begin,
           "a tensor's place has its size");
  }
  expect(end == data_bytes, "tensors cover the data");
}

/// The bytes of a whole file: length, header, data that count up.
std::string file_of(std::string_view header, std::uint64_t data_bytes) {
  std::string file(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  file += header;
  for (std::uint64_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i);
  return file;
}

/// Reads everything that a command might ask of a file.
void read_all(const std::string& path, const std::string& requests) {
  static_cast<void>(succeeds([&] { read_verify_input(path); }));
  static_cast<void>(succeeds([&] { read_replay_input(path, requests); }));
}

void fuzz_header(FuzzBytes& bytes) {
  static const ScratchFile scratch(".safetensors");
  const FuzzHeader header = make_header(bytes);
  std::vector<TensorInfo> tensors;
  const bool read =
      succeeds([&] { tensors = parse_safetensors_header(header.text, header.data_bytes, "file"); });
  expect(read == header.good, "a header is read if and only if it is right");
  const std::string path = scratch.write(file_of(header.text, header.data_bytes));
  std::optional<SafetensorsReader> reader;
  expect(succeeds([&] { reader.emplace(path); }) == read, "a file is read as its header is");
  if (!read) return;
  expect(tensors.size() == header.tensors, "every tensor is listed");
  check_tensors(tensors, header.data_bytes);
  for (const TensorInfo& tensor : reader->tensors()) {
    if (tensor.dtype->name != "I32") continue;
    std::vector<std::int32_t> elements(static_cast<std::size_t>(tensor.size()));
    reader->read(tensor, elements);
    for (std::size_t i = 0; i < elements.size() * 4; ++i) {
      const auto byte = static_cast<std::uint8_t>(tensor.begin + i);
      expect(reinterpret_cast<const std::uint8_t*>(elements.data())[i] == byte,
             "elements are read bit for bit");
    }
  }
}

void check_requests(const ReplayRequests& requests, std::int64_t rows, std::int64_t vocabulary) {
  expect(requests.cum_num_token.back() == rows, "rows are all owned");
  expect(requests.active_vocabulary >= 1 && requests.active_vocabulary <= vocabulary,
         "the active vocabulary is a part of the vocabulary");
  expect(succeeds([&] { validate(requests.step(), rows, vocabulary); }),
         "what was read is valid for the library");
}

void fuzz_requests(FuzzBytes& bytes) {
  const FuzzRequests made = make_requests(bytes);
  std::optional<ReplayRequests> requests;
  const bool read = succeeds(
      [&] { requests = parse_request_file(made.text, "file", made.rows, made.vocabulary); });
  expect(read == made.good, "a request file is read if and only if it is right");
  if (!read) return;
  expect(requests->ids.size() == made.requests, "every request is read");
  check_requests(*requests, made.rows, made.vocabulary);
}

std::string text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The rest of the bytes as the JSON of either file.
void fuzz_json(FuzzBytes& bytes) {
  const std::uint64_t data_bytes = bytes.word();
  const std::int64_t rows = bytes.below(5);
  const std::string text = text_of(bytes.rest());
  std::vector<TensorInfo> tensors;
  if (succeeds([&] { tensors = parse_safetensors_header(text, data_bytes, "file"); })) {
    check_tensors(tensors, data_bytes);
  }
  constexpr std::int64_t vocabulary = 40;
  std::optional<ReplayRequests> requests;
  if (succeeds([&] { requests = parse_request_file(text, "file", rows, vocabulary); })) {
    check_requests(*requests, rows, vocabulary);
  }
}

/// The rest of the bytes as a whole safetensors file, or as header and data of one.
void fuzz_file(FuzzBytes& bytes) {
  static const ScratchFile scratch(".bytes"), requests(".json");
  const bool whole = bytes.rarely();
  const std::uint64_t data_bytes = bytes.word() % 1024;
  const std::string text = text_of(bytes.rest());
  const std::string path = scratch.write(whole ? text : file_of(text, data_bytes));
  read_all(path, requests.write(R"({"requests":[{"num_tokens":1}]})"));
}

}  // namespace

void fuzz_files(std::span<const std::uint8_t> input) {
  FuzzBytes bytes(input);
  switch (bytes.below(4)) {
    case 0:
      return fuzz_requests(bytes);
    case 1:
      return fuzz_header(bytes);
    case 2:
      return fuzz_json(bytes);
    default:
      return fuzz_file(bytes);
  }
}

}  // namespace tokkos::test
