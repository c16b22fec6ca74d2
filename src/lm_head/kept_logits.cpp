// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/log_probability.hpp"
#include "kernels/order_selection.hpp"
#include "kernels/row_tokens.hpp"
#include "lm_head/block_steps.hpp"

// Logits that are wanted after their block is forgotten are kept where their log-probabilities will
// stand.

namespace tokkos {

namespace {

template <class Space>
struct ClearResults {
  LmHeadOutputs<Space> outputs;
  std::int64_t given;  ///< columns

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    const std::int64_t columns = given + static_cast<std::int64_t>(outputs.top_tokens.extent(1));
    const std::int64_t row = entry / columns;
    const std::int64_t column = entry % columns;
    if (column < given) {
      outputs.given_logprobs(row, column) = negative_infinity;
    } else {
      outputs.top_tokens(row, column - given) = -1;
      outputs.top_logprobs(row, column - given) = negative_infinity;
    }
  }
};

template <class Space>
struct KeepGiven {
  LogitBlock<Space> block;
  Matrix<const TokenId, Space> tokens;
  Matrix<float, Space> kept;

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    const auto columns = static_cast<std::int64_t>(tokens.extent(1));
    const std::int64_t row = entry / columns;
    const std::int64_t place = tokens(row, entry % columns) - block.first;
    ChunkSource<float> source;
    if (place < 0 || place >= block.rows.active()) return;
    if (!find_chunk(block.rows, row, place / chunk_size, source)) return;
    const int in_chunk = static_cast<int>(place % chunk_size);
    const float x = source.logits[in_chunk];
    if (source.template allowed<1>(in_chunk) != 0 && x > masked_logit) {
      kept(row, entry % columns) = x;
    }
  }
};

/// One team per row. The tokens that are listed already stand behind the block's.
template <class ExecutionSpace>
struct KeepTop {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr std::size_t listed_bytes = max_top_tokens * sizeof(Order) + 64;
  LogitBlock<Space> block;
  Matrix<TokenId, Space> tokens;
  Matrix<float, Space> logits;

  KOKKOS_FUNCTION float maximum_of(std::int64_t row) const {
    float maximum = negative_infinity;
    for (std::int64_t c = 0; c < chunk_count(block.rows.active()); ++c) {
      maximum = Kokkos::max(maximum, block.measures.chunk_maximum(row, c));
    }
    return maximum;
  }

  /// Copies what is listed to `orders`; returns how many they are.
  KOKKOS_FUNCTION int load_listed(const Team& team, std::int64_t row, Order* orders) const {
    const auto columns = static_cast<int>(tokens.extent(1));
    int count = 0;
    for (int i = team.team_rank(); i < columns; i += team.team_size()) {
      const TokenId token = tokens(row, i);
      orders[i] = token < 0 ? 0 : order_of(logits(row, i), token);
      count += token < 0 ? 0 : 1;
    }
    team.team_reduce(Kokkos::Sum<int>(count));
    team.team_barrier();  // the list is there, and may be written over
    return count;
  }

  KOKKOS_FUNCTION void write(std::int64_t row, int place, Order order) const {
    if (place >= static_cast<int>(tokens.extent(1))) return;
    tokens(row, place) = token_of(order);
    logits(row, place) = logit_of(order);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const auto wanted = static_cast<int>(tokens.extent(1));
    TopTokens<ExecutionSpace> top(team);
    auto* listed = static_cast<Order*>(
        team.team_scratch(0).get_shmem_aligned(max_top_tokens * sizeof(Order), 64));
    const float maximum = maximum_of(row);
    if (maximum == negative_infinity) return;
    const int count = load_listed(team, row, listed);
    OrderRange range = OrderRange::of_keys(lowest_allowed_key(), logit_key(maximum));
    if (count == wanted) {  // only what comes before the last of them; of equal logits, all do
      range.last = order_of_key(key_of(listed[wanted - 1]), order_id_mask);
    }
    if (range.last > range.first) return;
    const RowTokens<ExecutionSpace, float> row_tokens(block.rows, block.measures, row, top.chunk());
    top.gather_first(team, row_tokens, range, wanted);
    // A token's number in the vocabulary is larger by `first`, so its place is smaller by that.
    const auto shift = static_cast<Order>(block.first);
    for (int i = team.team_rank(); i < top.count(); i += team.team_size()) {
      const Order order = top[i] - shift;
      int place = top.rank_of(i);
      for (int j = 0; j < count; ++j) place += listed[j] > order ? 1 : 0;
      write(row, place, order);
    }
    for (int j = team.team_rank(); j < count; j += team.team_size()) {
      int place = j;
      for (int i = 0; i < top.count(); ++i) place += top[i] - shift > listed[j] ? 1 : 0;
      write(row, place, listed[j]);
    }
  }
};

