// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/guarded.hpp"
#include "reference/verify_reference.hpp"

#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/chunk.hpp>

#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::test {

/// What a verification wrote.
struct Verified {
  std::vector<std::int32_t> parent_ptr;
  std::vector<std::int32_t> accepted;
  std::vector<std::int32_t> bonus_tokens;
  std::vector<std::int32_t> status;
  std::vector<float> model_probs;
  bool guards_intact = true;
};

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

/// A VerifyCase in the memory of an execution space.
template <class ExecutionSpace>
class VerifyCaseOnDevice {
 public:
  using MemorySpace = MemoryOf<ExecutionSpace>;

  explicit VerifyCaseOnDevice(const VerifyCase& c, std::size_t padding = 0)
      : m_has_draft_row(!c.row_of_node.empty()),
        m_without_replacement(c.without_replacement),
        m_active_vocabulary(c.active_vocabulary),
        m_draft_probs(c.draft_probs.size() / c.width(), c.width(), padding, c.draft_probs),
        m_model_probs(c.draft_tokens.size(), c.width(), 2 * padding, c.model_probs),
        m_draft_tokens(std::span(c.draft_tokens)),
        m_first_child(std::span(c.first_child)),
        m_next_sibling(std::span(c.next_sibling)),
        m_parent_ptr(std::span(c.roots)),
        m_uniforms(std::span(c.uniforms)),
        m_bonus_uniforms(std::span(c.bonus_uniforms)),
        m_status(c.roots.size()),
        m_accepted(c.roots.size()),
        m_bonus(c.roots.size()),
        m_sums(c.draft_tokens.size()),
        m_draft_row(std::span(c.row_of_node)),
        m_masses(c.draft_tokens.size()),
        m_paused("tokkos::test::paused", c.roots.size()),
        m_chunks(static_cast<std::size_t>(chunk_count(c.vocabulary))) {}

  Verified by_seed_rule(const ExecutionSpace& space) {
    batch_spec_verify(space, draft_probs(), m_draft_tokens.vector(), m_model_probs.matrix(),
                      trees(), m_uniforms.vector(), m_status.vector(), draft_row());
    return results(space);
  }

  Verified lossless(const ExecutionSpace& space) { return lossless(space, trees()); }

  /// The same with the trees in another encoding; parent_ptr is then that one's. Verifies a team a
  /// tree, and with sums that all teams share: as many as the engine has them share.
  Verified lossless(const ExecutionSpace& space, const TokenTrees<MemorySpace>& trees) {
    return lossless(space, trees, {shared_sums});
  }

  /// The same with each of the given numbers of shared sums.
  Verified lossless(const ExecutionSpace& space, const TokenTrees<MemorySpace>& trees,
                    const std::vector<int>& numbers_of_sums) {
    const Kokkos::View<std::int32_t*, MemorySpace> roots("tokkos::test::roots",
                                                         trees.parent_ptr.extent(0));
    Kokkos::deep_copy(space, roots, trees.parent_ptr);
    const Verified by_teams = verify(space, trees, 0);
    for (const int sums : numbers_of_sums) {
      CAPTURE(sums);
      Kokkos::deep_copy(space, trees.parent_ptr, roots);
      const Verified shared = verify(space, trees, sums);
      CHECK(shared.parent_ptr == by_teams.parent_ptr);
      CHECK(shared.accepted == by_teams.accepted);
      CHECK(shared.bonus_tokens == by_teams.bonus_tokens);
      CHECK(shared.status == by_teams.status);
    }
    return by_teams;
  }

  /// Verifies once, with the first `sums` sums of each tree shared.
  Verified verify(const ExecutionSpace& space, const TokenTrees<MemorySpace>& trees, int sums) {
    DraftDistributions<MemorySpace> given;
    given.draft_probs = draft_probs();
    given.draft_tokens = m_draft_tokens.vector();
    given.model_probs = m_model_probs.matrix();
    given.uniforms = m_uniforms.vector();
    given.bonus_uniforms = m_bonus_uniforms.vector();
    given.draft_row = draft_row();
    given.without_replacement = m_without_replacement;
    given.active_vocabulary = m_active_vocabulary;
    VerifiedTrees<MemorySpace> result{m_accepted.vector(), m_bonus.vector(), m_sums.vector(),
                                      m_status.vector()};
    if (m_without_replacement) result.draft_masses = m_masses.vector();
    Guarded<std::int64_t, MemorySpace> chunk_masses(
        m_accepted.vector().extent(0), static_cast<std::size_t>(sums) * m_chunks, 0, {});
    if (sums > 0) {
      result.paused = m_paused;
      result.chunk_masses = chunk_masses.matrix();
    }
    // Scratch holds anything.
    Kokkos::deep_copy(space, m_sums.vector(), 0.5f);
    Kokkos::deep_copy(space, m_masses.vector(), std::int64_t{1} << 42);
    Kokkos::deep_copy(space, m_paused, PausedWalk{0, 1, 2, 3, 4, SumKind::rest, 5});
    Kokkos::deep_copy(space, m_status.vector(), 0);
    verify_draft_trees(space, given, trees, result);
    const Verified verified = results(space);
    chunk_masses.values();
    CHECK(chunk_masses.guards_intact());
    return verified;
  }

  TokenTrees<MemorySpace> trees() const {
    return {m_first_child.vector(), m_next_sibling.vector(), m_parent_ptr.vector()};
  }

 private:
  Matrix<const float, MemorySpace> draft_probs() const {
    if (m_draft_probs.matrix().extent(0) == 0) return {};
    return m_draft_probs.matrix();
  }
  IndexVector<MemorySpace> draft_row() const {
    if (!m_has_draft_row) return {};
    return m_draft_row.vector();
  }
  Verified results(const ExecutionSpace& space) {
    space.fence("tokkos::test::verified");
    Verified verified{m_parent_ptr.values(), m_accepted.values(), m_bonus.values(),
                      m_status.values(), m_model_probs.values()};
    m_sums.values();
    m_masses.values();
    verified.guards_intact = m_parent_ptr.guards_intact() && m_accepted.guards_intact() &&
                             m_bonus.guards_intact() && m_status.guards_intact() &&
                             m_model_probs.guards_intact() && m_sums.guards_intact() &&
                             m_masses.guards_intact();
    return verified;
  }

  bool m_has_draft_row, m_without_replacement;
  int m_active_vocabulary;
  Guarded<float, MemorySpace> m_draft_probs, m_model_probs;
  Guarded<std::int32_t, MemorySpace> m_draft_tokens, m_first_child, m_next_sibling, m_parent_ptr;
  Guarded<float, MemorySpace> m_uniforms, m_bonus_uniforms;
  Guarded<std::int32_t, MemorySpace> m_status, m_accepted, m_bonus;
  Guarded<float, MemorySpace> m_sums;
  Guarded<std::int32_t, MemorySpace> m_draft_row;
  Guarded<std::int64_t, MemorySpace> m_masses;
  Kokkos::View<PausedWalk*, MemorySpace> m_paused;
  std::size_t m_chunks;
};

}  // namespace tokkos::test
