// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"
#include "reference/truncation_reference.hpp"

#include <catch2/catch_message.hpp>

#include <cfloat>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Rows' limits in device memory.
template <class Backend>
class DeviceLimits {
 public:
  using Memory = typename Backend::memory_space;

  /// One for each row, one for all rows, or none.
  explicit DeviceLimits(const std::vector<ReferenceLimits>& limits) {
    std::vector<std::int32_t> top_k;
    std::vector<float> top_p, min_p;
    for (const auto& row : limits) {
      top_k.push_back(row.top_k);
      top_p.push_back(row.top_p);
      min_p.push_back(row.min_p);
    }
    m_top_k = on_device<Memory>(top_k);
    m_top_p = on_device<Memory>(top_p);
    m_min_p = on_device<Memory>(min_p);
  }

  Truncation<Memory> truncation() const { return {m_top_k, m_top_p, m_min_p}; }

 private:
  Kokkos::View<std::int32_t*, Memory> m_top_k;
  Kokkos::View<float*, Memory> m_top_p, m_min_p;
};

/// What `truncate` says about a batch.
struct FoundCuts {
  std::vector<float> logit;
  std::vector<std::int32_t> token;
  std::vector<std::int64_t> mass;
  std::vector<std::int32_t> count;
  std::vector<std::int32_t> status;
  std::vector<float> row_maximum;
  std::vector<std::int64_t> row_mass;
};

/// The cuts of a batch, measured and truncated; limits as for DeviceLimits.
template <class Backend>
FoundCuts cuts_of(const RowBatch& batch, const std::vector<ReferenceLimits>& limits,
                  const typename Backend::execution_space& space = {}) {
  using Memory = typename Backend::memory_space;
  const DeviceRows<Backend> device(batch);
  const DeviceLimits<Backend> given(limits);
  const CutsWorkspace<Memory> workspace(batch.rows() + 2);
  const auto cuts = workspace.cuts(batch.rows());
  measure(space, device.rows, device.measures, device.status);
  Kokkos::deep_copy(device.status, 0);
  truncate(space, device.rows, device.measures, given.truncation(), cuts, device.status);
  space.fence("tokkos::test::cuts_of");
  return {on_host(cuts.logit),
          on_host(cuts.token),
          on_host(cuts.mass),
          on_host(cuts.count),
          on_host(device.status),
          on_host(device.measures.row_maximum),
          on_host(device.measures.row_mass)};
}

/// Each of top-k, top-p and min-p alone, and together.
inline std::vector<ReferenceLimits> all_limits(std::int64_t active) {
  const auto a = static_cast<std::int32_t>(active);
  std::vector<ReferenceLimits> limits{{}};
  for (const std::int32_t k : {1, 40, 1000, 5000, a - 1, a, a + 1}) limits.push_back({.top_k = k});
  for (const float p : {FLT_TRUE_MIN, 1e-6f, 0.1f, 0.5f, 0.9f, 0.99f, 0x1.fffffep-1f}) {
    limits.push_back({.top_p = p});
  }
  for (const float m : {FLT_TRUE_MIN, 1e-20f, 1e-3f, 0.3f, 1.0f}) limits.push_back({.min_p = m});
  for (const std::int32_t k : {2, 40, 6000}) {
    for (const float p : {0.1f, 0.95f, 1.0f}) {
      for (const float m : {0.0f, 0.02f, 0.6f}) limits.push_back({k, p, m});
    }
  }
  for (const float m : {1e-6f, 0.02f, 0.6f}) limits.push_back({0, 0.9f, m});
  return limits;
}

/// Row 0 of a batch once for every element of `limits`.
inline RowBatch repeated(RowBatch batch, const std::vector<ReferenceLimits>& limits) {
  batch.row_index.assign(limits.size(), 0);
  if (!batch.bitmask.empty()) batch.mask_index.assign(limits.size(), 0);
  return batch;
}

/// Number of limits by which row 0 of a batch is not cut as the reference cuts it.
template <class Backend>
int wrong_cuts(const RowBatch& batch, const std::vector<ReferenceLimits>& limits) {
  const auto found = cuts_of<Backend>(repeated(batch, limits), limits);
  const SortedRow sorted(repeated(batch, limits).reference_row(0));
  int wrong = 0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const ReferenceCut expected = sorted.cut(limits[i]);
    bool is_same = found.count[i] == expected.count && found.status[i] == 0;
    if (expected.count >= 0) {
      is_same &= found.token[i] == expected.token && found.logit[i] == expected.logit &&
                 found.mass[i] == expected.mass;
    }
    wrong += is_same ? 0 : 1;
    if (!is_same) {
      UNSCOPED_INFO("top_k " << limits[i].top_k << " top_p " << limits[i].top_p << " min_p "
                             << limits[i].min_p << ": " << found.count[i] << " tokens to "
                             << found.token[i] << " of mass " << found.mass[i] << ", expected "
                             << expected.count << " to " << expected.token << " of mass "
                             << expected.mass);
    }
  }
  return wrong;
}

template <class Logit>
RowBatch row_to_truncate(std::int64_t vocabulary, float temperature, bool masked = false) {
  RandomValues random(static_cast<std::uint64_t>(vocabulary) + 70);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.temperature = {temperature};
  batch.logits = stored_values<Logit>(random.logits(vocabulary));
  if (masked) {
    batch.words = (vocabulary + 31) / 32;
    batch.bitmask = random.words(batch.words, 3);
    batch.bitmask[0] |= 1;
    batch.active = (vocabulary + 1) / 2;
  }
  return batch;
}

}  // namespace tokkos::test
