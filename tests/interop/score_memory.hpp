// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/result_bits.hpp"
#include "interop/c_objects.hpp"
#include "kernels/guarded.hpp"
#include "kernels/kept_rows.hpp"
#include "kernels/row_limits.hpp"

namespace tokkos::test {

/// What a score reads.
struct ScoreInputs {
  RowBatch batch;
  std::vector<ReferenceLimits> limits;                        ///< [n]; empty: nothing truncates
  bool no_top_k = false, no_top_p = false, no_min_p = false;  ///< not given of the limits
  std::vector<std::int32_t> given;                            ///< [n, k]
  std::vector<float> uniforms;                                ///< [n, d]
  GreedyTies ties = GreedyTies::uniform;
  bool as_vectors = false;  ///< k and d are 1, and the arrays of C have one dimension
  bool no_temperature = false;

  std::size_t rows() const { return static_cast<std::size_t>(batch.rows()); }
  std::int64_t active() const { return batch.active == 0 ? batch.vocabulary : batch.active; }
};

/// What it writes.
struct Scored {
  static constexpr std::size_t listed = 5;
  std::vector<float> logprobs, top_logprobs, log_sum_exp;
  std::vector<std::int32_t> tokens, top_tokens, status;

  Bits bits() const {
    Bits all;
    for (auto* values : {&logprobs, &top_logprobs, &log_sum_exp}) append(all, *values);
    for (auto* values : {&tokens, &top_tokens, &status}) append(all, *values);
    return all;
  }
};

/// A score of C and the arrays that it points to.
class ScoreOfC {
 public:
  const tokkos_array* written(const tokkos_array& array) { return &m_arrays.emplace_back(array); }
  const tokkos_array* read(tokkos_array array) {
    array.flags = TOKKOS_ARRAY_READ_ONLY;
    return array.data == nullptr ? nullptr : written(array);
  }
  tokkos_score score = tokkos_score_default();

 private:
  std::deque<tokkos_array> m_arrays;
};

/// Inputs in device memory, every array padded, and memory for the results.
template <class Backend>
class ScoreMemory {
 public:
  using Space = typename Backend::execution_space;
  using Memory = typename Backend::memory_space;

  explicit ScoreMemory(const ScoreInputs& inputs)
      : m_inputs(inputs),
        m_rows(inputs.batch),
        m_limits(inputs.limits),
        m_given(inputs.rows(), inputs.given.size() / inputs.rows(), 3, inputs.given),
        m_uniforms(inputs.rows(), inputs.uniforms.size() / inputs.rows(), 1, inputs.uniforms),
        m_logprobs(inputs.rows(), inputs.given.size() / inputs.rows(), 2, {}),
        m_tokens(inputs.rows(), inputs.uniforms.size() / inputs.rows(), 4, {}),
        m_top_tokens(inputs.rows(), Scored::listed, 0, {}),
        m_top_logprobs(inputs.rows(), Scored::listed, 2, {}),
        m_log_sum_exp(inputs.rows()),
        m_status(inputs.rows()) {}

  /// The kernels of C++, one by one.
  Scored by_kernels() {
    const Space space;
    const auto& rows = m_rows.rows;
    const auto& measures = m_rows.measures;
    const auto status = m_status.vector();
    const CutsWorkspace<Memory> workspace(m_inputs.batch.rows());
    RowCuts<Memory> cuts;
    measure(space, rows, measures, status);
    if (!m_inputs.limits.empty()) {
      cuts = workspace.cuts(m_inputs.batch.rows());
      truncate(space, rows, measures, truncation(), cuts, status);
    }
    log_probabilities(space, rows, measures, Matrix<const TokenId, Memory>(m_given.matrix()),
                      m_logprobs.matrix(), cuts, status);
    top_log_probabilities(space, rows, measures, m_top_tokens.matrix(), m_top_logprobs.matrix(),
                          cuts);
    log_sum_exp(space, rows, measures, m_log_sum_exp.vector());
    draw_tokens(space, rows, measures, Matrix<const float, Memory>(m_uniforms.matrix()),
                m_tokens.matrix(), cuts, status, m_inputs.ties);
    space.fence("tokkos::test::score");
    return results();
  }

  /// Gives every row a status word.
  void set_status(std::int32_t word) { Kokkos::deep_copy(m_status.vector(), word); }

  /// One call of C.
  Scored by_c(const Context& context, const Scorer& scorer) {
    const ScoreOfC made = score_of_c();
    const auto before = m_rows.block().patterns();
    tokkos_array logits = array_of(m_rows.rows.logits);
    logits.flags = TOKKOS_ARRAY_READ_ONLY;
    check_ok(tokkos_scorer_score(scorer.get(), &logits, &made.score));
    check_ok(tokkos_context_fence(context.get()));
    CHECK((m_rows.block().patterns() == before));
    CHECK(m_rows.block().padding_is_untouched());
    return results();
  }

