// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/truncation.hpp>
#include <tokkos/numerics/wide_product.hpp>

#include "kernels/gathered_tokens.hpp"
#include "kernels/order_selection.hpp"
#include "kernels/row_tokens.hpp"
#include "kernels/share_buckets.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

// Where top-k, top-p and min-p end one row.

namespace tokkos {

/// Threads per row on a device.
inline constexpr int truncate_team = 512;

/// What a team needs to truncate a row.
template <class ExecutionSpace>
struct CutScratch {
  static constexpr std::size_t bucket_bytes = bucket_count * sizeof(std::int64_t);
  static constexpr std::size_t gathered_bytes =
      runs_on_host<ExecutionSpace> ? gathered_room * sizeof(Order) : 0;
  static constexpr std::size_t bytes = chunk_scratch + bucket_bytes + gathered_bytes + 2 * 64;

  float* logits;  ///< of a chunk
  Buckets<ExecutionSpace> buckets;
  Order* gathered;  ///< on a host

  /// The memory of what is gathered, before it is.
  KOKKOS_FUNCTION float* sample() const { return reinterpret_cast<float*>(gathered); }

  template <class Team>
  KOKKOS_FUNCTION explicit CutScratch(const Team& team)
      : logits(chunk_buffer(team)),
        buckets{static_cast<std::int64_t*>(
            team.team_scratch(0).get_shmem_aligned(std::size_t{bucket_bytes}, 64))},
        gathered(nullptr) {
    if constexpr (runs_on_host<ExecutionSpace>) {
      gathered = static_cast<Order*>(
          team.team_scratch(0).get_shmem_aligned(std::size_t{gathered_bytes}, 64));
    }
  }
};

/// A row's parameters.
struct RowLimits {
  std::int64_t top_k = 0;
  float top_p = 1.0f;
  float min_p = 0.0f;

  template <class Space>
  KOKKOS_FUNCTION static RowLimits of(const Truncation<Space>& truncation, std::int64_t row) {
    const auto value = [&](const auto& values, auto otherwise) {
      if (values.data() == nullptr) return otherwise;
      return static_cast<decltype(otherwise)>(values(values.extent(0) == 1 ? 0 : row));
    };
    return {value(truncation.top_k, std::int64_t{0}), value(truncation.top_p, 1.0f),
            value(truncation.min_p, 0.0f)};
  }

  KOKKOS_FUNCTION bool are_legal() const {
    return top_k >= 0 && top_p > 0.0f && top_p <= 1.0f && min_p >= 0.0f && min_p <= 1.0f;
  }
  /// top_k is 0 where it would keep every token there can be.
  KOKKOS_FUNCTION RowLimits without_idle(std::int64_t active) const {
    return {top_k < active ? top_k : 0, top_p, min_p};
  }
  KOKKOS_FUNCTION bool is_off() const { return top_k == 0 && top_p == 1.0f && min_p == 0.0f; }
};

KOKKOS_FORCEINLINE_FUNCTION RowCut cut_at(const KeptTokens& kept) {
  if (kept.count == 0) return {};  // the logits are no longer those that were measured
  return {logit_of(kept.last), token_of(kept.last), kept.mass,
          static_cast<std::int32_t>(kept.count)};
}

/// The place before which min-p forgets nothing.
KOKKOS_INLINE_FUNCTION Order min_p_order(const TokenWeight& weight, float min_p,
                                         std::uint32_t highest) {
  if (min_p == 0.0f) return 0;
  const auto is_kept = [&](float x) { return weight.share(x) >= min_p; };
  return order_of_key(smallest_key(highest, is_kept), order_id_mask);
}

/// top-p and min-p of the tokens that top-k left, which were gathered.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION RowCut cut_gathered(const Team& team, const GatheredTokens& tokens,
                                    const TokenWeight& weight, const RowLimits& limits,
                                    std::uint32_t highest,
                                    const CutScratch<ExecutionSpace>& scratch) {
  Order cut = 0;
  if (limits.top_p < 1.0f) {
    const std::int64_t mass = tokens.kept(cut, weight).mass;
    cut = select_order(team, tokens, OrderRange::of_keys(lowest_allowed_key(), highest),
                       ceil_of_share(limits.top_p, mass), scratch.buckets,
                       [&](float x) { return weight.mass(x); });
  }
  return cut_at(tokens.kept(Kokkos::max(cut, min_p_order(weight, limits.min_p, highest)), weight));
}

