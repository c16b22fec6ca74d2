// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "timing.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

// What the benchmarks run on. Names of benchmarks read operation/type/rows/vocabulary[/variant].

namespace tokkos::bench {

/// The matrix: vocabularies of real models, and powers of two to see how the cost grows.
inline const std::vector<std::int64_t> vocabularies{32000,  50257,  128256, 129280, 151669,
                                                    151936, 201088, 256000, 262144, 4096,
                                                    8192,   16384,  32768,  65536,  131072};
inline const std::vector<std::int64_t> row_counts{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

template <class T>
using Numbers = Kokkos::View<T*, Memory>;

/// One number in device memory.
using Number = Kokkos::View<float, Memory>;

/// float32, bfloat16 or float16.
template <LogitType Logit>
std::string type_name();

std::string case_name(const std::string& operation, const std::string& type, std::int64_t rows,
                      std::int64_t vocabulary, const std::string& variant = "");

/// What the logits look like.
enum class Values {
  normal,  ///< deviation 2.5
  peaked,  ///< the same, and one token of each row 20 above
  flat,    ///< all equal
  offset   ///< normal + 10000
};

/// Rows of random logits. Each row starts one further into the same numbers: generating 10^8 of
/// them would take longer than the benchmark.
template <LogitType Logit>
Rows<Logit> make_logits(std::int64_t rows, std::int64_t vocabulary, Values values = Values::normal);

/// Rows of random probabilities that sum to 1.
Rows<float> make_probabilities(std::int64_t rows, std::int64_t vocabulary, std::uint64_t seed);

/// The same temperature for all rows.
Numbers<float> make_temperatures(std::int64_t rows, float temperature);

/// 0, 0.3, 0.7, 1 and 1.5 in turn.
Numbers<float> make_mixed_temperatures(std::int64_t rows);

/// Uniforms in [0, 1).
Numbers<float> make_uniforms(std::int64_t count);

/// Random bits, half of them set, or `allowed` tokens of each row.
Rows<std::int32_t> make_bitmask(std::int64_t rows, std::int64_t vocabulary,
                                std::int64_t allowed = -1);

/// 0, 1, ..., rows - 1.
Numbers<std::int32_t> make_row_ids(std::int64_t rows);

/// Edits of every row that leave its logits nearly as they were, so that they can be repeated:
/// `penalized` distinct tokens and `biased` other ones.
class RowEdits {
 public:
  RowEdits(std::int64_t rows, std::int64_t vocabulary, std::int64_t penalized, std::int64_t biased);
  LogitBiasEdits<Memory> biases() const;
  PenaltyEdits<Memory> penalties() const;

 private:
  Numbers<std::int32_t> m_bias_row, m_bias_token, m_penalty_row, m_penalty_position,
      m_penalty_token, m_count;
  Numbers<float> m_bias;
  Rows<float> m_penalty;
};

}  // namespace tokkos::bench
