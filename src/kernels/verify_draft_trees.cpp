// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/tree_walk.hpp"

namespace tokkos {

namespace {

/// Threads per tree on a device.
constexpr int tree_team = 1024;

/// The lossless rule. Rejected rows are not rewritten: the distribution that is left at a parent is
/// described by its tried children, each with its residual sum R; R <= 0 marks one that left it as
/// is.
template <class ExecutionSpace>
struct LosslessRule {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  DraftDistributions<Space> given;
  TokenTrees<Space> trees;
  Vector<float, Space> residual_sums;
  RowScratch scratch{};

  /// What rejecting a child with residual sum R leaves of p.
  KOKKOS_FORCEINLINE_FUNCTION static float remaining(float p, float q, float sum) {
    const float difference = p - q;
    return (difference > 0.0f ? difference : 0.0f) / sum;
  }

  /// The distribution left at `parent` after the children before `child` (-1: all): the target's
  /// own row as long as no rejection has changed it.
  KOKKOS_FUNCTION const float* left_at(const Team& team, std::int32_t parent, std::int32_t child,
                                       std::int64_t start, int length, float* buffer) const {
    const float* p = &given.model_probs(parent, start);
    for (std::int32_t c = trees.first_child(parent); c != child; c = trees.next_sibling(c)) {
      const float sum = residual_sums(c);
      if (sum <= 0.0f) continue;
      const float* draft = &given.draft_probs(c, start);
      for_own_places<ExecutionSpace>(team, length,
                                     [&](int j) { buffer[j] = remaining(p[j], draft[j], sum); });
      p = buffer;
    }
    return p;
  }

  /// The mass of one token there.
  KOKKOS_FUNCTION float mass(std::int32_t parent, std::int32_t child, TokenId token) const {
    float p = given.model_probs(parent, token);
    for (std::int32_t c = trees.first_child(parent); c != child; c = trees.next_sibling(c)) {
      const float sum = residual_sums(c);
      if (sum > 0.0f) p = remaining(p, given.draft_probs(c, token), sum);
    }
    return p;
  }

  /// Exact sum of what rejecting `child` would leave, before it is normalized.
  KOKKOS_FUNCTION std::int64_t residual(const Team& team, std::int32_t parent, std::int32_t child,
                                        int& illegal) const {
    const auto vocabulary = static_cast<std::int64_t>(given.model_probs.extent(1));
    std::int64_t total = 0;
    int bad = 0;
    for (std::int64_t start = 0; start < vocabulary; start += chunk_size) {
      const int length = chunk_length(vocabulary, start);
      const float* p = left_at(team, parent, child, start, length, scratch.chunk);
      const float* draft = &given.draft_probs(child, start);
      const float largest = p == scratch.chunk ? largest_residual : largest_given;
      const OwnSum own = sum_own_places<ExecutionSpace>(
          team, length, [&](int j) { return to_grid(bounded_mass(p[j] - draft[j])); },
          [&](int j) {
            return is_illegal_probability(p[j], largest) || is_illegal_probability(draft[j]);
          });
      total += own.sum;
      bad |= own.illegal;
    }
    team.team_reduce(Kokkos::Sum<std::int64_t>(total));
    team.team_reduce(Kokkos::Max<int>(bad));
    illegal = bad;
    return total;
  }

  /// Whether a rejection has changed the distribution left at `parent`.
  KOKKOS_FUNCTION bool is_residual(std::int32_t parent) const {
    for (std::int32_t c = trees.first_child(parent); c != -1; c = trees.next_sibling(c)) {
      if (residual_sums(c) > 0.0f) return true;
    }
    return false;
  }

  /// Notes a rejected child's residual sum for every member to see.
  KOKKOS_FUNCTION void note(const Team& team, std::int32_t child, float sum) const {
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() { residual_sums(child) = sum; });
    team.team_barrier();
  }

  KOKKOS_FUNCTION void skip(const Team& team, std::int32_t child) const { note(team, child, 0.0f); }

