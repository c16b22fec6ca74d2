// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/host_rules.hpp"

#include <tokkos/kernels/batch_spec_verify.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "law/plain_views.hpp"

namespace tokkos::test {

namespace {

/// The first token whose share of the sum, with all before it, exceeds u.
std::int32_t draw(std::span<const double> row, double u) {
  double sum = 0;
  for (const double p : row) sum += p;
  double prefix = 0;
  for (std::size_t v = 0; v < row.size(); ++v) {
    prefix += row[v];
    if (prefix > u * sum) return static_cast<std::int32_t>(v);
  }
  return -1;
}

}  // namespace

LosslessOutcome verify_with_epsilon(const VerifyCase& c, double epsilon) {
  LosslessOutcome outcome;
  for (int tree = 0; tree < c.batch(); ++tree) {
    int parent = c.roots[tree];
    std::int32_t accepted = 0;
    std::vector<double> p(c.model_row(parent).begin(), c.model_row(parent).end());
    for (int child = c.first_child[parent]; child != -1;) {
      const auto q = c.draft_row(child);
      const std::int32_t token = c.draft_tokens[child];
      const double u = c.uniforms[child];
      if (p[token] > 0 && u * (q[token] + epsilon) < p[token]) {
        parent = child;
        ++accepted;
        p.assign(c.model_row(parent).begin(), c.model_row(parent).end());
        child = c.first_child[parent];
        continue;
      }
      std::vector<double> left(p.size());
      double sum = 0;
      for (std::size_t v = 0; v < p.size(); ++v) {
        left[v] = std::max(p[v] - static_cast<double>(q[v]), 0.0);
        sum += left[v];
      }
      for (std::size_t v = 0; v < p.size() && sum >= 1e-7; ++v) p[v] = left[v] / sum;
      child = c.next_sibling[child];
    }
    outcome.last_accepted.push_back(parent);
    outcome.accepted.push_back(accepted);
    outcome.bonus_tokens.push_back(draw(p, c.bonus_uniforms[tree]));
    outcome.status.push_back(0);
  }
  return outcome;
}

LosslessOutcome verify_by_seed_kernel(const VerifyCase& verify_case) {
  VerifyCase c = verify_case;
  LosslessOutcome outcome{c.roots,
                          std::vector<std::int32_t>(c.roots.size(), 0),
                          {},
                          std::vector<std::int32_t>(c.roots.size(), 0)};
  const Kokkos::Serial space;
  batch_spec_verify(
      space, matrix_on<const float>(c.draft_probs, c.width()),
      vector_on<const std::int32_t>(c.draft_tokens), matrix_on<float>(c.model_probs, c.width()),
      vector_on<const std::int32_t>(c.first_child), vector_on<const std::int32_t>(c.next_sibling),
      vector_on<const float>(c.uniforms), vector_on<std::int32_t>(outcome.last_accepted),
      vector_on<std::int32_t>(outcome.status));
  space.fence("tokkos::test::verified");
  for (int tree = 0; tree < c.batch(); ++tree) {
    const auto row = c.model_row(outcome.last_accepted[tree]);
    const std::vector<double> left(row.begin(), row.end());
    outcome.bonus_tokens.push_back(draw(left, c.bonus_uniforms[tree]));
  }
  return outcome;
}

}  // namespace tokkos::test
