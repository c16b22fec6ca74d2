// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sameness/any_space.hpp"
#include "sameness/golden_results.hpp"

namespace tokkos::test {

/// What the kernels that read rows say about the matrix of golden_batches.hpp, for all logit types.
void add_rows(GoldenResults& results, const AnySpace& space);

/// What the kernels that truncate rows, draw several tokens and list log-probabilities say about a
/// part of that matrix, for all logit types.
void add_truncations(GoldenResults& results, const AnySpace& space);

/// Probabilities of golden_large_batch(), separate and in place, for all logit types: hosts treat
/// outputs that large in a way of their own.
void add_large_outputs(GoldenResults& results, const AnySpace& space);

/// Raw log-probabilities of a part of the matrix: the first tokens of rows before they are edited,
/// and tokens that are scored afterwards, for all logit types.
void add_raw_log_probabilities(GoldenResults& results, const AnySpace& space);

/// Edited logits, for all logit types.
void add_edits(GoldenResults& results, const AnySpace& space);

/// Draft trees by both rules, and tokens of given probabilities.
void add_verifications(GoldenResults& results, const AnySpace& space);

/// Draft trees from logits, for all logit types.
void add_greedy_verifications(GoldenResults& results, const AnySpace& space);

/// portable_exp and portable_log over sweeps of their domains.
void add_numerics(GoldenResults& results, const AnySpace& space);

/// Whether this processor has the instructions that the library was compiled to (the library
/// beside which golden_numerics.cpp was compiled).
bool processor_is_able();

}  // namespace tokkos::test
