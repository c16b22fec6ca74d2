// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/faults.hpp"

#include <algorithm>

namespace tokkos::test {

bool names_one_of(const Faults& faults, const Error& error) {
  if (error.value().empty() || error.expected().empty()) return false;
  return std::ranges::any_of(faults, [&](const Fault& fault) {
    return fault.field == error.field() && fault.index == error.index() &&
           (fault.value.empty() || fault.value == error.value());
  });
}

void add_faults(const DraftTree& tree, int vocabulary, const std::string& field, Faults& faults) {
  const auto nodes = static_cast<std::int64_t>(tree.token_ids.size());
  if (static_cast<std::int64_t>(tree.parents.size()) != nodes) {
    faults.push_back({field + ".parents.size", std::nullopt, std::to_string(tree.parents.size())});
    return;
  }
  for (std::int64_t start = 0; start < nodes; ++start) {
    const std::int32_t token = tree.token_ids[static_cast<std::size_t>(start)];
    if (token < 0 || token >= vocabulary) {
      faults.push_back({field + ".token_ids", start, std::to_string(token)});
    }
    const std::int32_t parent = tree.parents[static_cast<std::size_t>(start)];
    std::int64_t at = parent, steps = 0;
    while (at >= 0 && at < nodes && steps <= nodes) {
      at = tree.parents[static_cast<std::size_t>(at)];
      ++steps;
    }
    const bool leads_nowhere = at != -1 && steps > nodes;
    const bool is_outside = parent < -1 || parent >= nodes;
    if (leads_nowhere || is_outside) {
      faults.push_back({field + ".parents", start, std::to_string(parent)});
    }
  }
}

void add_uniform_faults(const std::vector<float>& uniforms, std::size_t expected,
                        const std::string& field, Faults& faults, const std::vector<bool>& unread) {
  if (uniforms.size() != expected) {
    faults.push_back({field + ".size", std::nullopt, std::to_string(uniforms.size())});
    return;
  }
  for (std::size_t i = 0; i < expected; ++i) {
    if (!unread.empty() && unread[i]) continue;
    if (uniforms[i] >= 0.0f && uniforms[i] < 1.0f) continue;
    faults.push_back({field, static_cast<std::int64_t>(i)});
  }
}

}  // namespace tokkos::test
