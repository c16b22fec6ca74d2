// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/c_names.hpp"

#include <algorithm>
#include <array>

namespace tokkos::interop {

namespace {

/// A name of C++, and those of tokkos.h before and behind its index.
struct Renamed {
  std::string_view name, before, behind;
};

constexpr std::array<Renamed, 11> renamed{{{"generation_configs", "requests", ".config"},
                                           {"sequence_states", "requests", ""},
                                           {"request_ids", "requests", ".id"},
                                           {"draft_trees", "requests", ".draft_tree"},
                                           {"draft_token_indices", "requests", ".draft_nodes"},
                                           {"max_num_token", "max_rows", ""},
                                           {"max_num_node", "max_rows", ""},
                                           {"vocab_size", "vocabulary", ""},
                                           {".extent", ".shape", ""},
                                           {".stride", ".strides", ""},
                                           {".token_id", ".token", ""}}};

bool is_of_a_name(char letter) {
  return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/// How many letters the name at the beginning of the text has, a dot before it included.
std::size_t name_length(std::string_view text) {
  const std::string_view name = text.substr(text.starts_with('.') ? 1 : 0);
  const auto letters = std::ranges::find_if_not(name, is_of_a_name) - name.begin();
  return letters == 0 ? 0 : static_cast<std::size_t>(letters) + (text.size() - name.size());
}

}  // namespace

std::string with_c_names(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, std::max<std::size_t>(name_length(text), 1));
    text.remove_prefix(word.size());
    const auto found = std::ranges::find(renamed, word, &Renamed::name);
    if (found == renamed.end()) {
      result.append(word);
      continue;
    }
    const std::size_t index = text.starts_with('[') ? text.find(']') + 1 : 0;
    result.append(found->before).append(text.substr(0, index)).append(found->behind);
    text.remove_prefix(index);
  }
  return result;
}

}  // namespace tokkos::interop
