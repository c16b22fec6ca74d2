// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/generation_config.hpp>

#include <cstddef>
#include <map>
#include <vector>

namespace tokkos::test {

/// How texts are to be distributed that an n-gram model generates.
struct TextLaw {
  std::vector<int> text;  ///< what the model was built from
  int vocabulary = 0;
  std::size_t order = 4;
  GenerationConfig config;
  std::vector<int> words;   ///< the only ones that may come, ascending
  std::vector<int> prompt;  ///< counted by the policy llama_cpp alone
};

/// The distribution of the next token by the definitions, in double: model, bias, the penalties of
/// the policies seed and llama_cpp, banned repetitions of two tokens, temperature, truncation.
std::vector<double> next_token(const TextLaw& law, const std::vector<int>& generated);

/// Every text of `length` tokens that may come, and its probability.
std::map<std::vector<int>, double> exact_law(const TextLaw& law, int length);

}  // namespace tokkos::test