/// top-p and min-p of a row whose share ends in `found`; `min_p` is where min-p ends. False if the
/// tokens there cannot be gathered, or do not tell where the share ends.
template <class ExecutionSpace, class Team, class Row>
KOKKOS_FUNCTION bool cut_share(const Team& team, const Row& row, const TokenWeight& weight,
                               const FoundShare& found, Order min_p,
                               const CutScratch<ExecutionSpace>& scratch, KeptTokens& kept) {
  GatheredTokens tokens(scratch.gathered);
  if (!tokens.gather(team, row, found.range)) return false;
  const Order cut =
      select_order(team, tokens, found.range, wrapping_difference(found.target, found.before),
                   scratch.buckets, [&](float x) { return weight.mass(x); });
  kept = tokens.kept(cut, weight);
  if (wrapping_sum(found.before, kept.mass) < found.largest_target) return false;
  if (min_p > cut) kept = tokens.kept(min_p, weight);
  if (kept.count == 0) {  // min-p ends before the first of them
    kept = row.kept(team, min_p, weight);
    return true;
  }
  kept.count += tokens.before();
  kept.mass = wrapping_sum(kept.mass, found.before);
  return true;
}

/// top-p and min-p of a row on a host. False if the tokens where the share ends are too many; where
/// they are is left in `found`.
template <class ExecutionSpace, class Team, class Row>
KOKKOS_FUNCTION bool cut_by_sample(const Team& team, const Row& row, const TokenWeight& weight,
                                   std::int64_t about, float top_p, Order min_p,
                                   const CutScratch<ExecutionSpace>& scratch, FoundShare& found,
                                   KeptTokens& kept) {
  constexpr double few = 4096;
  constexpr float smallest_inverse = 0x1p-120f;  // see nearly_found
  const auto sample = TokenSample::of(row, scratch.sample());
  const auto shares =
      ShareBuckets<ExecutionSpace>::of(scratch.buckets, weight, sample.smallest(weight.maximum));
  const LikelyLowest lowest = sample.count > 0 ? shares.likely_lowest(team, sample, about, top_p)
                                               : LikelyLowest{lowest_allowed_key(), 2 * few};
  if (lowest.tokens <= few && weight.inverse_temperature >= smallest_inverse) {
    found = nearly_found(about, top_p, lowest.key, logit_key(weight.maximum));
    if (cut_share(team, row, weight, found, min_p, scratch, kept)) return true;
  }
  found = shares.find(team, row, top_p, lowest.key);
  return cut_share(team, row, weight, found, min_p, scratch, kept);
}

/// Where a row with a mass, which is not greedy, ends by limits that are not all off.
template <class ExecutionSpace, class Team, class Row>
KOKKOS_FUNCTION RowCut find_cut(const Team& team, const Row& row, const TokenWeight& weight,
                                const RowTotal& total, const RowLimits& limits,
                                const CutScratch<ExecutionSpace>& scratch) {
  const std::uint32_t highest = logit_key(total.maximum);
  const Order min_p = min_p_order(weight, limits.min_p, highest);
  OrderRange range = OrderRange::of_keys(lowest_allowed_key(), highest);
  std::int64_t target = 0;
  if (limits.top_k > 0) {
    if constexpr (runs_on_host<ExecutionSpace>) {
      if (limits.top_k <= largest_gathered_top) {
        GatheredTokens tokens(scratch.gathered);
        tokens.gather_first(team, row, limits.top_k, highest, scratch.buckets);
        return cut_gathered(team, tokens, weight, limits, highest, scratch);
      }
    }
    range.last = select_order(team, row, range, limits.top_k, scratch.buckets,
                              [](float) { return std::int64_t{1}; });
    if (limits.top_p < 1.0f) {
      target = ceil_of_share(limits.top_p, row.kept(team, range.last, weight).mass);
    }
  } else if (limits.top_p < 1.0f) {
    FoundShare found;
    if constexpr (runs_on_host<ExecutionSpace>) {
      KeptTokens kept;
      if (cut_by_sample(team, row, weight, total.mass, limits.top_p, min_p, scratch, found, kept)) {
        return cut_at(kept);
      }
    } else {
      const auto shares = ShareBuckets<ExecutionSpace>::of(scratch.buckets, weight, weight.maximum);
      found = shares.find(team, row, limits.top_p, lowest_allowed_key());
    }
    range = found.range;
    target = found.target - found.before;
  }
  if (limits.top_p < 1.0f) {
    range.last = select_order(team, row, range, target, scratch.buckets,
                              [&](float x) { return weight.mass(x); });
  }
  return cut_at(row.kept(team, Kokkos::max(range.last, min_p), weight));
}

}  // namespace tokkos
