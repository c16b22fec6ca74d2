// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/softmax_reference.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// One row's truncation, all off.
struct ReferenceLimits {
  std::int32_t top_k = 0;
  float top_p = 1.0f;
  float min_p = 0.0f;
};

/// The first tokens of a row in the order of its logits.
struct ReferenceCut {
  std::int64_t count = 0;  ///< -1: not truncated
  std::int64_t token = -1;
  float logit = 0.0f;     ///< of the last one
  std::int64_t mass = 0;  ///< sum of RNE(q 2^44)
};

/// exp(z) for z <= 0 as the contract's exponential is documented: z = n ln 2 + r in two terms, a
/// polynomial of degree 6 in r, 0 below FLT_MIN. The masses are defined by its bits.
float reference_exp(float z);

/// A row sorted once, to be cut by any limits.
class SortedRow {
 public:
  explicit SortedRow(const ReferenceRow& row);

  ReferenceCut cut(const ReferenceLimits& limits) const;

  /// Number of allowed tokens.
  std::int64_t size() const { return static_cast<std::int64_t>(m_tokens.size()); }
  /// Allowed tokens, the first in order first.
  const std::vector<std::int64_t>& tokens() const { return m_tokens; }
  /// Their masses, in that order.
  const std::vector<std::int64_t>& masses() const { return m_masses; }

 private:
  std::int64_t m_active;
  bool m_greedy;
  std::vector<std::int64_t> m_tokens;
  std::vector<float> m_logits;
  std::vector<float> m_shares;
  std::vector<std::int64_t> m_masses;
};

}  // namespace tokkos::test
