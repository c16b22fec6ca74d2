// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/command/option_set.hpp"
#include "tools/decode/tree_shape.hpp"

#include <tokkos/request/generation_config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// An option that differs between the requests: request i has the value i modulo their number.
struct MixedOption {
  std::string name;  ///< without dashes
  std::vector<std::string> values;
};

/// The command line of `tokkos decode`.
struct DecodeOptions {
  std::vector<std::string> files;
  std::vector<GenerationConfig>
      configs;  ///< [batch], without logit_bias: words have no numbers yet
  std::vector<MixedOption> mixed;
  std::vector<std::pair<std::string, double>> word_bias;
  std::int32_t batch = 1;
  TreeShape tree;
  std::vector<std::string> prompts;  ///< 1 to batch; request i has prompt i modulo their number
  std::int32_t max_tokens = 1;
  std::vector<std::string> constraints;  ///< likewise, "none" among them; empty: none for all
  std::optional<std::string> text_file;
  std::optional<std::string> trace_file;
  std::optional<std::int32_t>
      most_likely;  ///< --logprobs: words to list with each; none: not given
  bool no_speculation = false;
  bool lm_head = false;  ///< the target is a neural model
  bool strict = false;
};

/// @throws Error that names the option, its value and its range
DecodeOptions read_decode_options(const OptionSet& options);

/// What a request has of the mixed options: "temperature 0.7, policy openai".
std::string mixed_parameters(const DecodeOptions& options, std::size_t request);

}  // namespace tokkos::tools
