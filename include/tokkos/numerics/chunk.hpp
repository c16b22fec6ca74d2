// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/numerics/exact_sum.hpp>
#include <tokkos/numerics/portable_exp.hpp>

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace tokkos {

/// A row is cut into chunks of this many logits, whatever the batch, the device or the threads.
inline constexpr int chunk_size = 4096;

/// Group g of a chunk is its tokens g, g + 1024, g + 2048 and g + 3072.
inline constexpr int groups_per_chunk = 1024;

/// Number of chunks of a row of `vocabulary` logits.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t chunk_count(std::int64_t vocabulary) {
  return (vocabulary + chunk_size - 1) / chunk_size;
}

/// All that a chunk says about itself.
struct ChunkPair {
  /// Largest allowed logit; -infinity if nothing is allowed.
  float maximum = -__builtin_huge_valf();
  /// Sum of exp((x - maximum) / T) over the allowed tokens (greedy: the number of maxima) in units
  /// of 2^-44; 0 if nothing is allowed; minus the RowStatus bits if the chunk is unusable.
  std::int64_t sum = 0;
};

/// Scale of a row's logits: 1 / T, or greedy.
struct InverseTemperature {
  float value = 1.0f;   ///< 1 / T; not read if greedy
  bool greedy = false;  ///< whether only maxima have weight

  /// exp((x - maximum) / T) for x <= maximum, in [0, 1]; greedy: 1 on the maximum, else 0.
  KOKKOS_FORCEINLINE_FUNCTION float weight(float x, float maximum) const {
    return greedy ? (x == maximum ? 1.0f : 0.0f) : portable_exp((x - maximum) * value);
  }
};

/// A chunk's share of a row: its factor g and its mass w (see semantics: w = RNE(S_c * g)).
struct ChunkShare {
  float factor = 0.0f;    ///< g: exp((chunk's maximum - row's maximum) / T)
  std::int64_t mass = 0;  ///< w

  /// The share of a chunk with this pair; nothing of one that is empty or unusable.
  KOKKOS_INLINE_FUNCTION static ChunkShare of(const ChunkPair& pair, float row_maximum,
                                              InverseTemperature inverse) {
    if (pair.sum <= 0) return {};
    const float factor = inverse.weight(pair.maximum, row_maximum);
    // An fma with 0 is a product that no compiler contracts with the addition that rounds it.
    const double mass =
        Kokkos::fma(static_cast<double>(pair.sum), static_cast<double>(factor), 0.0);
    return {factor, round_to_integer(mass)};
  }
};

/// What a whole row says about itself: its maximum M and its mass S in units of 2^-44. A row that
/// cannot be used (see RowStatus) has mass 0.
struct RowTotal {
  float maximum = -__builtin_huge_valf();  ///< M
  std::int64_t mass = 0;                   ///< S
};

/// The merge of a row's pairs, in two passes: `find` sees every pair, then `add` sees every pair.
/// Both take the pairs in any order. Threads that share the pairs merge their parts between the
/// passes (the larger maximum, all bits) and after them (the sum of the masses): the total has the
/// same bits however the pairs are shared.
struct PairMerge {
  RowTotal total;           ///< what was found and added so far
  std::int32_t status = 0;  ///< RowStatus bits of the unusable chunks

  /// The first pass.
  KOKKOS_FORCEINLINE_FUNCTION void find(const ChunkPair& pair) {
    if (pair.sum < 0) status |= static_cast<std::int32_t>(-pair.sum);
    total.maximum = pair.maximum > total.maximum ? pair.maximum : total.maximum;
  }

  /// Bits of the row once every pair was found; without any of them its mass may be summed.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t row_status() const {
    const bool nothing = status == 0 && total.maximum == -__builtin_huge_valf();
    return nothing ? static_cast<std::int32_t>(RowStatus::empty) : status;
  }

  /// The second pass.
  KOKKOS_FORCEINLINE_FUNCTION void add(const ChunkPair& pair, InverseTemperature inverse) {
    total.mass += ChunkShare::of(pair, total.maximum, inverse).mass;
  }
};

}  // namespace tokkos
