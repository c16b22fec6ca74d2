// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_greedy.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/tree_walk.hpp"

#include <array>

namespace tokkos {

namespace {

/// A row's lowest token of the largest logit, -1 with status bits if the row is unusable. Uses
/// `x`, room for a chunk that the team shares.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION TokenId argmax_of_row(const Team& team, const LogitRows<Logit, Space>& rows,
                                      std::int64_t row, float* x, std::int32_t& status) {
  float largest = negative_infinity;
  std::int64_t token = -1;
  std::int32_t bits = 0;
  const std::int64_t chunks = chunk_count(rows.active());
  for (std::int64_t c = 0; c < chunks; ++c) {
    ChunkSource<Logit> source;
    if (!find_chunk(rows, row, c, source)) {
      bits |= RowStatus::invalid_parameter;
      break;
    }
    std::int32_t chunk_bits = 0;
    const float maximum = load_chunk<ExecutionSpace>(team, source, x, chunk_bits);
    bits |= chunk_bits;
    if (maximum > largest) {
      int lowest = chunk_size;
      for (int j = team.team_rank(); j < source.size && lowest == chunk_size;
           j += team.team_size()) {
        if (x[j] == maximum) lowest = j;
      }
      team.team_reduce(Kokkos::Min<int>(lowest));
      largest = maximum;
      token = c * chunk_size + lowest;
    }
    team.team_barrier();  // the next chunk takes x
  }
  if (bits == 0 && token < 0) bits = RowStatus::empty;
  status |= bits;
  return bits == 0 ? static_cast<TokenId>(token) : -1;
}

/// Accepts the child with the argmax of its parent's row; that token is found once per node.
template <class ExecutionSpace, LogitType Logit>
struct GreedyRule {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  const LogitRows<Logit, Space>& rows;
  float* x;
  std::int32_t node = -1;  ///< whose argmax is known, -1 for none
  TokenId largest = -1;    ///< that argmax

  KOKKOS_FUNCTION TokenId argmax_at(const Team& team, std::int32_t parent, std::int32_t& status) {
    if (node != parent) {
      largest = argmax_of_row<ExecutionSpace>(team, rows, parent, x, status);
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
    GreedyRule<ExecutionSpace, Logit> rule{rows, chunk_buffer(team)};
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
  check_apart(std::array{NamedRange::of("token_tree_parent_ptr", trees.parent_ptr),
                         NamedRange::of("accepted", result.accepted),
                         NamedRange::of("bonus_tokens", result.bonus_tokens),
                         NamedRange::of("tree_status", result.tree_status)},
              {ranges_of(rows)});
  launch_teams("tokkos::verify_greedy::trees", space, batch, chunk_team, chunk_scratch,
               VerifyGreedy<ExecutionSpace, Logit>{rows, draft_tokens, trees, result});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void verify_greedy<Space, Logit>(                                                       \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const IndexVector<MemoryOf<Space>>&, \
      const TokenTrees<MemoryOf<Space>>&, const GreedyTrees<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
