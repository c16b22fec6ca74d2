// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_trees.hpp"
#include "kernels/draft_rows.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/tree_walk.hpp"

namespace tokkos {

namespace {

/// Threads per tree on a device.
constexpr int tree_team = 1024;

/// The seed's rule: >= accepts, a vanishing residual accepts, rejected rows are rewritten in place.
template <class ExecutionSpace>
struct SeedRule {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  DraftRows<Space> drafts;
  Matrix<float, Space> model_probs;
  Vector<const float, Space> uniforms;

  KOKKOS_FUNCTION void skip(const Team&, std::int32_t) const {}
  KOKKOS_FUNCTION void enter() const {}

  /// Leaves no distribution at `parent`.
  KOKKOS_FUNCTION void spoil(const Team& team, std::int32_t parent) const {
    float* row = &model_probs(parent, 0);
    for_own_places<ExecutionSpace>(team, static_cast<int>(model_probs.extent(1)),
                                   [&](int v) { row[v] = 0.0f; });
  }

  /// The tokens [start, start + length) of a node's draft distribution, which is row `row`.
  KOKKOS_FUNCTION DraftChunk draft(std::int64_t row, TokenId token, int start, int length) const {
    if (row == one_hot_row) return DraftChunk::one_hot(token, start, length);
    return {&drafts.draft_probs(row, start)};
  }

  /// Exact sum of max(model - draft, 0) over the row; illegal is set if a number is no probability.
  KOKKOS_FUNCTION OwnSum residual(const Team& team, const float* p, std::int64_t row, TokenId token,
                                  int vocabulary) const {
    OwnSum mine;
    for (int start = 0; start < vocabulary; start += chunk_size) {
      const int size = chunk_length(vocabulary, start);
      const OwnSum own = sum_remaining<ExecutionSpace>(
          team, size, p + start, draft(row, token, start, size), largest_given);
      mine.sum = wrapping_sum(mine.sum, own.sum);
      mine.illegal |= own.illegal;
    }
    return sum_of_members(team, mine);
  }

  KOKKOS_FUNCTION Verdict judge(const Team& team, std::int32_t parent, std::int32_t child,
                                TokenId token, std::int32_t& status) const {
    const float u = clamped_uniform(uniforms(child));
    if (u != u) {
      status |= RowStatus::invalid_parameter;
      spoil(team, parent);
      return Verdict::stop;
    }
    const std::int64_t draft_row = drafts.row_of(child);
    if (draft_row == no_row) {
      status |= RowStatus::invalid_draft;
      return Verdict::reject;
    }
    float* row = &model_probs(parent, 0);
    const auto vocabulary = static_cast<int>(model_probs.extent(1));
    const float p = row[token];
    const float q = draft_row == one_hot_row ? 1.0f : drafts.draft_probs(draft_row, token);
    const bool bad = is_illegal_probability(p) || is_illegal_probability(q);
    const FirstLook look = agreed(team, bad          ? FirstLook::illegal
                                        : p >= u * q ? FirstLook::accept
                                                     : FirstLook::undecided);
    if (look == FirstLook::accept) return Verdict::accept;
    OwnSum left{0, 1};
    if (look == FirstLook::undecided) left = residual(team, row, draft_row, token, vocabulary);
    team.team_barrier();  // every member has read the row
    if (left.illegal != 0) {
      spoil(team, parent);
      status |= RowStatus::invalid_probability;
      return Verdict::stop;
    }
    const float total = from_grid(left.sum);
    if (total < smallest_residual) return Verdict::accept;
    store_remaining<ExecutionSpace>(team, vocabulary, row, draft(draft_row, token, 0, vocabulary),
                                    total, row);
    team.team_barrier();
    return Verdict::reject;
  }
};

template <class ExecutionSpace>
struct VerifySeed {
  using Space = MemoryOf<ExecutionSpace>;
  SeedRule<ExecutionSpace> rule;
  TokenTrees<Space> trees;
  Vector<std::int32_t, Space> tree_status;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t tree = team.league_rank();
    const auto nodes = static_cast<std::int64_t>(rule.model_probs.extent(0));
    const auto vocabulary = static_cast<std::int64_t>(rule.model_probs.extent(1));
    const auto links = TreeLinks<Space>::of(trees, nodes, tree);
    TreeWalk walk = walk_from_root(links, tree);
    walk_tree(team, links, rule.drafts.draft_tokens, vocabulary, rule, walk);
    team.team_barrier();  // every member has read the root
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      if (walk.node >= 0) trees.parent_ptr(tree) = links.own_number(walk.node);
      flag_row(tree_status, tree, walk.status);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void batch_spec_verify(const ExecutionSpace& space,
                       const Matrix<const float, MemoryOf<ExecutionSpace>>& draft_probs,
                       const IndexVector<MemoryOf<ExecutionSpace>>& draft_tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& model_probs,
                       const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                       const Vector<const float, MemoryOf<ExecutionSpace>>& uniform_samples,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& tree_status,
                       const IndexVector<MemoryOf<ExecutionSpace>>& draft_row) {
  const Matrix<const float, MemoryOf<ExecutionSpace>> target = model_probs;
  check_drafts(draft_probs, draft_row, draft_tokens, target, trees, uniform_samples);
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  check_optional_vector("tree_status", tree_status, batch);
  check_apart(std::array{NamedRange::of("model_probs", model_probs),
                         NamedRange::of("token_tree_parent_ptr", trees.parent_ptr),
                         NamedRange::of("tree_status", tree_status)},
              {ranges_of_drafts(draft_probs, draft_row, draft_tokens, trees, uniform_samples)});
  launch_teams("tokkos::batch_spec_verify::trees", space, batch, tree_team, 0,
               VerifySeed<ExecutionSpace>{
                   {{draft_probs, draft_row, draft_tokens}, model_probs, uniform_samples},
                   trees,
                   tree_status});
}

#define TOKKOS_INSTANTIATE(Space)                                                      \
  template void batch_spec_verify<Space>(                                              \
      const Space&, const Matrix<const float, MemoryOf<Space>>&,                       \
      const IndexVector<MemoryOf<Space>>&, const Matrix<float, MemoryOf<Space>>&,      \
      const TokenTrees<MemoryOf<Space>>&, const Vector<const float, MemoryOf<Space>>&, \
      const Vector<std::int32_t, MemoryOf<Space>>&, const IndexVector<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
