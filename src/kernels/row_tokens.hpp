// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/exact_sum.hpp>

#include "kernels/chunk_kernel.hpp"
#include "kernels/logit_order.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace tokkos {

/// The mass a[v] of a token by its logit, relative to the row's maximum.
struct TokenWeight {
  float maximum;
  float inverse_temperature;

  KOKKOS_FORCEINLINE_FUNCTION float share(float x) const {
    return InverseTemperature{inverse_temperature, false}.weight(x, maximum);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t mass(float x) const { return to_grid(share(x)); }
};

/// Number, mass and last place of some tokens.
struct KeptTokens {
  std::int64_t count = 0;
  std::int64_t mass = 0;
  Order last = ~Order{0};
};

/// The allowed tokens of one measured row, read as often as they are asked for. Chunks whose
/// maximum is too small are not read.
template <class ExecutionSpace, LogitType Logit>
class RowTokens {
 public:
  using Space = MemoryOf<ExecutionSpace>;
  /// Neighbours that a team member takes at a time.
  static constexpr int width = runs_on_host<ExecutionSpace> ? 256 : 1;

  /// `buffer` is the team's scratch for a chunk.
  KOKKOS_FUNCTION RowTokens(const LogitRows<Logit, Space>& rows, const RowMeasures<Space>& measures,
                            std::int64_t row, float* buffer)
      : m_rows(rows), m_measures(measures), m_row(row), m_buffer(buffer) {}

  KOKKOS_FUNCTION std::int64_t chunks() const { return chunk_count(m_rows.active()); }
  KOKKOS_FUNCTION float maximum() const { return m_measures.row_maximum(m_row); }
  KOKKOS_FUNCTION float chunk_maximum(std::int64_t chunk) const {
    return m_measures.chunk_maximum(m_row, chunk);
  }

  /// Calls body(x, id) for blocks of `width` logits from token `id` on, in chunk `chunk`. A token
  /// in them is allowed if x >= lowest, where `lowest` is an allowed logit.
  template <class Team, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_blocks_of(const Team& team, std::int64_t chunk, float lowest,
                                                 const Body& body) const {
    if (!(chunk_maximum(chunk) >= lowest)) return;
    ChunkSource<Logit> source;
    if (!find_chunk(m_rows, m_row, chunk, source)) return;
    const std::int64_t start = chunk * chunk_size;
    const float* x = load(team, source);
    for (int j = team.team_rank() * width; j < chunk_size; j += team.team_size() * width) {
      body(x + j, start + j);
    }
  }

  /// The same for the whole row.
  template <class Team, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_blocks(const Team& team, float lowest,
                                              const Body& body) const {
    for (std::int64_t c = 0; c < chunks(); ++c) for_blocks_of(team, c, lowest, body);
  }

  /// Calls body(order, x) for every token of chunk `chunk` in the range.
  template <class Team, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void visit_chunk(const Team& team, std::int64_t chunk,
                                               const OrderRange& range, const Body& body) const {
    const float lowest = logit_of(range.last);
    const float highest = logit_of(range.first);
    for_blocks_of(team, chunk, lowest, [&](const float* x, std::int64_t id) {
      for_each_within(x, lowest, highest, [&](int j) {
        const Order order = order_of(x[j], id + j);
        if (range.holds(order)) body(order, x[j]);
      });
    });
  }

  /// The same for every token of the row in the range.
  template <class Team, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void visit(const Team& team, const OrderRange& range,
                                         const Body& body) const {
    for (std::int64_t c = 0; c < chunks(); ++c) visit_chunk(team, c, range, body);
  }

  /// Whether there are so many tokens that a sample of them saves time.
  KOKKOS_FUNCTION bool is_sampled() const { return chunks() >= 4; }

