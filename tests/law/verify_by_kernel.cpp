// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/chunk.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "law/plain_views.hpp"
#include "law/tree_batch.hpp"

namespace tokkos::test {

namespace {

using Space = Kokkos::Serial;
using Memory = Kokkos::HostSpace;

class Call {
 public:
  explicit Call(const VerifyCase& c)
      : m_case(c),
        m_outcome{c.roots, std::vector<std::int32_t>(c.roots.size(), -1),
                  std::vector<std::int32_t>(c.roots.size(), -1),
                  std::vector<std::int32_t>(c.roots.size(), 0)},
        m_sums(c.draft_tokens.size()),
        m_draft_masses(c.draft_tokens.size()) {
    m_given.draft_probs = matrix_on<const float>(m_case.draft_probs, c.width());
    m_given.draft_tokens = vector_on<const std::int32_t>(m_case.draft_tokens);
    m_given.model_probs = matrix_on<const float>(m_case.model_probs, c.width());
    m_given.uniforms = vector_on<const float>(m_case.uniforms);
    m_given.bonus_uniforms = vector_on<const float>(m_case.bonus_uniforms);
    if (!c.row_of_node.empty()) {
      m_given.draft_row = vector_on<const std::int32_t>(m_case.row_of_node);
    }
    m_given.without_replacement = c.without_replacement;
    m_trees.first_child = vector_on<const std::int32_t>(m_case.first_child);
    m_trees.next_sibling = vector_on<const std::int32_t>(m_case.next_sibling);
    m_trees.parent_ptr = vector_on<std::int32_t>(m_outcome.last_accepted);
    m_result.accepted = vector_on<std::int32_t>(m_outcome.accepted);
    m_result.bonus_tokens = vector_on<TokenId>(m_outcome.bonus_tokens);
    m_result.residual_sums = vector_on<float>(m_sums);
    m_result.tree_status = vector_on<std::int32_t>(m_outcome.status);
    if (c.without_replacement) m_result.draft_masses = vector_on<std::int64_t>(m_draft_masses);
  }

  LosslessOutcome by_teams() { return verify(); }

  LosslessOutcome by_shared_sums() {
    m_paused.resize(m_case.roots.size());
    const std::int64_t sums = shared_sums * chunk_count(m_case.vocabulary);
    m_chunk_masses.resize(m_case.roots.size() * static_cast<std::size_t>(sums));
    m_result.paused = vector_on<PausedWalk>(m_paused);
    m_result.chunk_masses = matrix_on<std::int64_t>(m_chunk_masses, static_cast<std::size_t>(sums));
    return verify();
  }

 private:
  LosslessOutcome verify() {
    const Space space;
    verify_draft_trees(space, m_given, m_trees, m_result);
    space.fence("tokkos::test::verified");
    return m_outcome;
  }

  VerifyCase m_case;
  LosslessOutcome m_outcome;
  std::vector<float> m_sums;
  std::vector<std::int64_t> m_draft_masses, m_chunk_masses;
  std::vector<PausedWalk> m_paused;
  DraftDistributions<Memory> m_given;
  TokenTrees<Memory> m_trees;
  VerifiedTrees<Memory> m_result;
};

}  // namespace

LosslessOutcome verify_by_kernel(const VerifyCase& verify_case) {
  const LosslessOutcome outcome = Call(verify_case).by_teams();
  if (outcome != Call(verify_case).by_shared_sums()) {
    throw std::runtime_error("a team a tree and sums that all teams share differ");
  }
  return outcome;
}

}  // namespace tokkos::test
