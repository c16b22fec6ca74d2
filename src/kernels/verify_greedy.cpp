// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_greedy.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/logit_order.hpp"
#include "kernels/named_range.hpp"
#include "kernels/tree_walk.hpp"

#include <array>

namespace tokkos {

namespace {

/// The largest allowed logit of a chunk, -infinity if there is none.
struct ChunkMaximum {
  float maximum = negative_infinity;
  std::int64_t token = -1;  ///< the lowest that has it
  std::int32_t bits = 0;    ///< status of the chunk; of every chunk if the row cannot be read
};

/// That of chunk `chunk`, if it is above `largest`. Uses `x`, room for a chunk that the team
/// shares.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION ChunkMaximum maximum_of_chunk(const Team& team, const LogitRows<Logit, Space>& rows,
                                              std::int64_t row, std::int64_t chunk, float largest,
                                              float* x) {
  ChunkMaximum found;
  ChunkSource<Logit> source;
  if (!find_chunk(rows, row, chunk, source)) {
    found.bits = RowStatus::invalid_parameter;
    return found;
  }
  found.maximum = load_chunk<ExecutionSpace>(team, source, x, found.bits);
  if (found.maximum > largest) {
    int lowest = chunk_size;
    for (int j = team.team_rank(); j < source.size && lowest == chunk_size; j += team.team_size()) {
      if (x[j] == found.maximum) lowest = j;
    }
    team.team_reduce(Kokkos::Min<int>(lowest));
    found.token = chunk * chunk_size + lowest;
  }
  return found;
}

/// The token, or -1 with status bits if the row is unusable.
KOKKOS_FUNCTION inline TokenId usable_token(std::int64_t token, std::int32_t bits,
                                            std::int32_t& status) {
  if (bits == 0 && token < 0) bits = RowStatus::empty;
  status |= bits;
  return bits == 0 ? static_cast<TokenId>(token) : -1;
}

/// A row's lowest token of the largest logit, -1 with status bits if the row is unusable.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION TokenId argmax_of_row(const Team& team, const LogitRows<Logit, Space>& rows,
                                      std::int64_t row, float* x, std::int32_t& status) {
  ChunkMaximum largest;
  const std::int64_t chunks = chunk_count(rows.active());
  for (std::int64_t c = 0; c < chunks; ++c) {
    const ChunkMaximum found =
        maximum_of_chunk<ExecutionSpace>(team, rows, row, c, largest.maximum, x);
    largest.bits |= found.bits;
    if (found.maximum > largest.maximum) {
      largest.maximum = found.maximum;
      largest.token = found.token;
    }
    team.team_barrier();  // the next chunk takes x
  }
  return usable_token(largest.token, largest.bits, status);
}

/// The same from what FindChunkMaxima left.
template <class Team, class Space>
KOKKOS_FUNCTION TokenId argmax_of_maxima(const Team& team,
                                         const Matrix<std::int64_t, Space>& chunk_maxima,
                                         std::int64_t chunks, std::int64_t row,
                                         std::int32_t& status) {
  std::int64_t first = 0;
  std::int32_t bits = 0;
  for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
    const std::int64_t place = chunk_maxima(row, c);
    if (place < 0) bits |= static_cast<std::int32_t>(-1 - place);
    first = place > first ? place : first;
  }
  team.team_reduce(Kokkos::Max<std::int64_t>(first));
  team.team_reduce(Kokkos::BOr<std::int32_t>(bits));
  return usable_token(first > 0 ? token_of(static_cast<Order>(first)) : -1, bits, status);
}

/// The place of each chunk's maximum in the order of its row, in chunk_maxima: the largest is the
/// argmax, 0 stands for a chunk with nothing allowed, -1 - bits for one with status bits.
template <class ExecutionSpace, LogitType Logit>
struct FindChunkMaxima {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  Matrix<std::int64_t, Space> chunk_maxima;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    const ChunkMaximum found = maximum_of_chunk<ExecutionSpace>(
        team, rows, row, chunk, negative_infinity, chunk_buffer(team));
    std::int64_t place = 0;
    if (found.bits != 0) {
      place = -1 - std::int64_t{found.bits};
    } else if (found.token >= 0) {
      place = static_cast<std::int64_t>(order_of(found.maximum, found.token));
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() { chunk_maxima(row, chunk) = place; });
  }
};

/// Accepts the child with the argmax of its parent's row; that token is found once per node.
template <class ExecutionSpace, LogitType Logit>
struct GreedyRule {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  const LogitRows<Logit, Space>& rows;
  const Matrix<std::int64_t, Space>& chunk_maxima;  ///< of every row, or empty
  float* x;
  std::int32_t node = -1;  ///< whose argmax is known, -1 for none
  TokenId largest = -1;    ///< that argmax

