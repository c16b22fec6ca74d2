// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "core/float_order.hpp"
#include "kernels/check_edits.hpp"
#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::detail {

namespace {

/// A View's elements, row after row, on the host.
template <class ExecutionSpace, class View>
auto on_host(const ExecutionSpace& space, const std::string& name, const View& view) {
  using T = typename View::non_const_value_type;
  std::vector<T> elements(view.size());
  require(View::rank() == 2 || view.extent(0) < 2 || view.stride(0) == 1,
          (name + ".stride").c_str(), 0, static_cast<std::int64_t>(view.stride(0)),
          "1 (a contiguous array)");
  const auto width = View::rank() == 2 ? view.extent(1) : view.extent(0);
  const auto height = View::rank() == 2 ? view.extent(0) : 1;
  for (std::size_t row = 0; row < height && width > 0; ++row) {
    const auto stride = View::rank() == 2 ? view.stride(0) : 0;
    const Kokkos::View<const T*, typename View::memory_space, Kokkos::MemoryUnmanaged> from(
        view.data() + row * stride, width);
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> to(
        elements.data() + row * width, width);
    Kokkos::deep_copy(space, to, from);
  }
  return elements;
}

void require_range(const char* field, std::size_t i, std::int64_t value, std::int64_t end) {
  if (value < 0 || value >= end) {
    throw Error(field, static_cast<std::int64_t>(i), to_text(value),
                "a number in [0, " + to_text(end) + ")");
  }
}

/// Throws if a (row, token) stands there twice (token -1: the row alone); the Error names the later
/// entry.
void require_unique(const char* field,
                    const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs,
                    const char* expected) {
  std::vector<std::size_t> order(pairs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(pairs[a], a) < std::pair(pairs[b], b);
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto& pair = pairs[order[i]];
    if (pair != pairs[order[i - 1]]) continue;
    throw Error(field, static_cast<std::int64_t>(order[i]),
                "a second entry for row " + std::to_string(pair.first) +
                    (pair.second < 0 ? "" : ", token " + std::to_string(pair.second)),
                expected);
  }
}

}  // namespace

template <class ExecutionSpace>
void check_logit_bias(const ExecutionSpace& space, std::int64_t rows, std::int64_t vocabulary,
                      const LogitBiasEdits<MemoryOf<ExecutionSpace>>& edits) {
  check_bias_edits(edits);
  const auto row = on_host(space, "pos2seq_id", edits.pos2seq_id);
  const auto token = on_host(space, "token_ids", edits.token_ids);
  const auto bias = on_host(space, "logit_bias", edits.logit_bias);
  space.fence("tokkos::apply_logit_bias::check");
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    require_range("pos2seq_id", i, row[i], rows);
    require_range("token_ids", i, token[i], vocabulary);
    require(!std::isnan(bias[i]) && bias[i] <= FLT_MAX, "logit_bias", static_cast<std::int64_t>(i),
            bias[i], "a finite number or -infinity");
    pairs[i] = {row[i], token[i]};
  }
  require_unique("token_ids", pairs, "one bias for each row and token");
}

template <class ExecutionSpace>
void check_penalty(const ExecutionSpace& space, std::int64_t rows, std::int64_t vocabulary,
                   const PenaltyEdits<MemoryOf<ExecutionSpace>>& edits) {
  check_penalty_edits(edits);
  const auto groups = static_cast<std::int64_t>(edits.seq_ids.extent(0));
  if (groups != 0) check_matrix("penalties", edits.penalties, groups, 3);
  const auto seq_ids = on_host(space, "seq_ids", edits.seq_ids);
  const auto position = on_host(space, "pos2seq_id", edits.pos2seq_id);
  const auto token = on_host(space, "token_ids", edits.token_ids);
  const auto count = on_host(space, "token_cnt", edits.token_cnt);
  const auto penalties = on_host(space, "penalties", edits.penalties);
  space.fence("tokkos::apply_penalty::check");
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs(seq_ids.size());
  for (std::size_t c = 0; c < seq_ids.size(); ++c) {
    const auto index = static_cast<std::int64_t>(c);
    require_range("seq_ids", c, seq_ids[c], rows);
    require(std::isfinite(penalties[3 * c]), "penalties.presence", index, penalties[3 * c],
            "a finite number");
    require(std::isfinite(penalties[3 * c + 1]), "penalties.frequency", index, penalties[3 * c + 1],
            "a finite number");
    require(is_within(penalties[3 * c + 2], least_positive, FLT_MAX), "penalties.repetition", index,
            penalties[3 * c + 2], "a finite number > 0");
    pairs[c] = {seq_ids[c], -1};
  }
  require_unique("seq_ids", pairs, "one group of penalties for each row");
  pairs.resize(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    require_range("pos2seq_id", i, position[i], groups);
    require_range("token_ids", i, token[i], vocabulary);
    require(count[i] >= 1, "token_cnt", static_cast<std::int64_t>(i), count[i], "a count >= 1");
    pairs[i] = {seq_ids[static_cast<std::size_t>(position[i])], token[i]};
  }
  require_unique("token_ids", pairs, "one penalty for each row and token");
}

template <class ExecutionSpace>
void check_mask_rows(const ExecutionSpace& space, std::int64_t rows, std::int64_t mask_row_count,
                     const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                     const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& mask_rows) {
  check_vector("seq_ids", seq_ids, static_cast<std::int64_t>(seq_ids.extent(0)));
  check_vector("mask_rows", mask_rows, static_cast<std::int64_t>(seq_ids.extent(0)));
  const auto row = on_host(space, "seq_ids", seq_ids);
  const auto mask_row = on_host(space, "mask_rows", mask_rows);
  space.fence("tokkos::apply_bitmask::check");
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    require_range("seq_ids", i, row[i], rows);
    require_range("mask_rows", i, mask_row[i], mask_row_count);
    pairs[i] = {row[i], -1};
  }
  require_unique("seq_ids", pairs, "each row once");
}

#define TOKKOS_INSTANTIATE(Space)                                                          \
  template void check_logit_bias<Space>(const Space&, std::int64_t, std::int64_t,          \
                                        const LogitBiasEdits<MemoryOf<Space>>&);           \
  template void check_penalty<Space>(const Space&, std::int64_t, std::int64_t,             \
                                     const PenaltyEdits<MemoryOf<Space>>&);                \
  template void check_mask_rows<Space>(const Space&, std::int64_t, std::int64_t,           \
                                       const Vector<const std::int32_t, MemoryOf<Space>>&, \
                                       const Vector<const std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::detail
