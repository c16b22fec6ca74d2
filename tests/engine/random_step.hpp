// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/scripted_grammar.hpp"
#include "reference/processor_reference.hpp"
#include "request/owned_step.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace tokkos::test {

/// A step of random requests: single rows, several rows, and one row per draft node, with biases,
/// penalties, grammars and temperatures of all kinds.
struct RandomStep {
  std::int64_t vocabulary = 0;
  std::int64_t active = 0;
  std::int64_t rows = 0;
  OwnedStep step;
  std::deque<ScriptedGrammar> grammars;

  /// What semantics.md does to a request's row-th row, worked out naively.
  RowEdits edits(std::size_t request, std::int64_t row) const;
};

RandomStep make_random_step(std::int64_t vocabulary, std::int64_t active, std::uint64_t seed,
                            int requests = 6);

/// The same with a history for every request: Philox needs one.
RandomStep make_random_step_with_histories(std::int64_t vocabulary, std::int64_t active,
                                           std::uint64_t seed);

/// The same, and two of three requests are truncated.
std::unique_ptr<RandomStep> make_truncated_step(std::int64_t vocabulary, std::uint64_t seed);

/// Random logits, multiples of 1/8; with `special`, some are NaN, infinite or at the ends of float.
std::vector<float> random_logits(std::size_t count, std::mt19937_64& random, bool special);

/// What a step must leave as it was.
struct Snapshot {
  std::vector<std::vector<TokenId>> generated;
  std::vector<std::vector<TokenId>> accepted;
  int misuses = 0;

  explicit Snapshot(const RandomStep& step);
  bool operator==(const Snapshot&) const = default;
};

}  // namespace tokkos::test
