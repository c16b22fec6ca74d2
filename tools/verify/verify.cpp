// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/command/step_progress.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/safetensors_writer.hpp"
#include "tools/verify/verify_input.hpp"
#include "tools/verify/verify_step.hpp"

#include <optional>
#include <ostream>
#include <vector>

namespace tokkos::tools {

namespace {

VerifyRule parse_rule(const std::string& rule) {
  if (rule == "seed") return VerifyRule::seed;
  if (rule == "lossless") return VerifyRule::lossless;
  throw Error("--rule", std::nullopt, "\"" + rule + "\"", "seed or lossless");
}

}  // namespace

OptionSet parse_verify(std::span<const std::string> arguments) {
  return OptionSet(
      {"verify",
       "Verify recorded draft trees.",
       {{"tree", "IN.safetensors",
         "draft_probs, model_probs F32 [nodes,V]; draft_tokens, token_tree_first_child, "
         "token_tree_next_sibling I32 [nodes]; uniform_samples F32 [nodes]; token_tree_parent_ptr "
         "I32 [batch]; optionally bonus_uniforms F32 [batch], which only lossless uses"},
        {"output", "OUT.safetensors",
         "Receives model_probs, token_tree_parent_ptr, row_status, accepted, and bonus_tokens"},
        {"rule", "seed|lossless", "Which rule accepts a draft", "seed"},
        {"strict", "", "Exit with status 1 if a tree has a bad status (any but zero_residual)"}}},
      arguments);
}

void run_verify(const OptionSet& options, std::ostream& out) {
  const std::string output_name = options.required("output");
  const VerifyRule rule = parse_rule(options.required("rule"));
  const std::vector<std::string> input_files{options.required("tree")};
  OutputFile output(output_name, input_files);
  std::optional<StepProgress> progress(std::in_place, "verify", 3);
  const VerifyInput input = read_verify_input(input_files.front());
  progress->advance();
  const VerifyResult result = verify_step(input, rule);
  progress->advance();

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
  output.write([&tensors](std::ostream& file) { write_safetensors(file, tensors); });
  progress.reset();
  print_bad_rows("tree", result.tree_status, RowStatus::zero_residual, out);
  output.publish(out);
  if (options.has("strict")) refuse_bad_rows(result.tree_status, RowStatus::zero_residual);
}

}  // namespace tokkos::tools
