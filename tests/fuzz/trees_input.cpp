// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/trees_input.hpp"

#include <algorithm>
#include <limits>

namespace tokkos::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();

float fuzz_uniform(FuzzBytes& bytes) {
  const int kind = bytes.below(4);
  if (kind == 0) return 0.0f;
  if (kind == 1) return 1.0f - 0x1p-24f;
  return static_cast<float>(bytes.word()) * 0x1p-16f;
}

std::int32_t bad_index(FuzzBytes& bytes, int nodes) {
  return bytes.one_of<std::int32_t>({-2, nodes, largest, -largest - 1, bytes.below(nodes)});
}

/// Overwrites one value of the arrays that the device does not trust.
void plant_bad_link(FuzzBytes& bytes, FuzzTrees& trees) {
  VerifyCase& c = trees.data;
  const auto node = static_cast<std::size_t>(bytes.below(c.nodes()));
  const auto tree = static_cast<std::size_t>(bytes.below(c.batch()));
  switch (bytes.below(4)) {
    case 0:
      c.first_child[node] = bad_index(bytes, c.nodes());
      break;
    case 1:
      c.next_sibling[node] = bad_index(bytes, c.nodes());
      break;
    case 2:
      c.roots[tree] = bad_index(bytes, c.nodes());
      break;
    default:
      c.draft_tokens[node] = bytes.one_of({-1, c.vocabulary, largest, -largest - 1});
  }
}

void plant_bad_value(FuzzBytes& bytes, FuzzTrees& trees) {
  VerifyCase& c = trees.data;
  const auto node = static_cast<std::size_t>(bytes.below(c.nodes()));
  const auto value = bytes.one_of({nan, -0.5f, 1.5f, infinity, -infinity, 1e30f, 1e-42f, 0.0f});
  const auto token = static_cast<std::size_t>(bytes.word()) % c.width();
  trees.bad_values = true;
  switch (bytes.below(4)) {
    case 0:
      c.model_row(static_cast<int>(node))[token] = value;
      break;
    case 1:
      c.draft_row(static_cast<int>(node))[token] = value;
      break;
    case 2:
      c.uniforms[node] = value;
      break;
    default:
      c.bonus_uniforms[static_cast<std::size_t>(bytes.below(c.batch()))] = value;
  }
}

/// Makes some nodes one-hot, or lets siblings share a row.
void choose_rows(FuzzBytes& bytes, FuzzTrees& trees) {
  VerifyCase& c = trees.data;
  const int kind = bytes.below(4);
  if (kind < 2) return;
  c.row_of_node.resize(static_cast<std::size_t>(c.nodes()));
  for (int node = 0; node < c.nodes(); ++node) {
    std::int32_t& row = c.row_of_node[static_cast<std::size_t>(node)];
    row = node;
    if (bytes.flag()) {
      row = -1;
      const std::int32_t token = c.draft_tokens[static_cast<std::size_t>(node)];
      if (token < 0) continue;
      std::ranges::fill(c.draft_row(node), 0.0f);
      c.draft_row(node)[static_cast<std::size_t>(token)] = 1.0f;
    } else if (kind == 3) {
      row = bytes.mostly<std::int32_t>({node, bytes.below(c.nodes())}, {-2, c.nodes(), largest});
      trees.bad_values = trees.bad_values || row < 0 || row >= c.nodes();
    }
  }
  c.without_replacement = kind == 3 && bytes.flag();
}

}  // namespace

void fill_row(FuzzBytes& bytes, std::span<float> row) {
  const int kind = bytes.below(4);
  std::uint32_t state = bytes.byte() + 1u;
  double sum = 0;
  for (float& p : row) {
    state = state * 1664525u + 1013904223u;
    p = static_cast<float>(state >> 16) * 0x1p-16f;
    if (kind == 1) p = p < 0.5f ? 0.0f : p;  // half of it zeros
    if (kind == 2) p = 0.0f;                 // one token alone, below
    if (kind == 3) p = p * p * p * p * p * p;
    sum += static_cast<double>(p);
  }
  if (kind == 2 || sum == 0) {
    std::ranges::fill(row, 0.0f);
    row[state % row.size()] = 1.0f;
    return;
  }
  for (float& p : row) p = static_cast<float>(static_cast<double>(p) / sum);
}

