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
  float* buffer = nullptr;  ///< the team's scratch for one chunk

  /// What rejecting a child with residual sum R leaves of p.
  KOKKOS_FORCEINLINE_FUNCTION static float remaining(float p, float q, float sum) {
    const float difference = p - q;
    return (difference > 0.0f ? difference : 0.0f) / sum;
  }

  /// Brings the distribution left at `parent` after the children before `child` (-1: all) to p.
  KOKKOS_FUNCTION bool fill(const Team& team, std::int32_t parent, std::int32_t child,
                            std::int64_t start, int length, float* p) const {
    const float* target = &given.model_probs(parent, start);
    int illegal = 0;
    for_own_places<ExecutionSpace>(team, length, [&](int j) {
      const bool bad = is_illegal_probability(target[j]);
      illegal |= bad ? 1 : 0;
      p[j] = bad ? 0.0f : target[j];
    });
    for (std::int32_t c = trees.first_child(parent); c != child; c = trees.next_sibling(c)) {
      const float sum = residual_sums(c);
      if (sum <= 0.0f) continue;
      const float* draft = &given.draft_probs(c, start);
      for_own_places<ExecutionSpace>(team, length,
                                     [&](int j) { p[j] = remaining(p[j], draft[j], sum); });
    }
    return illegal != 0;
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
    float* p = buffer;
    std::int64_t total = 0;
    int bad = 0;
    for (std::int64_t start = 0; start < vocabulary; start += chunk_size) {
      const int length = chunk_length(vocabulary, start);
      if (fill(team, parent, child, start, length, p)) bad = 1;
      const float* draft = &given.draft_probs(child, start);
      for_own_places<ExecutionSpace>(team, length, [&](int j) {
        bad |= is_illegal_probability(draft[j]) ? 1 : 0;
        const float difference = p[j] - draft[j];
        const float rest = difference > 0.0f ? difference : 0.0f;
        total += to_grid(rest <= 2.0f ? rest : 2.0f);
      });
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
    LosslessRule<ExecutionSpace> with_buffer = rule;
    with_buffer.buffer = chunk_buffer(team);
    const auto& given = rule.given;
    const auto vocabulary = static_cast<std::int64_t>(given.model_probs.extent(1));
    const WalkEnd end = walk_tree(team, rule.trees, given.draft_tokens, given.uniforms, vocabulary,
                                  tree, with_buffer);
    std::int32_t status = end.status;
    TokenId bonus = -1;
    if (end.complete) {
      const auto fill = [&](std::int64_t start, int length, float* p) {
        return rule.fill(team, end.node, -1, start, length, p);
      };
      // Rounding on the grid may shift the sum of a small residual; only a given row must sum to 1.
      const bool sums_to_one = agreed(team, !rule.is_residual(end.node));
      bonus = draw_from_row<ExecutionSpace>(team, vocabulary, fill, given.bonus_uniforms(tree),
                                            with_buffer.buffer, sums_to_one, status);
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
      "tokkos::verify_draft_trees::trees", space, batch, tree_team, chunk_scratch,
      VerifyLossless<ExecutionSpace>{{distributions, trees, result.residual_sums}, result});
}

#define TOKKOS_INSTANTIATE(Space)                               \
  template void verify_draft_trees<Space>(                      \
      const Space&, const DraftDistributions<MemoryOf<Space>>&, \
      const TokenTrees<MemoryOf<Space>>&, const VerifiedTrees<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
