// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What only the data of a score shows: the row's word has a bit, other rows are what they were.
#include <tokkos/tokkos.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends.hpp"
#include "interop/score_memory.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 300;
constexpr std::size_t rows = 7, given = 3, draws = 2;
constexpr std::size_t bad = 2;  // the row that gets bad data
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();

template <class T>
std::vector<T> block_of(const std::vector<T>& values, std::size_t row) {
  const std::size_t width = values.size() / rows;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * width);
  return {begin, begin + static_cast<std::ptrdiff_t>(width)};
}

/// What is said about one row.
Scored row_of(const Scored& all, std::size_t row) {
  return {block_of(all.logprobs, row),    block_of(all.top_logprobs, row),
          block_of(all.log_sum_exp, row), block_of(all.tokens, row),
          block_of(all.top_tokens, row),  block_of(all.status, row)};
}

/// What is said about a row of which nothing can be made.
Bits unusable(std::int32_t status) {
  Scored row;
  row.logprobs.assign(given, -infinity);
  row.top_logprobs.assign(Scored::listed, -infinity);
  row.log_sum_exp.assign(1, -infinity);
  row.tokens.assign(draws, -1);
  row.top_tokens.assign(Scored::listed, -1);
  row.status = {status};
  return row.bits();
}

/// Seven good rows, and a score of them with one that is not.
template <class Backend>
class BadRow {
 public:
  BadRow() {
    m_good.limits = limits_of_rows(rows);
    for (std::int32_t& token : m_good.given) token = token < 0 ? 0 : token % 299;
    m_expected = scored<Backend>(m_good);
    for (const std::int32_t status : m_expected.status) REQUIRE(status == 0);
  }

  /// The bad row of a score that is changed; the others must be those of the good one.
  template <class Change>
  Scored with(const Change& change) const {
    ScoreInputs inputs = m_good;
    change(inputs);
    const Scored found = scored<Backend>(inputs);
    for (std::size_t i = 0; i < rows; ++i) {
      if (i != bad) CHECK((row_of(found, i).bits() == row_of(m_expected, i).bits()));
    }
    return row_of(found, bad);
  }
  Scored expected() const { return row_of(m_expected, bad); }

 private:
  ScoreInputs m_good =
      score_inputs<typename Backend::logit>(vocabulary, true, row_orders[2], given, draws);
  Scored m_expected;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a row of a score with a bad parameter is unusable", "[interop]",
                        Backends) {
  const BadRow<TestType> row;
  const Bits expected = unusable(TOKKOS_ROW_INVALID_PARAMETER);
  for (const float value : {nan, -1.0f, infinity, -infinity}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.batch.temperature[bad] = value; };
    CHECK((row.with(change).bits() == expected));
  }
  for (const float value : {nan, 0.0f, -0.5f, 1.5f}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.limits[bad].top_p = value; };
    CHECK((row.with(change).bits() == expected));
  }
  for (const float value : {nan, -0.5f, 1.5f}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.limits[bad].min_p = value; };
    CHECK((row.with(change).bits() == expected));
  }
  for (const std::int32_t value : {-1, -40, least}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.limits[bad].top_k = value; };
    CHECK((row.with(change).bits() == expected));
  }
}

TEMPLATE_LIST_TEST_CASE("a row of a score that is not there is unusable", "[interop]", Backends) {
  const BadRow<TestType> row;
  const Bits expected = unusable(TOKKOS_ROW_INVALID_PARAMETER);
  for (const std::int32_t value : {-1, 5, 6, most, least}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.batch.row_index[bad] = value; };
    CHECK((row.with(change).bits() == expected));
  }
  for (const std::int32_t value : {-2, 5, 6, most, least}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.batch.mask_index[bad] = value; };
    CHECK((row.with(change).bits() == expected));
  }
}

TEMPLATE_LIST_TEST_CASE("a uniform that is NaN spoils the draws of its row alone", "[interop]",
                        Backends) {
  const BadRow<TestType> row;
  Scored expected = row.expected();
  expected.tokens.assign(draws, -1);
  expected.status = {TOKKOS_ROW_INVALID_PARAMETER};
  for (const std::size_t place : {0, 1}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.uniforms[bad * draws + place] = nan; };
    CHECK((row.with(change).bits() == expected.bits()));
  }
}

TEMPLATE_LIST_TEST_CASE("a token that is none has no log-probability", "[interop]", Backends) {
  const BadRow<TestType> row;
  Scored expected = row.expected();
  expected.logprobs[1] = -infinity;
  for (const std::int32_t value : {-1, 150, 299}) {  // no token, or past the active vocabulary
    const auto change = [&](ScoreInputs& inputs) { inputs.given[bad * given + 1] = value; };
    CHECK((row.with(change).bits() == expected.bits()));
  }
  expected.status = {TOKKOS_ROW_INVALID_DRAFT};
  for (const std::int32_t value : {-2, 300, 301, most, least}) {
    const auto change = [&](ScoreInputs& inputs) { inputs.given[bad * given + 1] = value; };
    CHECK((row.with(change).bits() == expected.bits()));
  }
}

TEMPLATE_LIST_TEST_CASE("status words of a score are ORed into", "[interop]", ExecutionSpaces) {
  using Float = Backend<TestType, float>;
  auto inputs = score_inputs<float>(vocabulary, false);
  inputs.batch.temperature[1] = nan;
  inputs.given[3 * given] = 300;
  const Context context = context_on<TestType>();
  const Scorer scorer = scorer_for(context, inputs);
  ScoreMemory<Float> memory(inputs);
  memory.set_status(TOKKOS_ROW_ZERO_RESIDUAL);
  constexpr std::int32_t kept = TOKKOS_ROW_ZERO_RESIDUAL;
  CHECK(memory.by_c(context, scorer).status ==
        std::vector<std::int32_t>{kept, kept | TOKKOS_ROW_INVALID_PARAMETER, kept,
                                  kept | TOKKOS_ROW_INVALID_DRAFT, kept});
}

}  // namespace tokkos::test