FuzzTrees make_fuzz_trees(FuzzBytes& bytes) {
  FuzzTrees trees;
  VerifyCase& c = trees.data;
  c.vocabulary = bytes.one_of({5, 1, 2, 33, 40, 3, 4097, 4});
  const int batch = 1 + bytes.below(4);
  for (int tree = 0; tree < batch; ++tree) {
    const int root = c.add_node(-1, -1, nan);
    const int drafts = bytes.below(7);
    for (int i = 0; i < drafts; ++i) {
      const int parent = root + bytes.below(i + 1);
      const auto token = static_cast<std::int32_t>(bytes.byte() % c.vocabulary);
      c.add_node(parent, token, fuzz_uniform(bytes));
    }
    c.bonus_uniforms.back() = fuzz_uniform(bytes);
  }
  for (int node = 0; node < c.nodes(); ++node) {
    fill_row(bytes, c.draft_row(node));
    fill_row(bytes, c.model_row(node));
    if (bytes.below(4) == 3) std::ranges::copy(c.model_row(node), c.draft_row(node).begin());
  }
  choose_rows(bytes, trees);
  if (bytes.below(4) == 3) plant_bad_value(bytes, trees);
  for (int bad = bytes.below(8) - 4; bad > 0; --bad) plant_bad_link(bytes, trees);
  return trees;
}

bool are_trees(const VerifyCase& c) {
  const int nodes = c.nodes();
  const auto is_link = [=](std::int32_t i) { return i >= -1 && i < nodes; };
  std::vector<int> leads_here(static_cast<std::size_t>(nodes), 0);
  std::vector<bool> is_root(static_cast<std::size_t>(nodes), false);
  for (const std::int32_t root : c.roots) {
    if (root < 0 || root >= nodes) return false;
    is_root[static_cast<std::size_t>(root)] = true;
    ++leads_here[static_cast<std::size_t>(root)];
  }
  for (const auto* links : {&c.first_child, &c.next_sibling}) {
    for (const std::int32_t link : *links) {
      if (!is_link(link)) return false;
      if (link != -1) ++leads_here[static_cast<std::size_t>(link)];
    }
  }
  if (std::ranges::any_of(leads_here, [](int count) { return count > 1; })) return false;
  for (int start = 0; start < nodes; ++start) {
    // Nothing leads to a node twice, so a walk over what follows it is a walk over a tree, unless
    // it comes back to its start.
    std::vector<int> open = {start};
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto node = static_cast<std::size_t>(open[i]);
      for (const std::int32_t next : {c.first_child[node], c.next_sibling[node]}) {
        if (next == start || open.size() > static_cast<std::size_t>(nodes)) return false;
        if (next != -1) open.push_back(next);
      }
    }
    const std::int32_t token = c.draft_tokens[static_cast<std::size_t>(start)];
    const bool is_token = token >= 0 && token < c.vocabulary;
    if (!is_root[static_cast<std::size_t>(start)] && !is_token) return false;
  }
  return true;
}

std::vector<DraftTree> make_draft_trees(FuzzBytes& bytes, int vocabulary, int most_nodes) {
  std::vector<DraftTree> trees(static_cast<std::size_t>(bytes.below(4)));
  for (DraftTree& tree : trees) {
    const int nodes = bytes.below(most_nodes + 1);
    for (int i = 0; i < nodes; ++i) {
      tree.token_ids.push_back(bytes.mostly<std::int32_t>({bytes.byte() % vocabulary},
                                                          {-1, vocabulary, largest, -largest - 1}));
      tree.parents.push_back(bytes.mostly<std::int32_t>(
          {i - 1, bytes.below(i + 1) - 1}, {-2, nodes, largest, nodes - 1, i, -largest - 1}));
    }
    if (bytes.rarely()) tree.parents.push_back(-1);
  }
  return trees;
}

}  // namespace tokkos::test
