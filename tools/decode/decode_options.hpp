// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/tree_shape.hpp"

#include <tokkos/request/generation_config.hpp>

#include <cstdint>
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
  std::string constraint;  ///< empty: none
  std::string text_file;   ///< empty: none
  bool no_speculation = false;
  bool strict = false;
  std::string help;  ///< not empty: print it and do nothing else
};

/// @throws Error that names the option, its value and its range; what cxxopts throws for an unknown
/// one
DecodeOptions parse_decode_options(int argc, char** argv);

}  // namespace tokkos::tools
