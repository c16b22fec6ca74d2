// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_input.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/numerics/philox.hpp>
#include <tokkos/request/draft_tree.hpp>

#include "tools/io/safetensors_reader.hpp"
#include "tools/io/tensor_checks.hpp"

#include <limits>

namespace tokkos::tools {

namespace {

template <class T>
std::vector<T> read(SafetensorsReader& reader, const char* name, const char* dtype,
                    const std::vector<std::int64_t>& shape) {
  const TensorInfo& info = reader.require(name);
  reader.check_shape(info, dtype, shape);
  std::vector<T> elements(static_cast<std::size_t>(info.size()));
  reader.read(info, elements);
  return elements;
}

/// Names the file in an Error about one of its tensors.
template <class Check>
void check_in(const SafetensorsReader& reader, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(reader.file() + ": " + error.field(), error.index(), error.value(),
                error.expected());
  }
}

void check_uniforms(const SafetensorsReader& reader, const VerifyInput& input) {
  std::vector<bool> is_root(input.uniform_samples.size(), false);
  for (const std::int32_t root : input.parent_ptr) is_root[static_cast<std::size_t>(root)] = true;
  for (std::size_t node = 0; node < input.uniform_samples.size(); ++node) {
    if (is_root[node]) continue;
    check_uniform(reader.file(), "uniform_samples", node, input.uniform_samples[node]);
  }
}

std::vector<float> read_bonus_uniforms(SafetensorsReader& reader, std::size_t batch) {
  std::vector<float> uniforms;
  if (reader.find("bonus_uniforms")) {
    uniforms = read<float>(reader, "bonus_uniforms", "F32", {static_cast<std::int64_t>(batch)});
    for (std::size_t tree = 0; tree < batch; ++tree) {
      check_uniform(reader.file(), "bonus_uniforms", tree, uniforms[tree]);
    }
    return uniforms;
  }
  for (std::size_t tree = 0; tree < batch; ++tree) {
    uniforms.push_back(philox_uniform(0, 0, static_cast<std::uint32_t>(tree), Purpose::bonus, 0));
  }
  return uniforms;
}

}  // namespace

VerifyInput read_verify_input(const std::string& file) {
  SafetensorsReader reader(file);
  allow_only(reader, {"draft_probs", "draft_tokens", "model_probs", "token_tree_first_child",
                      "token_tree_next_sibling", "uniform_samples", "token_tree_parent_ptr",
                      "bonus_uniforms"});
  const TensorInfo& model = reader.require("model_probs");
  reader.check_shape(model, "F32", {-1, -1});
  reader.check(
      model,
      model.shape[0] <= std::numeric_limits<std::int32_t>::max() && model.shape[1] >= 1 &&
          model.shape[1] <= max_active_vocabulary,
      "F32 [nodes, V], nodes below 2^31, V in [1, " + to_text(max_active_vocabulary) + "]");
  VerifyInput input;
  input.nodes = model.shape[0];
  input.vocabulary = model.shape[1];
  input.draft_tokens = read<TokenId>(reader, "draft_tokens", "I32", {input.nodes});
  input.first_child = read<std::int32_t>(reader, "token_tree_first_child", "I32", {input.nodes});
  input.next_sibling = read<std::int32_t>(reader, "token_tree_next_sibling", "I32", {input.nodes});
  input.uniform_samples = read<float>(reader, "uniform_samples", "F32", {input.nodes});
  input.parent_ptr = read<std::int32_t>(reader, "token_tree_parent_ptr", "I32", {-1});
  check_in(reader, [&input] {
    validate_token_trees(input.draft_tokens, input.first_child, input.next_sibling,
                         input.parent_ptr, input.vocabulary);
  });
  check_uniforms(reader, input);
  input.bonus_uniforms = read_bonus_uniforms(reader, input.parent_ptr.size());
  input.model_probs = read<float>(reader, "model_probs", "F32", {input.nodes, input.vocabulary});
  input.draft_probs = read<float>(reader, "draft_probs", "F32", {input.nodes, input.vocabulary});
  return input;
}

}  // namespace tokkos::tools
