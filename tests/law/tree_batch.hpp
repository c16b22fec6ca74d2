// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/law_draft.hpp"
#include "reference/verify_reference.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tokkos::test {

/// Verifies every tree of a case and draws the bonus tokens.
using TreeVerifier = std::function<LosslessOutcome(const VerifyCase&)>;

/// The kernel under test, on Serial.
/// @throws std::runtime_error if a team a tree and sums that all teams share differ
LosslessOutcome verify_by_kernel(const VerifyCase& verify_case);

/// The same in a vocabulary of three chunks: the case's tokens (at most 5) keep their order and lie
/// at the chunks' ends, all others have probability 0.
LosslessOutcome verify_in_chunks(const VerifyCase& verify_case);

/// The same by DraftVerifier, which uploads the trees, or of chains their lengths alone.
/// @throws std::runtime_error if it emits tokens that are not those of the accepted nodes
LosslessOutcome verify_by_engine(const VerifyCase& verify_case);

/// The same of a verifier that is told how many tokens there are: the target's rows are NaN behind.
LosslessOutcome verify_padded(VerifyCase verify_case, int active);

inline constexpr std::int64_t uniform_count = std::int64_t{1} << 24;

/// The k-th uniform.
inline float uniform_of(std::int64_t k) {
  return static_cast<float>(k) * 0x1p-24f;
}

/// Where a tree's walk ended.
struct TreeEnd {
  int node;            ///< of the draft's tree; -1 if it is none of them
  std::int32_t bonus;  ///< token or -1
};

/// Drafts as the trees of one call.
class TreeBatch {
 public:
  explicit TreeBatch(const LawProblem& problem);

  /// Adds a tree; until set_uniform every node's uniform is the largest and the bonus token's is 0.
  int add(const LawDraft& draft);
  int size() const { return m_case.batch(); }

  void set_uniform(int tree, int node, std::int64_t k) {
    m_case.uniforms[m_first_node[tree] + node] = uniform_of(k);
  }
  void set_bonus_uniform(int tree, std::int64_t k) { m_case.bonus_uniforms[tree] = uniform_of(k); }

  std::vector<TreeEnd> verify(const TreeVerifier& verifier) const;

 private:
  bool m_stores_rows, m_shares_rows;
  VerifyCase m_case;
  std::vector<int> m_first_node;
};

}  // namespace tokkos::test