  Scored results() {
    Scored found{m_logprobs.values(), m_top_logprobs.values(), m_log_sum_exp.values(),
                 m_tokens.values(),   m_top_tokens.values(),   m_status.values()};
    CHECK((m_logprobs.guards_intact() && m_top_logprobs.guards_intact()));
    CHECK((m_log_sum_exp.guards_intact() && m_status.guards_intact()));
    CHECK((m_tokens.guards_intact() && m_top_tokens.guards_intact()));
    return found;
  }

 private:
  Truncation<Memory> truncation() const {
    Truncation<Memory> limits = m_limits.truncation();
    if (m_inputs.no_top_k) limits.top_k = {};
    if (m_inputs.no_top_p) limits.top_p = {};
    if (m_inputs.no_min_p) limits.min_p = {};
    return limits;
  }

  /// A matrix, or its first column.
  template <class T>
  tokkos_array several(const Guarded<T, Memory>& of) const {
    tokkos_array array = array_of(of.matrix());
    if (!m_inputs.as_vectors) return array;
    REQUIRE(array.shape[1] == 1);
    const std::int64_t stride = array.strides[0];
    array = array_of(of.vector());
    array.strides[0] = stride;
    return array;
  }

  ScoreOfC score_of_c() const {
    ScoreOfC made;
    tokkos_score& score = made.score;
    const Truncation<Memory> limits = truncation();
    score.row_index = made.read(array_of(m_rows.rows.row_index));
    score.temperature = made.read(array_of(m_rows.rows.temperature));
    if (m_inputs.no_temperature) score.temperature = nullptr;
    score.top_k = made.read(array_of(limits.top_k));
    score.top_p = made.read(array_of(limits.top_p));
    score.min_p = made.read(array_of(limits.min_p));
    score.bitmask = made.read(array_of(m_rows.rows.bitmask.words));
    score.bitmask_row_index = made.read(array_of(m_rows.rows.bitmask.row_index));
    score.given_tokens = made.read(several(m_given));
    score.given_logprobs = made.written(several(m_logprobs));
    score.uniforms = made.read(several(m_uniforms));
    score.tokens = made.written(several(m_tokens));
    score.top_tokens = made.written(array_of(m_top_tokens.matrix()));
    score.top_logprobs = made.written(array_of(m_top_logprobs.matrix()));
    score.log_sum_exp = made.written(array_of(m_log_sum_exp.vector()));
    score.row_status = made.written(array_of(m_status.vector()));
    score.ties = m_inputs.ties == GreedyTies::uniform ? TOKKOS_TIES_UNIFORM : TOKKOS_TIES_LOWEST_ID;
    return made;
  }

  ScoreInputs m_inputs;
  DeviceRows<Backend> m_rows;
  DeviceLimits<Backend> m_limits;
  Guarded<std::int32_t, Memory> m_given;
  Guarded<float, Memory> m_uniforms;
  Guarded<float, Memory> m_logprobs;
  Guarded<std::int32_t, Memory> m_tokens;
  Guarded<std::int32_t, Memory> m_top_tokens;
  Guarded<float, Memory> m_top_logprobs;
  Guarded<float, Memory> m_log_sum_exp;
  Guarded<std::int32_t, Memory> m_status;
};

/// A scorer for exactly these inputs.
inline Scorer scorer_for(const Context& context, const ScoreInputs& inputs) {
  const RowBatch& batch = inputs.batch;
  return scorer_on(context, limits_of(batch.rows(), batch.vocabulary, batch.active));
}

/// One call of C, with objects of its own.
template <class Backend>
Scored scored(const ScoreInputs& inputs) {
  const Context context = context_on<typename Backend::execution_space>();
  return ScoreMemory<Backend>(inputs).by_c(context, scorer_for(context, inputs));
}

/// Rows of every kind, with k given tokens and d uniforms each.
/// @param order rows of the five that are listed; empty: all, without row_index
template <LogitType Logit>
ScoreInputs score_inputs(std::int64_t vocabulary, bool masked,
                         const std::vector<std::int32_t>& order = {}, std::size_t k = 3,
                         std::size_t d = 2) {
  ScoreInputs inputs;
  inputs.batch = rows_to_truncate<Logit>(vocabulary, masked);
  if (!order.empty()) inputs.batch = rows_listed(inputs.batch, order);
  RandomValues random(static_cast<std::uint64_t>(vocabulary) + order.size());
  for (std::size_t i = 0; i < inputs.rows() * k; ++i) {
    inputs.given.push_back(static_cast<std::int32_t>(random.below(vocabulary + 1)) - 1);
  }
  inputs.uniforms = random.uniforms(static_cast<std::int64_t>(inputs.rows() * d));
  return inputs;
}

/// A limit of another kind for each row.
inline std::vector<ReferenceLimits> limits_of_rows(std::size_t rows) {
  const std::vector<ReferenceLimits> kinds{
      {.top_k = 40}, {.top_p = 0.9f}, {.min_p = 0.02f}, {5, 0.5f, 0.0f}, {}};
  std::vector<ReferenceLimits> limits;
  for (std::size_t i = 0; i < rows; ++i) limits.push_back(kinds[i % kinds.size()]);
  return limits;
}

}  // namespace tokkos::test
