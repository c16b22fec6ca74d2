// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "kernels/row_batch.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

std::vector<std::string> fences;

void record_fence(const char* name, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  const std::string label = name;
  // Kokkos fences before it tells a tool about a launch.
  if (label.rfind("Kokkos::Tools::", 0) != 0) fences.push_back(label);
}

/// Arguments of every kernel of edits, softmax and draws for `count` rows of 5000 logits.
template <class Space>
class AllKernels {
 public:
  using Backend = tokkos::test::Backend<Space, float>;
  using Memory = typename Space::memory_space;

  explicit AllKernels(std::int64_t count)
      : m_batch{5000, std::vector<float>(count * 5000, 1.0f), {1.0f}, {}, {}, 0, {}, 0},
        m_device(m_batch),
        m_ids("ids", count),
        m_tokens("tokens", count),
        m_counts("counts", count),
        m_values("values", count),
        m_results("results", count),
        m_penalties("penalties", count, 3),
        m_words("words", count, 157),
        m_chunks("chunks", count, 2),
        m_maxima("maxima", count, 2),
        m_several("several", count, 2),
        m_cuts(count) {
    const auto ids = Kokkos::create_mirror_view(m_ids);
    for (std::int64_t i = 0; i < count; ++i) ids(i) = static_cast<std::int32_t>(i);
    Kokkos::deep_copy(m_ids, ids);
    Kokkos::deep_copy(m_counts, 1);
    Kokkos::deep_copy(m_penalties, 1.0f);
    Kokkos::deep_copy(m_words, -1);
    Kokkos::fence("tokkos::test::made");
  }

  void run() const {
    const auto logits = m_device.block().logits();
    const auto& rows = m_device.rows;
    const auto& measures = m_device.measures;
    const auto& out = m_device.probabilities;
    tokkos::apply_logit_bias_inplace(m_space, logits, m_ids, m_ids, m_values);
    tokkos::apply_penalty_inplace(m_space, logits, m_ids, m_ids, m_ids, m_counts, m_penalties);
    tokkos::apply_bitmask_inplace(m_space, logits, m_ids, m_words);
    tokkos::measure(m_space, rows, measures, m_device.status);
    tokkos::draw(m_space, rows, measures, m_values, m_tokens, m_device.status);
    tokkos::argmax(m_space, rows, measures, m_tokens);
    tokkos::log_sum_exp(m_space, rows, measures, m_results);
    tokkos::normalize(m_space, rows, measures, out);
    const auto cuts = m_cuts.cuts(m_batch.rows());
    tokkos::Truncation<Memory> truncation;
    truncation.top_k = m_counts;
    tokkos::truncate(m_space, rows, measures, truncation, cuts, m_device.status);
    tokkos::draw_tokens(m_space, rows, measures, m_chunks, m_several, cuts, m_device.status);
    tokkos::log_probabilities(m_space, rows, measures, m_tokens, m_results, cuts);
    tokkos::top_log_probabilities(m_space, rows, measures, m_several, m_chunks, cuts, m_counts);
    const tokkos::LogitBiasEdits<Memory> biases{m_ids, m_ids, m_values};
    tokkos::save_edited_logits(m_space, rows.logits, biases, {}, m_results);
    tokkos::raw_log_probabilities(m_space, rows, measures, biases, {}, m_values, m_tokens,
                                  m_results);
    tokkos::normalize_truncated(m_space, rows, measures, cuts, out);
    tokkos::softmax(m_space, rows, measures, out, m_device.status);
    tokkos::chunk_lse(m_space, rows, m_chunks, m_maxima, m_device.status);
    tokkos::softmax_with_chunked_sum(m_space, rows, m_chunks, m_maxima, out, m_device.status);
    const tokkos::Matrix<const float, Memory> probabilities = out;
    tokkos::sample_from_probabilities(m_space, probabilities, m_values, m_tokens, m_device.status);
    tokkos::softmax(m_space, rows, measures, logits, m_device.status);  // in place
  }

 private:
  Space m_space;
  RowBatch m_batch;
  DeviceRows<Backend> m_device;
  Kokkos::View<std::int32_t*, Memory> m_ids;
  Kokkos::View<std::int32_t*, Memory> m_tokens;
  Kokkos::View<std::int32_t*, Memory> m_counts;
  Kokkos::View<float*, Memory> m_values;
  Kokkos::View<float*, Memory> m_results;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_penalties;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> m_words;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_chunks;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_maxima;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> m_several;
  tokkos::CutsWorkspace<Memory> m_cuts;
};

/// Whether a label is "tokkos::operation::step".
bool is_label(const std::string& label) {
  if (label.rfind("tokkos::", 0) != 0) return false;
  const auto step = label.find("::", 8);
  return step != std::string::npos && step > 8 && step + 2 < label.size();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("kernels allocate nothing, fence nothing and label every launch", "",
                        ExecutionSpaces) {
  for (const std::int64_t count : {1, 40}) {
    const AllKernels<TestType> kernels(count);
    kernels.run();  // Kokkos makes its own scratch at the first launch
    Kokkos::fence("tokkos::test::warm");
    const KokkosEvents events;
    fences.clear();
    Kokkos::Tools::Experimental::set_begin_fence_callback(record_fence);
    kernels.run();
    CHECK(fences == std::vector<std::string>{});
    CHECK(events.allocations().empty());
    CHECK(events.launches().size() >= 21);
    for (const auto& label : events.launches()) {
      CAPTURE(label);
      CHECK(is_label(label));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("no rows and no entries launch nothing", "", ExecutionSpaces) {
  const AllKernels<TestType> kernels(0);
  const KokkosEvents events;
  kernels.run();
  CHECK(events.launches().empty());
}
