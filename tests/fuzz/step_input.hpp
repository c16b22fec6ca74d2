// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random_step.hpp"
#include "fuzz/faults.hpp"
#include "fuzz/fuzz_bytes.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tokkos::test {

/// Most rows of a call of the harness.
constexpr std::int64_t max_rows = 10;

/// A step with some bad values.
struct FuzzStep {
  std::unique_ptr<RandomStep> step;
  StoredAs stored_as = StoredAs::float32;
  std::vector<float> logits;    ///< [rows, vocabulary]
  std::vector<float> uniforms;  ///< [rows], or empty: Philox
  bool draws = true;
  bool truncates = false;
  bool stores_mask = false;
  bool scores = false;     ///< log-probabilities and log-sum-exp are asked for
  std::size_t listed = 0;  ///< how many of the most likely tokens
  bool prepares = false;   ///< staging and kernels in two calls
};

FuzzStep make_fuzz_step(FuzzBytes& bytes);

/// What of the step is not as documented, looked at value by value.
Faults faults_of(const FuzzStep& fuzz);

}  // namespace tokkos::test
