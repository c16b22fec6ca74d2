// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos {

/// How the products of hidden states and weights are computed.
enum class LmHeadProduct {
  /// In our own order: a logit is 16 sums, sum l of the products at l, l + 16, l + 32, ... (fused,
  /// in ascending order), added in halves: sums l and l + 8, then l and l + 4, 2, 1. The same bits
  /// for every block size, batch, backend and number of threads.
  fixed_order,
  /// By KokkosBlas::gemm, which calls the vendor's library where Kokkos Kernels was built with one.
  /// Such a library chooses its order by the shape of the product: then the bits of a row may
  /// depend on the batch and on the block size. Kokkos Kernels' own product does not (see
  /// docs/lm_head.md). Runs in the floating-point mode that its threads are in.
  gemm
};

/// What is fixed for all steps of an LmHead.
struct LmHeadOptions {
  /// How hidden states and weights are multiplied.
  LmHeadProduct product = LmHeadProduct::fixed_order;
  /// Tokens of a block, a multiple of 4096; more than the active vocabulary (rounded up so) counts
  /// as that, and LmHead::block_tokens says what is taken. 0: as many as keep the logits of a block
  /// of `max_rows` rows within 8 MiB, but at least 4096. With LmHeadProduct::fixed_order no result
  /// depends on it.
  std::int64_t block_tokens = 0;
  /// Tokens at or past it do not exist, and their weights are not read; in [1, V], below 2^19. 0:
  /// V.
  std::int64_t active_vocabulary = 0;
  /// Logits are multiplied by it first: finite, above 0.
  float scale = 1.0f;
  /// c > 0: then a logit x becomes c * portable_tanh(x / c), finite also where x is infinite. 0: no
  /// cap. Finite.
  float soft_cap = 0.0f;
};

}  // namespace tokkos