  KOKKOS_FUNCTION void spoil(const Team&, std::int32_t) const {}  // given rows are not written

  KOKKOS_FUNCTION Verdict judge(const Team& team, std::int32_t parent, std::int32_t child,
                                TokenId token, float u, std::int32_t& status) const {
    const float p = mass(parent, child, token);
    const float q = given.draft_probs(child, token);
    const bool bad = is_illegal_probability(p) || is_illegal_probability(q);
    const FirstLook look = agreed(team, bad                     ? FirstLook::illegal
                                        : p > 0.0f && u * q < p ? FirstLook::accept
                                                                : FirstLook::undecided);
    if (look == FirstLook::accept) return Verdict::accept;
    int illegal = 1;
    std::int64_t sum = 0;
    if (look == FirstLook::undecided) sum = residual(team, parent, child, illegal);
    const float total = from_grid(sum);
    if (illegal != 0 || total > 1.01f) {  // a distribution leaves at most 1
      status |= RowStatus::invalid_probability;
      return Verdict::stop;
    }
    if (total < smallest_residual) status |= RowStatus::zero_residual;
    note(team, child, total < smallest_residual ? 0.0f : total);
    return Verdict::reject;
  }
};

template <class ExecutionSpace>
struct VerifyLossless {
  using Space = MemoryOf<ExecutionSpace>;
  LosslessRule<ExecutionSpace> rule;
  VerifiedTrees<Space> result;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank();
    LosslessRule<ExecutionSpace> with_scratch = rule;
    with_scratch.scratch = row_scratch_of(team);
    const auto& given = rule.given;
    const auto vocabulary = static_cast<std::int64_t>(given.model_probs.extent(1));
    const WalkEnd end = walk_tree(team, rule.trees, given.draft_tokens, given.uniforms, vocabulary,
                                  tree, with_scratch);
    std::int32_t status = end.status;
    TokenId bonus = -1;
    if (end.complete) {
      const auto row = [&](std::int64_t start, int length, float* buffer) {
        return rule.left_at(team, end.node, -1, start, length, buffer);
      };
      // Rounding on the grid may shift the sum of a small residual; only a given row must sum to 1.
      const bool sums_to_one = agreed(team, !rule.is_residual(end.node));
      bonus = draw_from_row<ExecutionSpace>(team, vocabulary, row, given.bonus_uniforms(tree),
                                            with_scratch.scratch, sums_to_one, status);
    }
    team.team_barrier();  // every member has read the root
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      rule.trees.parent_ptr(tree) = end.node;
      result.accepted(tree) = end.accepted;
      result.bonus_tokens(tree) = bonus;
      flag_row(result.tree_status, tree, status);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void verify_draft_trees(const ExecutionSpace& space,
                        const DraftDistributions<MemoryOf<ExecutionSpace>>& distributions,
                        const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                        const VerifiedTrees<MemoryOf<ExecutionSpace>>& result) {
  check_trees(distributions.draft_probs, distributions.draft_tokens, distributions.model_probs,
              trees, distributions.uniforms);
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  check_vector("bonus_uniforms", distributions.bonus_uniforms, batch);
  check_vector("accepted", result.accepted, batch);
  check_vector("bonus_tokens", result.bonus_tokens, batch);
  check_vector("residual_sums", result.residual_sums,
               static_cast<std::int64_t>(distributions.model_probs.extent(0)));
  check_optional_vector("tree_status", result.tree_status, batch);
  launch_teams(
      "tokkos::verify_draft_trees::trees", space, batch, tree_team, row_scratch,
      VerifyLossless<ExecutionSpace>{{distributions, trees, result.residual_sums}, result});
}

#define TOKKOS_INSTANTIATE(Space)                               \
  template void verify_draft_trees<Space>(                      \
      const Space&, const DraftDistributions<MemoryOf<Space>>&, \
      const TokenTrees<MemoryOf<Space>>&, const VerifiedTrees<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
