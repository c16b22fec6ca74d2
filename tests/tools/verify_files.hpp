// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/verify/verify.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tools/error_message.hpp"
#include "tools/tensor_file.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tokkos::test {

/// Draft trees whose numbers are all exact in binary, so that every step can be checked by hand.
struct Trees {
  std::int64_t nodes = 4;
  std::int64_t vocabulary = 4;
  // Tree 0: root 0 with children 1 and 2; tree 1: root 3 alone.
  std::vector<float> draft_probs{9.f, 9.f,  9.f, 9.f,  0.5f, 0.5f, 0.f, 0.f,
                                 0.f, 0.5f, 0.f, 0.5f, 9.f,  9.f,  9.f, 9.f};
  std::vector<float> model_probs{0.25f, 0.5f, 0.25f, 0.f, 0.f,  0.f,   0.f,   1.f,
                                 1.f,   0.f,  0.f,   0.f, 0.5f, 0.25f, 0.25f, 0.f};
  std::vector<std::int32_t> draft_tokens{-7, 0, 1, 1000};
  std::vector<std::int32_t> first_child{1, -1, -1, -1};
  std::vector<std::int32_t> next_sibling{-1, 2, -1, -1};
  std::vector<float> uniforms{NAN, 0.75f, 0.75f, 5.0f};
  std::vector<std::int32_t> parent_ptr{0, 3};
  std::vector<float> bonus_uniforms{0.5f, 0.625f};
  bool with_bonus = true;
  std::string extra;

  TensorFile file() const {
    TensorFile file;
    file.add("draft_probs", "F32", {nodes, vocabulary}, draft_probs);
    file.add("draft_tokens", "I32", {nodes}, draft_tokens);
    file.add("model_probs", "F32", {nodes, vocabulary}, model_probs);
    file.add("token_tree_first_child", "I32", {nodes}, first_child);
    file.add("token_tree_next_sibling", "I32", {nodes}, next_sibling);
    file.add("uniform_samples", "F32", {nodes}, uniforms);
    file.add("token_tree_parent_ptr", "I32", {static_cast<std::int64_t>(parent_ptr.size())},
             parent_ptr);
    if (with_bonus) {
      file.add("bonus_uniforms", "F32", {static_cast<std::int64_t>(bonus_uniforms.size())},
               bonus_uniforms);
    }
    if (!extra.empty()) file.add<float>(extra, "F32", {0}, {});
    return file;
  }
};

inline std::map<std::string, StoredTensor> verify(const Trees& trees, const TemporaryFolder& folder,
                                                  std::vector<std::string> options = {}) {
  trees.file().write(folder.file("tree.safetensors"));
  const std::vector<std::string> files{"--tree", folder.file("tree.safetensors"), "--output",
                                       folder.file("out.safetensors")};
  options.insert(options.begin(), files.begin(), files.end());
  std::ostringstream out;
  tools::run_verify(tools::parse_verify(options), out);
  return read_tensor_file(folder.file("out.safetensors"));
}

inline std::string failure(const Trees& trees, const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  const std::string message = error_message([&] { verify(trees, folder, options); });
  CHECK_FALSE(std::filesystem::exists(folder.file("out.safetensors")));
  return message;
}

/// The message for a whole file.
inline std::string failure(const TensorFile& tensors, const std::string& rule) {
  const TemporaryFolder folder;
  tensors.write(folder.file("tree.safetensors"));
  const std::vector<std::string> options{
      "--tree", folder.file("tree.safetensors"), "--output", folder.file("out"), "--rule", rule};
  std::ostringstream out;
  return error_message([&] { tools::run_verify(tools::parse_verify(options), out); });
}

}  // namespace tokkos::test
