// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/draft_tree.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/request/linked_draft_trees.hpp>

#include "interop/sized_struct.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tokkos::interop {

namespace {

tokkos_tree_links default_links() {
  tokkos_tree_links links{};
  links.type = TOKKOS_INT32;
  return links;
}

template <class Index>
DraftTree tree_of(const tokkos_tree_links& links, std::int64_t vocabulary) {
  const auto array = [&](const void* numbers) {
    return std::span(static_cast<const Index*>(numbers), links.count);
  };
  return draft_tree_of_links(array(links.draft_tokens), array(links.first_child),
                             array(links.next_sibling), vocabulary);
}

DraftTree tree_of_links(const std::string& name, const tokkos_tree_links* links_of_c,
                        std::int64_t vocabulary) {
  const tokkos_tree_links links = read_struct(name, links_of_c, default_links());
  checked_array(name + ".draft_tokens", links.draft_tokens, links.count);
  checked_array(name + ".first_child", links.first_child, links.count);
  checked_array(name + ".next_sibling", links.next_sibling, links.count);
  require(links.type == TOKKOS_INT32 || links.type == TOKKOS_INT64, (name + ".type").c_str(),
          std::nullopt, links.type, "TOKKOS_INT32 or TOKKOS_INT64");
  try {
    return links.type == TOKKOS_INT32 ? tree_of<std::int32_t>(links, vocabulary)
                                      : tree_of<std::int64_t>(links, vocabulary);
  } catch (const Error& error) {
    throw Error(name + "." + error.field(), error.index(), error.value(), error.expected());
  }
}

}  // namespace

void assign_draft_tree(const std::string& name, const tokkos_draft_tree* tree_of_c,
                       std::int64_t vocabulary, DraftTree& tree) {
  tree.token_ids.clear();
  tree.parents.clear();
  tree.trial_order.clear();
  if (tree_of_c == nullptr) return;
  const auto given = read_struct(name, tree_of_c, tokkos_draft_tree{});
  if (given.links != nullptr) {
    const bool has_parents = given.token_ids != nullptr || given.parents != nullptr ||
                             given.trial_order != nullptr || given.count > 0;
    if (has_parents) {
      throw Error(name + ".links", std::nullopt, "given, with arrays beside them",
                  "links alone, or token_ids and parents");
    }
    tree = tree_of_links(name + ".links", given.links, vocabulary);
    return;
  }
  checked_array(name + ".token_ids", given.token_ids, given.count);
  checked_array(name + ".parents", given.parents, given.count);
  tree.token_ids.assign(given.token_ids, given.token_ids + given.count);
  tree.parents.assign(given.parents, given.parents + given.count);
  if (given.trial_order == nullptr) return;
  tree.trial_order.assign(given.trial_order, given.trial_order + given.count);
}

}  // namespace tokkos::interop

void tokkos_tree_links_init(tokkos_tree_links* links, size_t size) {
  tokkos::interop::initialize_struct(links, size, tokkos::interop::default_links());
}

void tokkos_draft_tree_init(tokkos_draft_tree* tree, size_t size) {
  tokkos::interop::initialize_struct(tree, size, tokkos_draft_tree{});
}
