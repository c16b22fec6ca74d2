// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/lossless_rule.hpp"

#include <limits>
#include <optional>

namespace tokkos {

namespace {

/// Threads per tree on a device.
constexpr int tree_team = 1024;

/// Walks trees from their roots, or on from where they paused for the sum that was made last.
template <class ExecutionSpace>
struct WalkTrees {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  DraftDistributions<Space> given;
  TokenTrees<Space> trees;
  VerifiedTrees<Space> result;
  int made = 0;
  bool may_pause = false;

  KOKKOS_FUNCTION std::int64_t vocabulary() const {
    return static_cast<std::int64_t>(given.model_probs.extent(1));
  }

  /// The rule for a tree that has come through `used` sums when it came to its node.
  KOKKOS_FUNCTION LosslessRule<ExecutionSpace> rule_of(const Team& team, std::int64_t tree,
                                                       int used) const {
    const auto nodes = static_cast<std::int64_t>(given.model_probs.extent(0));
    const auto links = TreeLinks<Space>::of(trees, nodes, tree);
    const RowScratch scratch = row_scratch_of(team);
    float* const drafts = given.without_replacement ? chunk_buffer(team) : nullptr;
    const std::int64_t* const sums = made > 0 ? &result.chunk_masses(tree, 0) : nullptr;
    return {given,
            links,
            result.residual_sums,
            {{given.draft_probs, given.draft_row, given.draft_tokens},
             links,
             given.without_replacement,
             result.draft_masses,
             drafts},
            scratch,
            {sums, chunk_count(vocabulary()), made, may_pause, used, used}};
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank();
    PausedWalk paused;
    if (made > 0) {
      paused = result.paused(tree);
      if (paused.wanted == SumKind::none) return;
    }
    LosslessRule<ExecutionSpace> rule = rule_of(team, tree, paused.sums);
    TreeWalk walk = made > 0 ? TreeWalk{paused.node, paused.accepted, paused.status, paused.steps}
                             : walk_from_root(rule.links, tree);
    walk_tree(team, rule.links, given.draft_tokens, vocabulary(), rule, walk);
    TokenId bonus = -1;
    if (walk.complete) bonus = rule.draw(team, walk.node, given.bonus_uniforms(tree), walk.status);
    team.team_barrier();  // every member has read the root and where the walk paused
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      if (may_pause) {
        result.paused(tree) = {
            walk.node,         walk.accepted,    walk.status,          walk.steps,
            rule.sums.entered, rule.sums.wanted, rule.sums.wanted_node};
      }
      if (rule.sums.is_paused()) return;
      if (walk.node >= 0) trees.parent_ptr(tree) = rule.links.own_number(walk.node);
      result.accepted(tree) = walk.accepted;
      result.bonus_tokens(tree) = bonus;
      flag_row(result.tree_status, tree, walk.status);
    });
  }
};

/// One chunk of the sum that a paused tree waits for.
template <class ExecutionSpace>
struct SumChunk {
  using Team = typename WalkTrees<ExecutionSpace>::Team;
  WalkTrees<ExecutionSpace> walk;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    const PausedWalk paused = walk.result.paused(tree);
    if (paused.wanted == SumKind::none) return;
    const LosslessRule<ExecutionSpace> rule = walk.rule_of(team, tree, paused.sums);
    OwnSum sum = rule.sum_of(team, paused, chunk);
    team.team_reduce(Kokkos::Sum<std::int64_t>(sum.sum));
    team.team_reduce(Kokkos::Max<int>(sum.illegal));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      walk.result.chunk_masses(tree, walk.made * chunks + chunk) = sum.illegal != 0 ? -1 : sum.sum;
    });
  }
};

}  // namespace

template <class ExecutionSpace>
bool shares_trees(const ExecutionSpace& space, std::int64_t batch, std::int64_t vocabulary) {
  const std::int64_t threads = batch * (runs_on_host<ExecutionSpace> ? 1 : tree_team);
  return 2 * threads <= space.concurrency() && chunk_count(vocabulary) >= 4;
}

