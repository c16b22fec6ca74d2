// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/tree_walk.hpp"

namespace tokkos::detail {

namespace {

/// Threads per tree on a device.
constexpr int tree_team = 1024;

/// The seed's rule: >= accepts, a vanishing residual accepts, rejected rows are rewritten in place.
template <class ExecutionSpace>
struct SeedRule {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Matrix<const float, Space> draft_probs;
  Matrix<float, Space> model_probs;

  KOKKOS_FUNCTION void skip(const Team&, std::int32_t) const {}

  /// Leaves no distribution at `parent`.
  KOKKOS_FUNCTION void spoil(const Team& team, std::int32_t parent) const {
    float* row = &model_probs(parent, 0);
    for_own_places<ExecutionSpace>(team, static_cast<int>(model_probs.extent(1)),
                                   [&](int v) { row[v] = 0.0f; });
  }

  /// Exact sum of max(model - draft, 0) over the row; illegal is set if a number is no probability.
  KOKKOS_FUNCTION std::int64_t residual(const Team& team, const float* p, const float* q,
                                        int length, int& illegal) const {
    std::int64_t sum = 0;
    int bad = 0;
    for (int start = 0; start < length; start += chunk_size) {
      const int size = chunk_length(length, start);
      const float* ps = p + start;
      const float* qs = q + start;
      const OwnSum own = sum_own_places<ExecutionSpace>(
          team, size, [&](int j) { return to_grid(bounded_mass(ps[j] - qs[j])); },
          [&](int j) { return is_illegal_probability(ps[j]) || is_illegal_probability(qs[j]); });
      sum += own.sum;
      bad |= own.illegal;
    }
    team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
    team.team_reduce(Kokkos::Max<int>(bad));
    illegal = bad;
    return sum;
  }

  KOKKOS_FUNCTION Verdict judge(const Team& team, std::int32_t parent, std::int32_t child,
                                TokenId token, float u, std::int32_t& status) const {
    float* row = &model_probs(parent, 0);
    const float* draft = &draft_probs(child, 0);
    const auto vocabulary = static_cast<int>(model_probs.extent(1));
    const float p = row[token];
    const float q = draft[token];
    const bool bad = is_illegal_probability(p) || is_illegal_probability(q);
    const FirstLook look = agreed(team, bad          ? FirstLook::illegal
                                        : p >= u * q ? FirstLook::accept
                                                     : FirstLook::undecided);
    if (look == FirstLook::accept) return Verdict::accept;
    int illegal = 1;
    std::int64_t sum = 0;
    if (look == FirstLook::undecided) sum = residual(team, row, draft, vocabulary, illegal);
    team.team_barrier();  // every member has read the row
    if (illegal != 0) {
      spoil(team, parent);
      status |= RowStatus::invalid_probability;
      return Verdict::stop;
    }
    const float total = from_grid(sum);
    if (total < smallest_residual) return Verdict::accept;
    for_own_places<ExecutionSpace>(team, vocabulary, [&](int v) {
      const float difference = row[v] - draft[v];
      row[v] = (difference > 0.0f ? difference : 0.0f) / total;
    });
    team.team_barrier();
    return Verdict::reject;
  }
};

template <class ExecutionSpace>
struct VerifySeed {
  using Space = MemoryOf<ExecutionSpace>;
  SeedRule<ExecutionSpace> rule;
  Vector<const TokenId, Space> draft_tokens;
  TokenTrees<Space> trees;
  Vector<const float, Space> uniforms;
  Vector<std::int32_t, Space> tree_status;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank();
    const WalkEnd end =
        walk_tree(team, trees, draft_tokens, uniforms,
                  static_cast<std::int64_t>(rule.model_probs.extent(1)), tree, rule);
    team.team_barrier();  // every member has read the root
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      trees.parent_ptr(tree) = end.node;
      flag_row(tree_status, tree, end.status);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void batch_spec_verify(const ExecutionSpace& space,
                       const Matrix<const float, MemoryOf<ExecutionSpace>>& draft_probs,
                       const Vector<const TokenId, MemoryOf<ExecutionSpace>>& draft_tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& model_probs,
                       const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                       const Vector<const float, MemoryOf<ExecutionSpace>>& uniform_samples,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& tree_status) {
  const Matrix<const float, MemoryOf<ExecutionSpace>> target = model_probs;
  check_trees(draft_probs, draft_tokens, target, trees, uniform_samples);
  check_separate("draft_probs", draft_probs, "model_probs", target);
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  check_optional_vector("tree_status", tree_status, batch);
  launch_teams("tokkos::batch_spec_verify::trees", space, batch, tree_team, 0,
               VerifySeed<ExecutionSpace>{
                   {draft_probs, model_probs}, draft_tokens, trees, uniform_samples, tree_status});
}

#define TOKKOS_INSTANTIATE(Space)                                                           \
  template void batch_spec_verify<Space>(                                                   \
      const Space&, const Matrix<const float, MemoryOf<Space>>&,                            \
      const Vector<const TokenId, MemoryOf<Space>>&, const Matrix<float, MemoryOf<Space>>&, \
      const TokenTrees<MemoryOf<Space>>&, const Vector<const float, MemoryOf<Space>>&,      \
      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::detail
