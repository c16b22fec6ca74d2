// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_step.hpp"

#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <Kokkos_Core.hpp>

#include "tools/io/device_array.hpp"

#include <algorithm>

namespace tokkos::tools {

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
/// The arrays of the step on the device.
struct DeviceStep {
  explicit DeviceStep(const VerifyInput& input)
      : draft_probs(to_device("tokkos::verify::draft_probs", input.draft_probs)),
        model_probs(to_device("tokkos::verify::model_probs", input.model_probs)),
        draft_tokens(to_device("tokkos::verify::draft_tokens", input.draft_tokens)),
        first_child(to_device("tokkos::verify::first_child", input.first_child)),
        next_sibling(to_device("tokkos::verify::next_sibling", input.next_sibling)),
        uniforms(to_device("tokkos::verify::uniforms", input.uniform_samples)),
        parent_ptr(to_device("tokkos::verify::parent_ptr", input.parent_ptr)),
        tree_status("tokkos::verify::tree_status", input.parent_ptr.size()),
        nodes(input.nodes),
        vocabulary(input.vocabulary) {}

  template <class T>
  Matrix<T, Memory> rows(const DeviceArray<std::remove_const_t<T>>& elements) const {
    const auto columns = static_cast<std::size_t>(vocabulary);
    return Matrix<T, Memory>(elements.data(), Kokkos::LayoutStride(static_cast<std::size_t>(nodes),
                                                                   columns, columns, 1));
  }

  Space space;
  DeviceArray<float> draft_probs;
  DeviceArray<float> model_probs;
  DeviceArray<TokenId> draft_tokens;
  DeviceArray<std::int32_t> first_child;
  DeviceArray<std::int32_t> next_sibling;
  DeviceArray<float> uniforms;
  DeviceArray<std::int32_t> parent_ptr;
  DeviceArray<std::int32_t> tree_status;
  std::int64_t nodes;
  std::int64_t vocabulary;
};

VerifyResult verify_by_seed(const VerifyInput& input) {
  const DeviceStep step(input);
  batch_spec_verify<Space>(step.space, step.rows<const float>(step.draft_probs), step.draft_tokens,
                           step.rows<float>(step.model_probs), step.first_child, step.next_sibling,
                           step.uniforms, step.parent_ptr, step.tree_status);
  step.space.fence("tokkos::verify::seed");
  VerifyResult result;
  result.model_probs = to_host(step.model_probs);
  result.parent_ptr = to_host(step.parent_ptr);
  result.tree_status = to_host(step.tree_status);
  return result;
}

std::vector<std::int32_t> parents_of(const VerifyInput& input) {
  std::vector<std::int32_t> parents(input.first_child.size(), -1);
  for (std::size_t node = 0; node < parents.size(); ++node) {
    for (std::int32_t child = input.first_child[node]; child >= 0;
         child = input.next_sibling[static_cast<std::size_t>(child)]) {
      parents[static_cast<std::size_t>(child)] = static_cast<std::int32_t>(node);
    }
  }
  return parents;
}

std::vector<std::int32_t> count_accepted(const VerifyInput& input,
                                         const std::vector<std::int32_t>& parent_ptr) {
  const auto parents = parents_of(input);
  std::vector<std::int32_t> accepted;
  for (std::size_t tree = 0; tree < parent_ptr.size(); ++tree) {
    std::int32_t depth = 0;
    for (std::int32_t node = parent_ptr[tree]; node >= 0 && node != input.parent_ptr[tree];
         node = parents[static_cast<std::size_t>(node)]) {
      ++depth;
    }
    accepted.push_back(depth);
  }
  return accepted;
}

/// What the rejections leave: at each parent, its children with a residual sum R above 0 were
/// rejected, in the order of the siblings, and each made p = max(p - q, 0) / R.
void subtract_rejected(const VerifyInput& input, const std::vector<float>& residual_sums,
                       std::vector<float>& model_probs) {
  const auto vocabulary = static_cast<std::size_t>(input.vocabulary);
  for (std::size_t node = 0; node < input.first_child.size(); ++node) {
    float* row = model_probs.data() + node * vocabulary;
    for (std::int32_t c = input.first_child[node]; c >= 0;
         c = input.next_sibling[static_cast<std::size_t>(c)]) {
      const auto child = static_cast<std::size_t>(c);
      if (!(residual_sums[child] > 0.0f)) continue;
      const float* draft = input.draft_probs.data() + child * vocabulary;
      for (std::size_t v = 0; v < vocabulary; ++v) {
        row[v] = std::max(row[v] - draft[v], 0.0f) / residual_sums[child];
      }
    }
  }
}

/// A status that makes a row unusable zeroes the row at which the tree's walk ended.
void clear_unusable_rows(std::int64_t vocabulary, VerifyResult& result) {
  for (std::size_t tree = 0; tree < result.tree_status.size(); ++tree) {
    if ((result.tree_status[tree] & unusable_row) == 0) continue;
    const auto row = result.model_probs.begin() + result.parent_ptr[tree] * vocabulary;
    std::fill(row, row + vocabulary, 0.0f);
  }
}

VerifyResult verify_losslessly(const VerifyInput& input) {
  const DeviceStep step(input);
  const std::size_t batch = input.parent_ptr.size();
  const auto bonus_uniforms = to_device("tokkos::verify::bonus_uniforms", input.bonus_uniforms);
  const DeviceArray<std::int32_t> accepted("tokkos::verify::accepted", batch);
  const DeviceArray<TokenId> bonus_tokens("tokkos::verify::bonus_tokens", batch);
  const DeviceArray<float> residual_sums("tokkos::verify::residual_sums",
                                         static_cast<std::size_t>(input.nodes));
  verify_draft_trees<Space>(
      step.space,
      {step.rows<const float>(step.draft_probs), step.draft_tokens,
       step.rows<const float>(step.model_probs), step.uniforms, bonus_uniforms},
      {step.first_child, step.next_sibling, step.parent_ptr},
      {accepted, bonus_tokens, residual_sums, step.tree_status});
  step.space.fence("tokkos::verify::lossless");
  VerifyResult result;
  result.model_probs = input.model_probs;
  subtract_rejected(input, to_host(residual_sums), result.model_probs);
  result.parent_ptr = to_host(step.parent_ptr);
  result.tree_status = to_host(step.tree_status);
  result.accepted = to_host(accepted);
  result.bonus_tokens = to_host(bonus_tokens);
  return result;
}

}  // namespace

VerifyResult verify_step(const VerifyInput& input, VerifyRule rule) {
  const bool lossless = rule == VerifyRule::lossless;
  VerifyResult result = lossless ? verify_losslessly(input) : verify_by_seed(input);
  if (!lossless) result.accepted = count_accepted(input, result.parent_ptr);
  clear_unusable_rows(input.vocabulary, result);
  return result;
}

}  // namespace tokkos::tools
