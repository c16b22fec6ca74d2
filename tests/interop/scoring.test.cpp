// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What C reads of rows of logits has the bits of the kernels of C++, and is what arithmetic says.
#include <tokkos/tokkos.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends.hpp"
#include "interop/last_complaint.hpp"
#include "interop/score_memory.hpp"
#include "reference/log_probability_reference.hpp"
#include "reference/softmax_reference.hpp"
#include "reference/truncation_reference.hpp"

namespace tokkos::test {
namespace {

/// What arithmetic says about one row.
class ExpectedRow {
 public:
  ExpectedRow(const ReferenceRow& row, const ReferenceLimits& limits)
      : m_kept(SortedRow(row).cut(limits).count),
        m_softmax(reference_softmax(row)),
        m_logarithms(reference_log_probabilities(row, m_kept)),
        m_order(ordered_tokens(row)),
        m_temperature(row.temperature),
        m_shares(row.logits.size()) {
    if (m_kept >= 0) m_order.resize(static_cast<std::size_t>(m_kept));
    double sum = 0.0;
    for (const std::int64_t v : m_order) sum += probability(v);
    for (const std::int64_t v : m_order) {
      m_shares[static_cast<std::size_t>(v)] = probability(v) / sum;
    }
  }

  bool is_logprob(std::int64_t token, float value) const {
    return is_close(m_logarithms, token, value);
  }
  bool is_log_sum_exp(float value) const {
    return std::fabs(static_cast<double>(value) - m_softmax.log_sum_exp) <=
           m_softmax.log_sum_exp_bound(m_temperature);
  }
  /// The token that stands at a place of the order; -1: none.
  std::int64_t token_at(std::size_t place) const {
    return place < m_order.size() ? m_order[place] : -1;
  }
  /// The first token whose sum of shares exceeds u; -1 where u is too near to the end of one.
  std::int64_t drawn(float u) const {
    constexpr double margin = 1e-5;  // many times the error of a share
    double sum = 0.0;
    for (std::size_t v = 0; v < m_shares.size(); ++v) {
      sum += m_shares[v];
      if (m_shares[v] > 0.0 && std::fabs(sum - u) < margin && sum < 1.0 - 1e-12) return -1;
      if (sum > static_cast<double>(u)) return static_cast<std::int64_t>(v);
    }
    return -1;
  }
  std::int64_t lowest_maximum() const { return m_softmax.argmax; }

 private:
  double probability(std::int64_t token) const {
    return m_softmax.probabilities[static_cast<std::size_t>(token)];
  }

