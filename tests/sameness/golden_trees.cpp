// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "sameness/golden_trees.hpp"

#include <algorithm>
#include <bit>

namespace tokkos::test {

std::vector<float> distribution(IntegerValues& random, std::int64_t vocabulary, int holes) {
  std::vector<std::int64_t> units(static_cast<std::size_t>(vocabulary));
  std::int64_t left = std::int64_t{1} << 24;
  const std::int64_t most = 2 * left / vocabulary;
  for (auto& one : units) {
    one = random.below(holes) == 0 ? 0 : std::min(left, random.below(most + 1));
    left -= one;
  }
  units[static_cast<std::size_t>(random.below(vocabulary))] += left;
  std::vector<float> row;
  for (const std::int64_t one : units) row.push_back(static_cast<float>(one) * 0x1p-24f);
  return row;
}

Trees make_trees(std::int64_t vocabulary, std::uint64_t seed, int batch) {
  IntegerValues random(seed * 1000 + static_cast<std::uint64_t>(vocabulary));
  Trees trees;
  trees.vocabulary = vocabulary;
  const int nodes = batch * nodes_per_tree;
  const int first[] = {1, 4, 6, 8, -1, -1, -1, -1, -1, -1};
  const int next[] = {-1, 2, 3, -1, 5, -1, 7, -1, 9, -1};
  for (int node = 0; node < nodes; ++node) {
    const int root = node - node % nodes_per_tree;
    const auto linked = [root](int link) { return link < 0 ? -1 : root + link; };
    trees.first_child.push_back(linked(first[node - root]));
    trees.next_sibling.push_back(linked(next[node - root]));
    const auto draft = distribution(random, vocabulary, 4);
    const auto model = distribution(random, vocabulary, 3);
    trees.draft.insert(trees.draft.end(), draft.begin(), draft.end());
    trees.model.insert(trees.model.end(), model.begin(), model.end());
    std::int64_t token = random.below(vocabulary);
    while (draft[static_cast<std::size_t>(token)] == 0.0f) token = (token + 1) % vocabulary;
    trees.tokens.push_back(static_cast<std::int32_t>(token));
    trees.uniforms.push_back(random.uniform());
    if (node == root) trees.roots.push_back(node);
  }
  trees.bonus_uniforms = random.uniforms(batch);
  return trees;
}

void spoil(Trees& trees) {
  const auto row = [&trees](std::vector<float>& rows, int node) {
    return rows.begin() + node * trees.vocabulary;
  };
  const int tree = nodes_per_tree;
  trees.tokens[1 * tree + 1] = static_cast<std::int32_t>(trees.vocabulary);  // no such token
  trees.uniforms[1 * tree + 2] = __builtin_nanf("");
  // The draft equals the target, and the token is rejected: nothing is left.
  std::copy_n(row(trees.model, 2 * tree), trees.vocabulary, row(trees.draft, 2 * tree + 1));
  trees.tokens[2 * tree + 1] = 0;
  *row(trees.model, 2 * tree) = 0.0f;
  trees.uniforms[2 * tree + 1] = 0.9f;
  trees.next_sibling[3 * tree + 1] = static_cast<std::int32_t>(trees.tokens.size());
  trees.uniforms[3 * tree + 1] = 0x1.fffffep-1f;
  *row(trees.model, 4 * tree) = -0.5f;
}

void add_tails(Trees& trees) {
  for (std::size_t node = 0; node < trees.tokens.size(); ++node) {
    float* const model = trees.model.data() + static_cast<std::int64_t>(node) * trees.vocabulary;
    model[1] += model[0];
    model[0] = 0.75f * 0x1p-44f;
  }
  for (std::size_t tree = 0; tree < trees.roots.size(); tree += 2) trees.bonus_uniforms[tree] = 0;
  IntegerValues random(static_cast<std::uint64_t>(trees.vocabulary) + 2000);
  const auto tail = [&random] {  // 2^-41 to 2^-25
    const auto w = static_cast<std::uint32_t>(random.word() >> 32);
    return std::bit_cast<float>((w & 0x07ffffffu) + (86u << 23));
  };
  for (const std::int32_t root : trees.roots) {
    float* const model = trees.model.data() + root * trees.vocabulary;
    float* const draft = trees.draft.data() + (root + 1) * trees.vocabulary;
    for (std::int64_t v = 0; v < trees.vocabulary; ++v) {
      const bool empty = model[v] == 0.0f;
      if (empty) model[v] = tail();
      draft[v] = empty ? tail() : model[v];
    }
    draft[1] = model[1] + 0x1p-20f;
    trees.tokens[static_cast<std::size_t>(root + 1)] = 1;
    trees.uniforms[static_cast<std::size_t>(root + 1)] = 0x1.fffffep-1f;
  }
}

void add_subnormals(Trees& trees) {
  for (const std::int32_t root : trees.roots) {
    trees.model[static_cast<std::size_t>(root * trees.vocabulary + 2)] = 0x1p-131f;
    trees.draft[static_cast<std::size_t>((root + 1) * trees.vocabulary + 2)] = 0x1p-130f;
    trees.tokens[static_cast<std::size_t>(root + 1)] = 2;
    const bool is_even = root / nodes_per_tree % 2 == 0;
    trees.uniforms[static_cast<std::size_t>(root + 1)] = is_even ? 0.75f : 0.25f;
  }
}

void choose_tokens(Trees& trees) {
  for (std::size_t node = 0; node < trees.tokens.size(); ++node) {
    const bool is_chosen = (node / nodes_per_tree + node) % 2 == 0;
    trees.draft_row.push_back(is_chosen ? -1 : static_cast<std::int32_t>(node));
    const std::int32_t token = trees.tokens[node];
    if (!is_chosen || token >= trees.vocabulary) continue;
    const auto row = trees.draft.begin() + static_cast<std::int64_t>(node) * trees.vocabulary;
    std::fill_n(row, trees.vocabulary, 0.0f);
    row[token] = 1.0f;
  }
}

void share_rows(Trees& trees) {
  trees.without_replacement = true;
  trees.draft_row.assign(trees.tokens.size(), -1);
  IntegerValues random(static_cast<std::uint64_t>(trees.vocabulary) + 5000);
  for (std::size_t node = 0; node < trees.tokens.size(); ++node) {
    const std::size_t root = node - node % nodes_per_tree;
    if (node == root) continue;
    // The first children are the nodes 1, 4, 6 and 8 of a tree.
    const std::size_t place = node - root;
    const std::size_t first = root + (place < 4 ? 1 : place - place % 2);
    const bool is_chosen = node != first && random.below(6) == 0;
    trees.draft_row[node] = is_chosen ? -1 : static_cast<std::int32_t>(first);
    if (node == first || random.below(6) == 0) continue;
    const auto row = trees.draft.begin() + static_cast<std::int64_t>(first) * trees.vocabulary;
    const auto is_taken = [&](std::int32_t token) {
      return pattern(row[token]) == 0u ||
             std::count(trees.tokens.begin() + static_cast<std::int64_t>(first),
                        trees.tokens.begin() + static_cast<std::int64_t>(node), token) != 0;
    };
    auto token = static_cast<std::int32_t>(random.below(trees.vocabulary));
    for (std::int64_t i = 0; i < trees.vocabulary && is_taken(token); ++i) {
      token = static_cast<std::int32_t>((token + 1) % trees.vocabulary);
    }
    trees.tokens[node] = token;
  }
}

}  // namespace tokkos::test