  /// Calls body(x) for the allowed ones of about every sample_step()-th token.
  template <class Body>
  KOKKOS_FUNCTION void visit_sample(const Body& body) const {
    for (std::int64_t c = 0; c < chunks(); ++c) {
      ChunkSource<Logit> source;
      if (!find_chunk(m_rows, m_row, c, source)) continue;
      // 32 neighbours in every step, and not at the same places of every chunk.
      const int skip = 32 * static_cast<int>((29 * c + 7) % sample_step());
      for (int first = skip; first + 32 <= source.size; first += 32 * sample_step()) {
        std::uint32_t left = source.template allowed<32>(first);
        for (; left != 0; left &= left - 1) {
          const float x = widen(source.logits[first + Kokkos::countr_zero(left)]);
          if (x > masked_logit) body(x);
        }
      }
    }
  }
  /// A sample is of about 2048 tokens.
  KOKKOS_FUNCTION int sample_step() const { return static_cast<int>(2 * chunks()); }

  /// What the tokens from the first place to `cut` sum up to. Every member gets it.
  template <class Team>
  KOKKOS_FUNCTION KeptTokens kept(const Team& team, Order cut, const TokenWeight& weight) const {
    const float lowest = logit_of(cut);
    KeptTokens own;
    for_blocks(team, lowest, [&](const float* x, std::int64_t id) {
      if (count_from(x, lowest) == 0) return;
      int count = 0;
      std::uint64_t mass = 0;
      Order last = own.last;
      // hot loop
#pragma omp simd reduction(+ : count, mass) reduction(min : last)
      for (int j = 0; j < width; ++j) {
        const Order order = order_of(x[j], id + j);
        const bool is_kept = order >= cut;
        const float share = weight.share(x[j]);
        count += is_kept ? 1 : 0;
        mass += grid_bits(is_kept ? share : 0.0f);
        last = is_kept && order < last ? order : last;
      }
      own.count += count;
      own.mass = wrapping_sum(own.mass, static_cast<std::int64_t>(mass - width * grid_bias));
      own.last = last;
    });
    team.team_reduce(Kokkos::Sum<std::int64_t>(own.count));
    team.team_reduce(Kokkos::Sum<std::int64_t>(own.mass));
    team.team_reduce(Kokkos::Min<Order>(own.last));
    return own;
  }

  /// How many logits of a block are at least `lowest`.
  KOKKOS_FORCEINLINE_FUNCTION static int count_from(const float* x, float lowest) {
    int count = 0;
    // hot loop
#pragma omp simd reduction(+ : count)
    for (int j = 0; j < width; ++j) count += x[j] >= lowest ? 1 : 0;
    return count;
  }

  /// Calls body(j) for the x[j] of a block that are in [lowest, highest], in their order.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_within(const float* x, float lowest,
                                                          float highest, const Body& body) {
    constexpr int bits = width < 32 ? width : 32;
    // All of them are found before the first is used: waiting for one word after the other, and
    // for the branches that depend on it, would take longer.
    std::uint32_t found[width / bits];
    for (int word = 0; word < width / bits; ++word) {
      found[word] = within<bits>(x + word * bits, lowest, highest);
    }
    for (int word = 0; word < width / bits; ++word) {
      for (std::uint32_t left = found[word]; left != 0; left &= left - 1) {
        body(word * bits + Kokkos::countr_zero(left));
      }
    }
  }

 private:
  /// Bit j is set where x[j] is in [lowest, highest].
  template <int bits>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t within(const float* x, float lowest,
                                                          float highest) {
    std::uint32_t found = 0;
    // hot loop
#pragma omp simd reduction(| : found)
    for (int j = 0; j < bits; ++j) {
      found |= (x[j] >= lowest && x[j] <= highest ? 1u : 0u) << j;
    }
    return found;
  }

  /// Where the logits of a chunk stand, with nothing that is forbidden at or above an allowed one.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION const float* load(const Team& team,
                                                const ChunkSource<Logit>& source) const {
    if constexpr (runs_on_host<ExecutionSpace> && std::is_same_v<Logit, float>) {
      if (source.mask_words == nullptr && source.size == chunk_size) return source.logits;
    }
    team.team_barrier();  // other members still read the chunk before
    std::int32_t status = 0;
    load_chunk<ExecutionSpace>(team, source, m_buffer, status);
    return m_buffer;
  }

  const LogitRows<Logit, Space>& m_rows;
  const RowMeasures<Space>& m_measures;
  std::int64_t m_row;
  float* m_buffer;
};

}  // namespace tokkos