template <class Space>
struct FinishResults {
  LogitRows<float, Space> rows;
  RowMeasures<Space> measures;
  LmHeadOutputs<Space> outputs;

  KOKKOS_FUNCTION void finish_given(std::int64_t row, const RowLogarithm& logarithm) const {
    for (std::size_t i = 0; i < outputs.given_tokens.extent(1); ++i) {
      const TokenId token = outputs.given_tokens(row, i);
      if (token < -1 || token >= rows.vocabulary()) {
        flag_row(outputs.row_status, row, RowStatus::invalid_draft);
      }
      float& x = outputs.given_logprobs(row, i);
      x = logarithm.usable && x > negative_infinity ? logarithm.of_logit(x) : negative_infinity;
    }
  }

  KOKKOS_FUNCTION void finish_top(std::int64_t row, const RowLogarithm& logarithm) const {
    for (std::size_t i = 0; i < outputs.top_tokens.extent(1); ++i) {
      TokenId& token = outputs.top_tokens(row, i);
      float& x = outputs.top_logprobs(row, i);
      token = logarithm.usable ? token : -1;
      x = token >= 0 ? logarithm.of_logit(x) : negative_infinity;
    }
  }

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    RowCut all;
    all.count = -1;
    const RowLogarithm logarithm = RowLogarithm::of(measures, all, inverse, row);
    finish_given(row, logarithm);
    finish_top(row, logarithm);
    if (outputs.log_sum_exp.data() == nullptr) return;
    outputs.log_sum_exp(row) =
        log_sum_exp_of({measures.row_maximum(row), measures.row_mass(row)}, inverse);
  }
};

}  // namespace

template <class ExecutionSpace>
void clear_results(const ExecutionSpace& space,
                   const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs) {
  const auto given = static_cast<std::int64_t>(outputs.given_logprobs.extent(1));
  const auto top = static_cast<std::int64_t>(outputs.top_tokens.extent(1));
  const std::size_t rows =
      given > 0 ? outputs.given_logprobs.extent(0) : outputs.top_tokens.extent(0);
  launch_entries("tokkos::lm_head::clear", space, static_cast<std::int64_t>(rows) * (given + top),
                 ClearResults<MemoryOf<ExecutionSpace>>{outputs, given});
}

template <class ExecutionSpace>
void keep_given(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block,
                const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs) {
  launch_entries(
      "tokkos::lm_head::given", space, static_cast<std::int64_t>(outputs.given_tokens.size()),
      KeepGiven<MemoryOf<ExecutionSpace>>{block, outputs.given_tokens, outputs.given_logprobs});
}

template <class ExecutionSpace>
void keep_top(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block,
              const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs) {
  if (outputs.top_tokens.extent(1) == 0) return;
  launch_teams("tokkos::lm_head::top", space, block.rows.rows(), chunk_team,
               TopTokens<ExecutionSpace>::bytes + KeepTop<ExecutionSpace>::listed_bytes,
               KeepTop<ExecutionSpace>{block, outputs.top_tokens, outputs.top_logprobs});
}

template <class ExecutionSpace>
void finish_results(const ExecutionSpace& space,
                    const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                    const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                    const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs) {
  const bool any = outputs.log_sum_exp.data() != nullptr || outputs.given_tokens.size() > 0 ||
                   outputs.top_tokens.size() > 0;
  if (!any) return;
  launch_entries("tokkos::lm_head::results", space, rows.rows(),
                 FinishResults<MemoryOf<ExecutionSpace>>{rows, measures, outputs});
}

#define TOKKOS_INSTANTIATE(Space)                                                             \
  template void clear_results<Space>(const Space&, const LmHeadOutputs<MemoryOf<Space>>&);    \
  template void keep_given<Space>(const Space&, const LogitBlock<MemoryOf<Space>>&,           \
                                  const LmHeadOutputs<MemoryOf<Space>>&);                     \
  template void keep_top<Space>(const Space&, const LogitBlock<MemoryOf<Space>>&,             \
                                const LmHeadOutputs<MemoryOf<Space>>&);                       \
  template void finish_results<Space>(const Space&, const LogitRows<float, MemoryOf<Space>>&, \
                                      const RowMeasures<MemoryOf<Space>>&,                    \
                                      const LmHeadOutputs<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