  KOKKOS_FUNCTION TokenId argmax_at(const Team& team, std::int32_t parent, std::int32_t& status) {
    if (node != parent) {
      largest =
          chunk_maxima.data() == nullptr
              ? argmax_of_row<ExecutionSpace>(team, rows, parent, x, status)
              : argmax_of_maxima(team, chunk_maxima, chunk_count(rows.active()), parent, status);
      node = parent;
    }
    return largest;
  }

  KOKKOS_FUNCTION void skip(const Team&, std::int32_t) const {}
  KOKKOS_FUNCTION void enter() const {}

  KOKKOS_FUNCTION Verdict judge(const Team& team, std::int32_t parent, std::int32_t, TokenId token,
                                std::int32_t& status) {
    const TokenId wanted = argmax_at(team, parent, status);
    if (wanted < 0) return Verdict::stop;
    return token == wanted ? Verdict::accept : Verdict::reject;
  }
};

template <class ExecutionSpace, LogitType Logit>
struct VerifyGreedy {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  IndexVector<Space> draft_tokens;
  TokenTrees<Space> trees;
  GreedyTrees<Space> result;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank();
    const auto links = TreeLinks<Space>::of(trees, rows.rows(), tree);
    GreedyRule<ExecutionSpace, Logit> rule{rows, result.chunk_maxima, chunk_buffer(team)};
    TreeWalk walk = walk_from_root(links, tree);
    walk_tree(team, links, draft_tokens, rows.vocabulary(), rule, walk);
    TokenId bonus = -1;
    if (walk.complete) bonus = rule.argmax_at(team, walk.node, walk.status);
    team.team_barrier();  // every member has read the root
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      if (walk.node >= 0) trees.parent_ptr(tree) = links.own_number(walk.node);
      result.accepted(tree) = walk.accepted;
      result.bonus_tokens(tree) = bonus;
      flag_row(result.tree_status, tree, walk.status);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
bool shares_rows(const ExecutionSpace& space, std::int64_t nodes, std::int64_t vocabulary) {
  // A walk reads few rows of its tree, this all of them: it pays if they take no longer than one.
  const std::int64_t threads = nodes * (runs_on_host<ExecutionSpace> ? 1 : 4 * chunk_team);
  return 2 * threads <= space.concurrency() && chunk_count(vocabulary) >= 4;
}

template <class ExecutionSpace, LogitType Logit>
void verify_greedy(const ExecutionSpace& space,
                   const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                   const IndexVector<MemoryOf<ExecutionSpace>>& draft_tokens,
                   const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                   const GreedyTrees<MemoryOf<ExecutionSpace>>& result) {
  const std::int64_t nodes = rows.rows();
  check_vocabulary(rows.vocabulary(), rows.active_vocabulary);
  check_matrix("logits", rows.logits, static_cast<std::int64_t>(rows.logits.extent(0)),
               rows.vocabulary());
  check_bitmask(rows.bitmask, nodes, rows.active());
  check_vector("draft_tokens", draft_tokens, nodes);
  check_trees(trees, nodes);
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  check_vector("accepted", result.accepted, batch);
  check_vector("bonus_tokens", result.bonus_tokens, batch);
  check_optional_vector("tree_status", result.tree_status, batch);
  const bool shared = result.chunk_maxima.data() != nullptr;
  if (shared) {
    check_matrix("chunk_maxima", result.chunk_maxima, nodes, chunk_count(rows.vocabulary()));
  }
  check_apart(std::array{NamedRange::of("token_tree_parent_ptr", trees.parent_ptr),
                         NamedRange::of("accepted", result.accepted),
                         NamedRange::of("bonus_tokens", result.bonus_tokens),
                         NamedRange::of("tree_status", result.tree_status),
                         NamedRange::of("chunk_maxima", result.chunk_maxima)},
              {ranges_of(rows), ranges_of_links(draft_tokens, trees)});
  if (shared) {
    const std::int64_t chunks = chunk_count(rows.active());
    launch_teams("tokkos::verify_greedy::maxima", space, nodes * chunks, chunk_team, chunk_scratch,
                 FindChunkMaxima<ExecutionSpace, Logit>{rows, result.chunk_maxima, chunks});
  }
  launch_teams("tokkos::verify_greedy::trees", space, batch, chunk_team, chunk_scratch,
               VerifyGreedy<ExecutionSpace, Logit>{rows, draft_tokens, trees, result});
}

#define TOKKOS_INSTANTIATE_SHARES(Space) \
  template bool shares_rows<Space>(const Space&, std::int64_t, std::int64_t);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE_SHARES)

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void verify_greedy<Space, Logit>(                                                       \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const IndexVector<MemoryOf<Space>>&, \
      const TokenTrees<MemoryOf<Space>>&, const GreedyTrees<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
