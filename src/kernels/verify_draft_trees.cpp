// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/lossless_rule.hpp"

#include <algorithm>

namespace tokkos {

namespace {

/// Threads per tree on a device.
constexpr int tree_team = 1024;

template <class ExecutionSpace>
struct VerifyLossless {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  DraftDistributions<Space> given;
  TokenTrees<Space> trees;
  VerifiedTrees<Space> result;

  KOKKOS_FUNCTION LosslessRule<ExecutionSpace> rule_of(const Team& team, std::int64_t tree) const {
    const auto nodes = static_cast<std::int64_t>(given.model_probs.extent(0));
    const auto links = TreeLinks<Space>::of(trees, nodes, tree);
    const RowScratch scratch = row_scratch_of<ExecutionSpace>(team);
    float* const drafts =
        given.without_replacement ? own_chunk_buffer<ExecutionSpace>(team) : nullptr;
    return {given,
            links,
            result.residual_sums,
            {{given.draft_probs, given.draft_row, given.draft_tokens},
             links,
             given.without_replacement,
             result.draft_masses,
             drafts},
            scratch};
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank();
    const LosslessRule<ExecutionSpace> rule = rule_of(team, tree);
    const auto vocabulary = static_cast<std::int64_t>(given.model_probs.extent(1));
    WalkEnd end = walk_tree(team, rule.links, given.draft_tokens, vocabulary, tree, rule);
    TokenId bonus = -1;
    if (end.complete && rule.settle(team, end.node, -1, end.status)) {
      const auto row = [&](std::int64_t start, int length, float* buffer) {
        return rule.left_at(team, end.node, -1, start, length, buffer);
      };
      // Rounding on the grid may shift the sum of a small residual; only a given row must sum to 1.
      const bool sums_to_one = agreed(team, !rule.is_residual(end.node));
      bonus = draw_from_row<ExecutionSpace>(team, vocabulary, row, given.bonus_uniforms(tree),
                                            rule.scratch, sums_to_one, end.status);
    }
    team.team_barrier();  // every member has read the root
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      if (end.node >= 0) trees.parent_ptr(tree) = rule.links.own_number(end.node);
      result.accepted(tree) = end.accepted;
      result.bonus_tokens(tree) = bonus;
      flag_row(result.tree_status, tree, end.status);
    });
  }
};

/// Threads of a host that share a tree: those that would be idle otherwise, four chunks of a row or
/// more for each. One-hot drafts hardly read rows.
template <class ExecutionSpace>
int host_team_of(const ExecutionSpace& space, const DraftDistributions<MemoryOf<ExecutionSpace>>& d,
                 std::int64_t batch) {
  if (!runs_on_host<ExecutionSpace> || batch == 0 || d.draft_probs.extent(0) == 0) return 1;
  const std::int64_t idle = space.concurrency() / batch;
  const std::int64_t useful = chunk_count(static_cast<std::int64_t>(d.model_probs.extent(1))) / 4;
  return static_cast<int>(std::max<std::int64_t>(1, std::min(idle, useful)));
}

}  // namespace

template <class ExecutionSpace>
void verify_draft_trees(const ExecutionSpace& space,
                        const DraftDistributions<MemoryOf<ExecutionSpace>>& distributions,
                        const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                        const VerifiedTrees<MemoryOf<ExecutionSpace>>& result) {
  check_drafts(distributions.draft_probs, distributions.draft_row, distributions.draft_tokens,
               distributions.model_probs, trees, distributions.uniforms);
  const auto nodes = static_cast<std::int64_t>(distributions.model_probs.extent(0));
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  check_vector("bonus_uniforms", distributions.bonus_uniforms, batch);
  check_vector("accepted", result.accepted, batch);
  check_vector("bonus_tokens", result.bonus_tokens, batch);
  check_vector("residual_sums", result.residual_sums, nodes);
  check_optional_vector("tree_status", result.tree_status, batch);
  if (distributions.without_replacement) check_vector("draft_masses", result.draft_masses, nodes);
  const int host_team = host_team_of(space, distributions, batch);
  const std::size_t buffers = distributions.without_replacement ? 2 : 1;
  const std::size_t scratch =
      row_scratch + (buffers - 1) * chunk_scratch + buffers * more_chunks(host_team);
  launch_teams("tokkos::verify_draft_trees::trees", space, batch, tree_team, scratch,
               VerifyLossless<ExecutionSpace>{distributions, trees, result}, host_team);
}

#define TOKKOS_INSTANTIATE(Space)                               \
  template void verify_draft_trees<Space>(                      \
      const Space&, const DraftDistributions<MemoryOf<Space>>&, \
      const TokenTrees<MemoryOf<Space>>&, const VerifiedTrees<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
