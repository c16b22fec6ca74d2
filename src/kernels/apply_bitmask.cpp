// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_bitmask.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"
#include "kernels/named_range.hpp"

#include <algorithm>
#include <array>

namespace tokkos::detail {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct MaskChunks {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<Logit, Space> logits;
  Vector<const std::int32_t, Space> seq_ids;
  Vector<const std::int32_t, Space> mask_rows;
  Matrix<const std::int32_t, Space> bitmask;
  std::int64_t active;
  std::int64_t chunks;
  Logit masked;
  Vector<std::int32_t, Space> row_status;

  /// Masks `width` logits by the bits of `allowed`.
  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION static void mask(Logit* x, std::uint32_t allowed, Logit masked) {
    // hot loop
    for (int j = 0; j < width; ++j) x[j] = (allowed >> j) & 1u ? x[j] : masked;
  }

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    constexpr int width = runs_on_host<ExecutionSpace> ? 32 : 4;  // under one word of the mask
    constexpr std::uint32_t all = width == 32 ? ~0u : (1u << (width % 32)) - 1u;
    const std::int64_t row = seq_ids(team.league_rank() / chunks);
    const std::int64_t mask_row = mask_rows(team.league_rank() / chunks);
    if (row < 0 || row >= static_cast<std::int64_t>(logits.extent(0))) return;
    const bool has_bits = mask_row >= 0 && mask_row < static_cast<std::int64_t>(bitmask.extent(0));
    if (!has_bits) {
      Kokkos::single(Kokkos::PerTeam(team),
                     [&]() { flag_row(row_status, row, RowStatus::invalid_edit); });
    }
    const std::int64_t start = team.league_rank() % chunks * chunk_size;
    const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
    const std::int64_t left = vocabulary - start;
    const int places = static_cast<int>(left < chunk_size ? left : chunk_size);
    const std::int64_t left_active = has_bits ? active - start : 0;
    Logit* x = &logits(row, start);
    const ChunkSource<Logit> source{
        x, has_bits ? bitmask.data() + mask_row * bitmask.stride(0) + start / 32 : nullptr,
        static_cast<int>(left_active < 0 ? 0 : (left_active < places ? left_active : places)), 0};
    for (int first = team.team_rank() * width; first < places; first += team.team_size() * width) {
      const std::uint32_t allowed = source.template allowed<width>(first);
      if (allowed == all) continue;
      if (first + width <= places) {
        mask<width>(x + first, allowed, masked);
      } else {
        for (int j = 0; first + j < places; ++j) {
          if (((allowed >> j) & 1u) == 0) x[first + j] = masked;
        }
      }
    }
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void apply_bitmask(const ExecutionSpace& space,
                   const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                   const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                   const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& mask_rows,
                   const Matrix<const std::int32_t, MemoryOf<ExecutionSpace>>& bitmask,
                   const BitmaskOptions& options,
                   const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
  const auto listed = static_cast<std::int64_t>(seq_ids.extent(0));
  check_vector("mask_rows", mask_rows, listed);
  check_optional_vector("row_status", row_status, rows);
  if (listed == 0) return;
  require(vocabulary >= 1 && vocabulary <= max_vocabulary, "vocab_size", std::nullopt, vocabulary,
          "a vocabulary in [1, 2147483647]");
  check_active_vocabulary(options.active_vocabulary, vocabulary);
  const std::int64_t active =
      options.active_vocabulary == 0 ? vocabulary : options.active_vocabulary;
  const auto words = static_cast<std::int64_t>(bitmask.extent(1));
  check_matrix("logits", logits, rows, vocabulary);
  check_bitmask_words(words, active);
  check_vector("seq_ids", seq_ids, listed);
  check_matrix("bitmask", bitmask, static_cast<std::int64_t>(bitmask.extent(0)), words);
  require(options.masked_value == MaskedValue::lowest ||
              options.masked_value == MaskedValue::negative_infinity,
          "masked_value", std::nullopt, static_cast<std::int64_t>(options.masked_value),
          "MaskedValue::lowest or MaskedValue::negative_infinity");
  const std::array whole{NamedRange::of("the logits", logits)};
  const std::array masks{NamedRange::of("seq_ids", seq_ids), NamedRange::of("mask_rows", mask_rows),
                         NamedRange::of("bitmask", bitmask)};
  check_apart(std::array{NamedRange::of("row_status", row_status)}, {whole, masks});
  check_apart(std::array{NamedRange::of("logits", logits)}, {masks});
  const Logit masked = options.masked_value == MaskedValue::lowest
                           ? forbidden_logit<Logit>()
                           : narrow<Logit>(negative_infinity);
  const std::int64_t chunks = chunk_count(vocabulary);
  launch_teams("tokkos::apply_bitmask::chunks", space,
               static_cast<std::int64_t>(seq_ids.extent(0)) * chunks, chunk_team, 0,
               MaskChunks<ExecutionSpace, Logit>{logits, seq_ids, mask_rows, bitmask, active,
                                                 chunks, masked, row_status});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                         \
  template void apply_bitmask<Space, Logit>(const Space&, const Matrix<Logit, MemoryOf<Space>>&, \
                                            const Vector<const std::int32_t, MemoryOf<Space>>&,  \
                                            const Vector<const std::int32_t, MemoryOf<Space>>&,  \
                                            const Matrix<const std::int32_t, MemoryOf<Space>>&,  \
                                            const BitmaskOptions&,                               \
                                            const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos::detail
