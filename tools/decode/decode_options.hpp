// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/command/option_set.hpp"
#include "tools/decode/tree_shape.hpp"

#include <tokkos/request/generation_config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// The command line of `tokkos decode`.
struct DecodeOptions {
  std::vector<std::string> files;
  GenerationConfig config;  ///< without logit_bias: words have no numbers yet
  std::vector<std::pair<std::string, double>> word_bias;
  std::int32_t batch = 1;
  TreeShape tree;
  std::string prompt;
  std::int32_t max_tokens = 1;
  std::optional<std::string> constraint;
  std::optional<std::string> text_file;
  std::optional<std::string> trace_file;
  std::optional<std::int32_t>
      most_likely;  ///< --logprobs: words to list with each; none: not given
  bool no_speculation = false;
  bool strict = false;
};

/// @throws Error that names the option, its value and its range
DecodeOptions read_decode_options(const OptionSet& options);

}  // namespace tokkos::tools
