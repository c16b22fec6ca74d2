// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sameness/integer_values.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Draft trees of a batch: a root, three children, two children of each of them.
struct Trees {
  std::int64_t vocabulary = 0;
  std::vector<float> draft, model;  ///< [nodes, V]
  std::vector<std::int32_t> tokens, first_child, next_sibling, roots;
  std::vector<float> uniforms, bonus_uniforms;
  std::vector<std::int32_t> draft_row;  ///< [nodes] or empty
  bool without_replacement = false;
};

constexpr int nodes_per_tree = 10;

/// A distribution of multiples of 2^-24 whose sum is 1 exactly; one token in `holes` has none.
std::vector<float> distribution(IntegerValues& random, std::int64_t vocabulary, int holes);

/// Links and tokens with a distribution at every node.
Trees make_trees(std::int64_t vocabulary, std::uint64_t seed, int batch);

/// Trees 1 to 4 of a batch of at least 5 get something wrong each.
void spoil(Trees& trees);

/// Gives tokens without mass one below the grid of exact sums, and lets every root and its first
/// child differ in those alone, so that rounding to the grid is seen in the residual; and has the
/// first token of every row to be drawn if three quarters of a unit count as one.
void add_tails(Trees& trees);

/// The first child of every root is decided by subnormal numbers: rejected in even trees.
void add_subnormals(Trees& trees);

/// Every other child was chosen, not drawn: the distribution that it would have been drawn from is
/// 1 at its token, and its draft_row -1.
void choose_tokens(Trees& trees);

/// Siblings draw from the first one's row without replacement, but for some that were chosen; some
/// stand there twice.
void share_rows(Trees& trees);

}  // namespace tokkos::test
