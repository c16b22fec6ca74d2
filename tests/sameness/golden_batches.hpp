// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/stored_logit.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

/// Kinds of rows that the golden inputs are made of.
enum class RowKind {
  normal,     ///< a bell like a model's logits, with random last bits
  peaked,     ///< the same with one token 20 above
  flat,       ///< all equal
  offset,     ///< around 1e4
  wide,       ///< deviation 37: probabilities down to 0
  small,      ///< around the smallest normal numbers and below (16 bits: around 2^-14)
  subnormal,  ///< all below the smallest normal number (float16: zeros of both signs)
  holes,      ///< a third -infinity, some -FLT_MAX, zeros of both signs
  nan,        ///< normal with one NaN
  infinity,   ///< normal with +infinity on the last token
};
inline constexpr int row_kinds = 10;

/// One row as float32 patterns.
std::vector<std::uint32_t> golden_row(RowKind kind, std::int64_t vocabulary, std::uint64_t seed);

/// A float32 pattern cut off to the format, by integers alone; below the smallest normal it is 0.
template <LogitType Logit>
Logit cut_off(std::uint32_t bits) {
  if constexpr (std::same_as<Logit, float>) {
    return __builtin_bit_cast(float, bits);
  } else if constexpr (std::same_as<Logit, bfloat16>) {
    return {static_cast<std::uint16_t>(bits >> 16)};
  } else {
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = (bits & 0x7fffffffu) >> 13;
    std::uint32_t half = magnitude - (112u << 10);
    if (magnitude >= (255u << 10)) {
      half = magnitude == (255u << 10) ? 0x7c00u : 0x7e00u;
    } else if (magnitude >= (143u << 10)) {
      half = 0x7c00u;
    } else if (magnitude < (113u << 10)) {
      half = 0;
    }
    return {static_cast<std::uint16_t>(sign | half)};
  }
}

template <LogitType Logit>
std::vector<Logit> cut_off(const std::vector<std::uint32_t>& patterns) {
  std::vector<Logit> logits;
  logits.reserve(patterns.size());
  for (const std::uint32_t bits : patterns) logits.push_back(cut_off<Logit>(bits));
  return logits;
}

template <LogitType Logit>
constexpr const char* type_name() {
  if constexpr (std::same_as<Logit, float>) return "float32";
  if constexpr (std::same_as<Logit, bfloat16>) return "bfloat16";
  return "float16";
}

/// The inputs of one case of the row kernels.
struct GoldenBatch {
  std::string name;  ///< "4097/T0.3/half"
  std::int64_t vocabulary = 1;
  std::int64_t rows = 0;
  std::int64_t active = 0;
  std::vector<std::uint32_t> logits;  ///< [rows, V] float32 patterns
  float temperature = 1.0f;
  std::vector<std::int32_t> bitmask;  ///< [rows, words] or empty
  std::int64_t words = 0;
  std::vector<std::int32_t> mask_index;  ///< [rows] or empty
  std::vector<float> uniforms;           ///< [rows]
};

/// The whole matrix; the same objects in every call.
const std::vector<GoldenBatch>& golden_batches();

/// One more case, whose output is just above 16 MiB: 32 rows of all kinds, with and without mask,
/// an odd number of tokens, the last of which do not exist.
const GoldenBatch& golden_large_batch();

}  // namespace tokkos::test
