// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/law_problem.hpp"
#include "law/wide_integer.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tokkos::test {

/// The uniforms k * 2^-24 with first <= k < end.
struct UniformRange {
  std::int64_t first = 0, end = std::int64_t{1} << 24;
};

/// One possible outcome of drafting: a tree as it is passed to verification, and its probability.
struct LawDraft {
  TreeShape tree;
  std::vector<std::int32_t> token = {-1};       // [nodes]
  std::vector<std::size_t> prefix = {0};        // [nodes] number of the tokens down to the node
  std::vector<std::vector<float>> row;          // [nodes] of draft_probs
  std::vector<std::int32_t> row_of_node = {0};  // [nodes] node whose row is the node's, or -1
  std::vector<std::vector<float>> target;       // [nodes]
  WideInteger weight = 1;                       // in units of draft_scale^-drafted
  int law = 0;  // drafts of one law add up to 1; every draft that was chosen is a law of its own
  std::vector<UniformRange> drafted_by = {{}};  // [nodes] of a shared stream: with which uniforms
};

/// Every draft of a problem that has a probability above 0. Rows of the target are left out.
std::vector<LawDraft> all_drafts(const LawProblem& problem, const LawTables& tables);

/// One of them, drawn by its probability; where tokens are chosen, any.
LawDraft random_draft(const LawProblem& problem, const LawTables& tables, std::mt19937_64& random);

}  // namespace tokkos::test
