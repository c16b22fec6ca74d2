// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/verify_reference.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace tokkos::test {

/// The case with a stored row, 1 at the token and 0 elsewhere, for every node of which
/// `is_one_hot` holds: what references and dense kernels take for a token that was chosen.
inline VerifyCase with_one_hot_rows(VerifyCase c, const std::function<bool(int)>& is_one_hot) {
  for (int node = 0; node < c.nodes(); ++node) {
    if (!is_one_hot(node) || c.draft_tokens[node] < 0) continue;
    std::ranges::fill(c.draft_row(node), 0.0f);
    c.draft_row(node)[c.draft_tokens[node]] = 1.0f;
  }
  return c;
}

/// The same case with the rows of these nodes left out, and the others numbered anew, backwards.
inline VerifyCase without_one_hot_rows(const VerifyCase& c,
                                       const std::function<bool(int)>& is_one_hot) {
  VerifyCase stored = c;
  stored.draft_probs.clear();
  stored.row_of_node.assign(c.draft_tokens.size(), -1);
  std::int32_t rows = 0;
  for (int node = c.nodes() - 1; node >= 0; --node) {
    if (is_one_hot(node)) continue;
    const auto row = c.draft_row(node);
    stored.draft_probs.insert(stored.draft_probs.end(), row.begin(), row.end());
    stored.row_of_node[node] = rows++;
  }
  return stored;
}

/// Trees of a root with up to `widest` children and as many grandchildren under the first of them,
/// drafted among the first `vocabulary / 2` tokens, some of them twice, where the target has from
/// little to nearly all of its mass.
inline VerifyCase make_bushes(int batch, int vocabulary, int widest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  VerifyCase c;
  c.vocabulary = vocabulary;
  const auto drafted = static_cast<std::uint64_t>(std::max(1, std::min(vocabulary / 2, 8)));
  const auto add_children = [&](int parent) {
    const int children = static_cast<int>(random() % static_cast<std::uint64_t>(widest + 1));
    int first = -1;
    for (int i = 0; i < children; ++i) {
      const int child =
          c.add_node(parent, static_cast<std::int32_t>(random() % drafted), random_uniform(random));
      if (first < 0) first = child;
    }
    return first;
  };
  for (int b = 0; b < batch; ++b) {
    const int root = c.add_node(-1, -1, 0.0f);
    const int first = add_children(root);
    if (first >= 0) add_children(first);
    c.bonus_uniforms[b] = random_uniform(random);
  }
  for (int node = 0; node < c.nodes(); ++node) {
    fill_random_distribution(c.draft_row(node), random);
    auto row = c.model_row(node);
    fill_random_distribution(row, random);
    if (vocabulary == 1) continue;
    // A share in [0, 1] of the target's mass goes to the tokens that are drafted.
    const float shares[] = {0.0f, 0.3f, 0.7f, 0.97f, 0.9999f, 1.0f};
    const double share = shares[random() % 6];
    double low = 0, high = 0;
    for (int v = 0; v < vocabulary; ++v) (v < static_cast<int>(drafted) ? low : high) += row[v];
    for (int v = 0; v < vocabulary; ++v) {
      const bool is_drafted = v < static_cast<int>(drafted);
      row[v] = static_cast<float>(row[v] * (is_drafted ? share / low : (1 - share) / high));
    }
  }
  return c;
}

}  // namespace tokkos::test
