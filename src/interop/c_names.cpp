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

constexpr std::array<Renamed, 20> renamed{{{"uniforms.nodes", "options.node_uniforms", ""},
                                           {"uniforms.bonus", "options.bonus_uniforms", ""},
                                           {"generation_configs", "requests", ".config"},
                                           {"sequence_states", "requests", ""},
                                           {"request_ids", "requests", ".id"},
                                           {"draft_trees", "requests", ".draft_tree"},
                                           {"draft_token_indices", "requests", ".draft_nodes"},
                                           {"max_num_token", "max_rows", ""},
                                           {"max_num_node", "max_rows", ""},
                                           {"vocab_size", "vocabulary", ""},
                                           {"token_tree_first_child", "first_child", ""},
                                           {"token_tree_next_sibling", "next_sibling", ""},
                                           {"token_tree_parent_ptr", "parent_ptr", ""},
                                           {"uniform_samples", "uniforms", ""},
                                           {"row_of_node", "options.row_of_node", ""},
                                           {"bitmask.row_index", "bitmask_row_index", ""},
                                           {"store_mask", "options.store_mask", ""},
                                           {".extent", ".shape", ""},
                                           {".stride", ".strides", ""},
                                           {".token_id", ".token", ""}}};

bool is_of_a_name(char letter) {
  return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/// Whether a text begins with a name, and not with a longer one.
bool begins_with(std::string_view text, std::string_view name) {
  return text.starts_with(name) && (text.size() == name.size() || !is_of_a_name(text[name.size()]));
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
    const auto found = std::ranges::find_if(
        renamed, [&](const Renamed& one) { return begins_with(text, one.name); });
    if (found == renamed.end()) {
      const std::size_t length = std::max<std::size_t>(name_length(text), 1);
      result.append(text.substr(0, length));
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(found->name.size());
    const std::size_t index = text.starts_with('[') ? text.find(']') + 1 : 0;
    result.append(found->before).append(text.substr(0, index)).append(found->behind);
    text.remove_prefix(index);
  }
  return result;
}

}  // namespace tokkos::interop
