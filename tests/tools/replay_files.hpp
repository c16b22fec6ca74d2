// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "tools/error_message.hpp"
#include "tools/replay/replay.hpp"
#include "tools/tensor_file.hpp"

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tokkos::test {

/// A folder with the files of one replay.
struct Replay {
  TemporaryFolder folder;
  TensorFile input;
  std::string requests;
  std::string printed;

  std::map<std::string, StoredTensor> run(std::vector<std::string> options = {}) {
    input.write(folder.file("in.safetensors"));
    write_bytes(folder.file("req.json"), requests);
    const std::vector<std::string> files{"--logits",   folder.file("in.safetensors"),
                                         "--requests", folder.file("req.json"),
                                         "--output",   folder.file("out.safetensors")};
    options.insert(options.begin(), files.begin(), files.end());
    std::ostringstream out;
    tools::run_replay(tools::parse_replay(options), out);
    printed = out.str();
    return read_tensor_file(folder.file("out.safetensors"));
  }

  std::string failure(const std::vector<std::string>& options = {}) {
    const std::string message = error_message([&] { run(options); });
    CHECK_FALSE(std::filesystem::exists(folder.file("out.safetensors")));
    return message;
  }
};

}  // namespace tokkos::test
