// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/command/option_set.hpp"
#include "tools/io/safetensors_writer.hpp"
#include "tools/verify/verify_input.hpp"
#include "tools/verify/verify_step.hpp"

#include <ostream>
#include <vector>

namespace tokkos::tools {

namespace {

OptionSet parse_options(std::span<const std::string> arguments) {
  return OptionSet(
      "verify", "Verify recorded draft trees.",
      {{"tree", "IN.safetensors",
        "draft_probs, model_probs F32 [nodes,V]; draft_tokens, token_tree_first_child, "
        "token_tree_next_sibling I32 [nodes]; uniform_samples F32 [nodes]; token_tree_parent_ptr "
        "I32 [batch]; for lossless optionally bonus_uniforms F32 [batch]"},
       {"output", "OUT.safetensors",
        "Receives model_probs, token_tree_parent_ptr, row_status, accepted, and bonus_tokens"},
       {"rule", "seed|lossless", "Which rule accepts a draft (default: seed)"},
       {"strict", "", "Exit with status 1 if a tree has a bad status (any but zero_residual)"}},
      arguments);
}

VerifyRule parse_rule(const std::string& rule) {
  if (rule == "seed") return VerifyRule::seed;
  if (rule == "lossless") return VerifyRule::lossless;
  throw Error("--rule", std::nullopt, "\"" + rule + "\"", "seed or lossless");
}

}  // namespace

void run_verify(std::span<const std::string> arguments, std::ostream& out) {
  const OptionSet options = parse_options(arguments);
  if (options.wants_help()) {
    out << options.help();
    return;
  }
  const std::string output = options.required("output");
  const VerifyRule rule = parse_rule(options.value("rule").value_or("seed"));
  check_output_place(output);
  const VerifyInput input = read_verify_input(options.required("tree"), rule);
  const VerifyResult result = verify_step(input, rule);

  const auto batch = static_cast<std::int64_t>(input.parent_ptr.size());
  std::vector<OutputTensor> tensors{
      {"model_probs", std::span<const float>(result.model_probs), {input.nodes, input.vocabulary}},
      {"token_tree_parent_ptr", std::span<const std::int32_t>(result.parent_ptr), {batch}},
      {"row_status", std::span<const std::int32_t>(result.tree_status), {batch}},
      {"accepted", std::span<const std::int32_t>(result.accepted), {batch}}};
  if (rule == VerifyRule::lossless) {
    tensors.emplace_back("bonus_tokens", std::span<const std::int32_t>(result.bonus_tokens),
                         std::vector<std::int64_t>{batch});
  }
  write_safetensors(output, tensors);
  print_bad_rows("tree", result.tree_status, RowStatus::zero_residual, out);
  if (options.has("strict")) refuse_bad_rows(result.tree_status, RowStatus::zero_residual);
}

}  // namespace tokkos::tools
