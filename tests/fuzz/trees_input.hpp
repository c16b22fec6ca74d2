// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuzz/fuzz_bytes.hpp"
#include "reference/verify_reference.hpp"

#include <tokkos/request/draft_tree.hpp>

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Arrays of trees as a kernel takes them, with some bad values.
struct FuzzTrees {
  VerifyCase data;
  bool bad_values = false;  ///< probabilities, uniforms or numbers of rows that are none
};

FuzzTrees make_fuzz_trees(FuzzBytes& bytes);

/// Whether the arrays are trees, each node in one of them at most: worked out by walking from every
/// node.
bool are_trees(const VerifyCase& c);

/// Draft trees of requests, with some bad values.
std::vector<DraftTree> make_draft_trees(FuzzBytes& bytes, int vocabulary, int most_nodes);

/// A row of probabilities: of a few kinds, some with zeros.
void fill_row(FuzzBytes& bytes, std::span<float> row);

}  // namespace tokkos::test