  std::int64_t m_kept;
  ReferenceSoftmax m_softmax;
  ReferenceLogProbabilities m_logarithms;
  std::vector<std::int64_t> m_order;
  float m_temperature;
  std::vector<double> m_shares;
};

/// Number of results of a row that are not what arithmetic says.
int mistakes(const ExpectedRow& expected, const ScoreInputs& inputs, const Scored& found,
             std::size_t row) {
  const std::size_t k = inputs.given.size() / inputs.rows();
  int wrong = expected.is_log_sum_exp(found.log_sum_exp[row]) ? 0 : 1;
  for (std::size_t i = row * k; i < (row + 1) * k; ++i) {
    wrong += expected.is_logprob(inputs.given[i], found.logprobs[i]) ? 0 : 1;
  }
  for (std::size_t i = 0; i < Scored::listed; ++i) {
    const std::size_t place = row * Scored::listed + i;
    const std::int64_t token = expected.token_at(i);
    const float value = found.top_logprobs[place];
    const bool is_right = token < 0 ? value == -std::numeric_limits<float>::infinity()
                                    : expected.is_logprob(token, value);
    wrong += found.top_tokens[place] == token && is_right ? 0 : 1;
  }
  return wrong + (found.status[row] == 0 ? 0 : 1);
}

/// Number of draws of a row that are not what arithmetic says; adds to `told` how many it tells.
int wrong_draws(const ExpectedRow& expected, const ScoreInputs& inputs, const Scored& found,
                std::size_t row, std::size_t& told) {
  const std::size_t d = inputs.uniforms.size() / inputs.rows();
  int wrong = 0;
  for (std::size_t i = row * d; i < (row + 1) * d; ++i) {
    const std::int64_t token = expected.drawn(inputs.uniforms[i]);
    if (token < 0) continue;
    ++told;
    wrong += found.tokens[i] == token ? 0 : 1;
  }
  return wrong;
}

/// Every token of every row.
std::vector<std::int32_t> every_token(std::size_t rows, std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::int32_t v = 0; v < vocabulary; ++v) tokens.push_back(v);
  }
  return tokens;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a score of C has the bits of the kernels of C++, of every type",
                        "[interop]", Backends) {
  const bool masked = GENERATE(false, true);
  const bool truncated = GENERATE(false, true);
  const Context context = context_on<typename TestType::execution_space>();
  for (const auto& order : {row_orders[0], row_orders[2], std::vector<std::int32_t>{}}) {
    for (const std::size_t columns : {1, 4}) {
      auto inputs =
          score_inputs<typename TestType::logit>(4500, masked, order, columns, columns + 2);
      if (columns == 1) {
        inputs.as_vectors = true;
        inputs.uniforms.resize(inputs.rows());
      }
      if (truncated) inputs.limits = limits_of_rows(inputs.rows());
      if (order.empty()) inputs.batch.mask_index.clear();  // row i has mask i
      CAPTURE(masked, truncated, order, columns);
      const Bits expected = ScoreMemory<TestType>(inputs).by_kernels().bits();
      const Scorer scorer = scorer_for(context, inputs);
      for (int i = 0; i < 2; ++i) {  // a scorer is used again
        CHECK((ScoreMemory<TestType>(inputs).by_c(context, scorer).bits() == expected));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("each limit of a score truncates alone", "[interop]", Backends) {
  const int only = GENERATE(0, 1, 2);
  auto inputs = score_inputs<typename TestType::logit>(700, false);
  const Bits whole = scored<TestType>(inputs).bits();
  inputs.limits.assign(inputs.rows(), {3, 0.5f, 0.6f});
  inputs.no_top_k = only != 0;
  inputs.no_top_p = only != 1;
  inputs.no_min_p = only != 2;
  const Bits truncated = scored<TestType>(inputs).bits();
  CHECK((truncated == ScoreMemory<TestType>(inputs).by_kernels().bits()));
  CHECK((truncated != whole));
}

TEMPLATE_LIST_TEST_CASE("a score without temperature is one at temperature 1", "[interop]",
                        Backends) {
  auto inputs = score_inputs<typename TestType::logit>(300, true, row_orders[2]);
  inputs.batch.temperature = {1.0f};
  const Bits expected = ScoreMemory<TestType>(inputs).by_kernels().bits();
  CHECK((scored<TestType>(inputs).bits() == expected));
  inputs.no_temperature = true;
  CHECK((scored<TestType>(inputs).bits() == expected));
}

TEMPLATE_LIST_TEST_CASE("what a score says is what arithmetic says", "[interop]", Backends) {
  for (const std::int64_t vocabulary : {33, 700}) {
    for (const bool masked : {false, true}) {
      for (const bool truncated : {false, true}) {
        for (const auto& order : {row_orders[2], std::vector<std::int32_t>{}}) {
          auto inputs = score_inputs<typename TestType::logit>(vocabulary, masked, order, 1, 64);
          inputs.given = every_token(inputs.rows(), vocabulary);
          inputs.batch.temperature[1] = 0.0f;
          if (truncated) inputs.limits = limits_of_rows(inputs.rows());
          const Scored found = scored<TestType>(inputs);
          std::size_t told = 0;
          for (std::size_t i = 0; i < inputs.rows(); ++i) {
            const ExpectedRow expected(inputs.batch.reference_row(static_cast<std::int64_t>(i)),
                                       truncated ? inputs.limits[i] : ReferenceLimits{});
            CAPTURE(vocabulary, masked, truncated, order, i);
            CHECK(mistakes(expected, inputs, found, i) == 0);
            CHECK(wrong_draws(expected, inputs, found, i, told) == 0);
          }
          CHECK(told > inputs.uniforms.size() * 9 / 10);
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("greedy ties of a score go to the lowest id where that is asked for",
                        "[interop]", Backends) {
  auto inputs = score_inputs<typename TestType::logit>(700, true, {}, 1, 8);
  inputs.batch.temperature = {0.0f};
  for (float& value : inputs.batch.logits) value = std::round(value / 4) * 4;
  inputs.ties = GreedyTies::lowest_id;
  const Scored found = scored<TestType>(inputs);
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    const ReferenceRow row = inputs.batch.reference_row(static_cast<std::int64_t>(i / 8));
    CHECK(found.tokens[i] == ExpectedRow(row, {}).lowest_maximum());
  }
  inputs.ties = GreedyTies::uniform;
  CHECK((scored<TestType>(inputs).tokens != found.tokens));
}

TEMPLATE_LIST_TEST_CASE("a score that asks for nothing measures the rows", "[interop]",
                        ExecutionSpaces) {
  using Float = Backend<TestType, float>;
  using Memory = typename Float::memory_space;
  RowBatch batch;
  batch.vocabulary = 3;
  batch.logits = {0, 0, 0, 0, std::numeric_limits<float>::quiet_NaN(), 0, 1, 2, 3};
  const DeviceRows<Float> device(batch);
  Guarded<std::int32_t, Memory> status(3);
  const Context context = context_on<TestType>();
  const Scorer scorer = scorer_on(context, limits_of(3, 3));
  const tokkos_array logits = array_of(device.rows.logits), words = array_of(status.vector());
  tokkos_score score = tokkos_score_default();
  check_ok(tokkos_scorer_score(scorer.get(), &logits, &score));
  score.row_status = &words;
  check_ok(tokkos_scorer_score(scorer.get(), &logits, &score));
  check_ok(tokkos_context_fence(context.get()));
  CHECK(status.values() == std::vector<std::int32_t>{0, TOKKOS_ROW_NAN_LOGIT, 0});
}

TEST_CASE("a score of no rows does nothing", "[interop]") {
  const Context context = context_on<Kokkos::DefaultHostExecutionSpace>();
  const Scorer scorer = scorer_on(context, limits_of(4, 100));
  tokkos_score score = tokkos_score_default();
  const tokkos_array none = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 0, 100, 0);
  const tokkos_array no_length = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 0, 0, 0);
  const tokkos_array ids = tokkos_vector(nullptr, TOKKOS_INT32, 0);
  const tokkos_array floats = tokkos_vector(nullptr, TOKKOS_FLOAT32, 0);
  const tokkos_array lists = tokkos_matrix(nullptr, TOKKOS_INT32, 0, 5, 0);
  const tokkos_array values = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 0, 5, 0);
  const auto works = [&] {
    check_ok(tokkos_scorer_score(scorer.get(), &none, &score));
    check_ok(tokkos_scorer_score(scorer.get(), &no_length, &score));
  };
  works();
  score.temperature = score.top_p = score.min_p = score.given_logprobs = score.uniforms = &floats;
  score.log_sum_exp = &floats;
  score.top_k = score.given_tokens = score.tokens = score.row_status = &ids;
  score.top_tokens = score.bitmask = &lists;
  score.bitmask_row_index = &ids;
  score.top_logprobs = &values;
  works();
  score.row_index = &ids;  // of logits that have rows
  works();
  std::array<float, 2> two{1.0f, 1.0f};
  const tokkos_array temperature = tokkos_vector(two.data(), TOKKOS_FLOAT32, 2);
  score.temperature = &temperature;
  CHECK(complaint_of(tokkos_scorer_score(scorer.get(), &none, &score)).field ==
        "temperature.shape");
  score.temperature = &floats;
  std::vector<float> memory(200);
  const tokkos_array logits = tokkos_matrix(memory.data(), TOKKOS_FLOAT32, 2, 100, 0);
  check_ok(tokkos_scorer_score(scorer.get(), &logits, &score));
  score.row_index = nullptr;
  CHECK(complaint_of(tokkos_scorer_score(scorer.get(), &logits, &score)).index == 0);

  const Scorer of_none = scorer_on(context, limits_of(0, 100));
  score.row_index = &ids;
  check_ok(tokkos_scorer_score(of_none.get(), &logits, &score));
}

}  // namespace tokkos::test