template <class ExecutionSpace>
void verify_draft_trees(const ExecutionSpace& space,
                        const DraftDistributions<MemoryOf<ExecutionSpace>>& distributions,
                        const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                        const VerifiedTrees<MemoryOf<ExecutionSpace>>& result) {
  check_drafts(distributions.draft_probs, distributions.draft_row, distributions.draft_tokens,
               distributions.model_probs, trees, distributions.uniforms);
  const auto nodes = static_cast<std::int64_t>(distributions.model_probs.extent(0));
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(distributions.model_probs.extent(1));
  if (nodes > 0) check_vocabulary(vocabulary, distributions.active_vocabulary);
  check_vector("bonus_uniforms", distributions.bonus_uniforms, batch);
  check_vector("accepted", result.accepted, batch);
  check_vector("bonus_tokens", result.bonus_tokens, batch);
  check_vector("residual_sums", result.residual_sums, nodes);
  check_optional_vector("tree_status", result.tree_status, batch);
  if (distributions.without_replacement) check_vector("draft_masses", result.draft_masses, nodes);
  const std::int64_t chunks = chunk_count(vocabulary);  // 0: no nodes
  const bool shared =
      chunks > 0 && (result.paused.data() != nullptr || result.chunk_masses.data() != nullptr);
  if (shared) {
    check_vector("paused", result.paused, batch);
    const auto columns = static_cast<std::int64_t>(result.chunk_masses.extent(1));
    require(columns >= chunks && columns % chunks == 0, "chunk_masses.extent", 1, columns,
            "a multiple of the number of chunks, not 0");
    check_matrix("chunk_masses", result.chunk_masses, batch, columns);
    require(batch * chunks <= std::numeric_limits<int>::max(), "trees x chunks", std::nullopt,
            batch * chunks, "at most 2147483647 in one launch");
  }
  check_apart(std::array{NamedRange::of("token_tree_parent_ptr", trees.parent_ptr),
                         NamedRange::of("accepted", result.accepted),
                         NamedRange::of("bonus_tokens", result.bonus_tokens),
                         NamedRange::of("residual_sums", result.residual_sums),
                         NamedRange::of("tree_status", result.tree_status),
                         NamedRange::of("draft_masses", result.draft_masses),
                         NamedRange::of("paused", result.paused),
                         NamedRange::of("chunk_masses", result.chunk_masses)},
              {ranges_of_drafts(distributions.draft_probs, distributions.draft_row,
                                distributions.draft_tokens, trees, distributions.uniforms),
               std::array{NamedRange::of("model_probs", distributions.model_probs),
                          NamedRange::of("bonus_uniforms", distributions.bonus_uniforms)}});
  const std::size_t scratch =
      row_scratch + (distributions.without_replacement ? chunk_scratch : std::size_t{0});
  WalkTrees<ExecutionSpace> walk{distributions, trees, result};
  // A chain has one rejection at most; then comes the draw.
  const std::int64_t rounds =
      shared ? static_cast<std::int64_t>(result.chunk_masses.extent(1)) / chunks : 0;
  const std::int64_t most = trees.first_child.is_given() ? rounds : 2;
  for (walk.may_pause = true; walk.made < rounds && walk.made < most; ++walk.made) {
    launch_teams("tokkos::verify_draft_trees::walk", space, batch, chunk_team, scratch, walk);
    launch_teams("tokkos::verify_draft_trees::sums", space, batch * chunks, chunk_team, scratch,
                 SumChunk<ExecutionSpace>{walk, chunks});
  }
  walk.may_pause = false;
  launch_teams("tokkos::verify_draft_trees::trees", space, batch, tree_team, scratch, walk);
}

#define TOKKOS_INSTANTIATE(Space)                                              \
  template bool shares_trees<Space>(const Space&, std::int64_t, std::int64_t); \
  template void verify_draft_trees<Space>(                                     \
      const Space&, const DraftDistributions<MemoryOf<Space>>&,                \
      const TokenTrees<MemoryOf<Space>>&, const VerifiedTrees<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
