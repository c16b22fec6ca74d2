// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/guarded.hpp"
#include "reference/verify_reference.hpp"

#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <Kokkos_Core.hpp>

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
      : m_draft_probs(c.draft_tokens.size(), c.width(), padding, c.draft_probs),
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
        m_sums(c.draft_tokens.size()) {}

  Verified by_seed_rule(const ExecutionSpace& space) {
    batch_spec_verify(space, m_draft_probs.matrix(), m_draft_tokens.vector(),
                      m_model_probs.matrix(), m_first_child.vector(), m_next_sibling.vector(),
                      m_uniforms.vector(), m_parent_ptr.vector(), m_status.vector());
    return results(space);
  }

  Verified lossless(const ExecutionSpace& space) {
    verify_draft_trees(space,
                       {m_draft_probs.matrix(), m_draft_tokens.vector(), m_model_probs.matrix(),
                        m_uniforms.vector(), m_bonus_uniforms.vector()},
                       {m_first_child.vector(), m_next_sibling.vector(), m_parent_ptr.vector()},
                       {m_accepted.vector(), m_bonus.vector(), m_sums.vector(), m_status.vector()});
    return results(space);
  }

 private:
  Verified results(const ExecutionSpace& space) {
    space.fence("tokkos::test::verified");
    Verified verified{m_parent_ptr.values(), m_accepted.values(), m_bonus.values(),
                      m_status.values(), m_model_probs.values()};
    m_sums.values();
    verified.guards_intact = m_parent_ptr.guards_intact() && m_accepted.guards_intact() &&
                             m_bonus.guards_intact() && m_status.guards_intact() &&
                             m_model_probs.guards_intact() && m_sums.guards_intact();
    return verified;
  }

  Guarded<float, MemorySpace> m_draft_probs, m_model_probs;
  Guarded<std::int32_t, MemorySpace> m_draft_tokens, m_first_child, m_next_sibling, m_parent_ptr;
  Guarded<float, MemorySpace> m_uniforms, m_bonus_uniforms;
  Guarded<std::int32_t, MemorySpace> m_status, m_accepted, m_bonus;
  Guarded<float, MemorySpace> m_sums;
};

}  // namespace tokkos::test
