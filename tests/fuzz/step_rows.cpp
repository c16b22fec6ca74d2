// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// One row of a step against plain references in double.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "fuzz/step_outputs.hpp"
#include "reference/log_probability_reference.hpp"
#include "reference/softmax_reference.hpp"
#include "reference/truncation_reference.hpp"

namespace tokkos::test {

namespace {

/// What of a row was asked for, computed plainly.
struct ExpectedRow {
  ReferenceRow row;
  ReferenceSoftmax softmax;
  std::int64_t kept = -1;  ///< how many tokens truncation keeps, -1: all
  std::vector<std::int64_t> order;
  ReferenceLogProbabilities logs;

  ExpectedRow(const ReferenceRow& logits, const GenerationConfig* config)
      : row(logits), softmax(reference_softmax(logits)) {
    const bool greedy = row.temperature <= 1e-5f;
    if (softmax.status == 0) {
      order = ordered_tokens(row);
      if (config != nullptr && !greedy) {
        kept = SortedRow(row).cut({config->top_k, config->top_p, config->min_p}).count;
      }
      if (kept > 0) order.resize(static_cast<std::size_t>(kept));
    }
    logs = reference_log_probabilities(row, kept);
  }

  bool is_log_probability(TokenId token, float value) const {
    if (token < 0) return value == -HUGE_VALF;
    // Beyond float32 they may end at its largest number or at infinity.
    const double expected = logs.values[static_cast<std::size_t>(token)];
    if (std::isfinite(expected) && expected < -0.999 * static_cast<double>(FLT_MAX))
      return value < -0.99f * FLT_MAX;
    return is_close(logs, token, value);
  }
};

/// `count` elements of row r.
template <class T>
std::span<const T> row_of(const std::vector<T>& values, std::size_t r, std::size_t count) {
  return std::span(values).subspan(r * count, count);
}

void check_list(const ExpectedRow& expected, std::span<const TokenId> tokens,
                std::span<const float> values) {
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const std::int64_t token = k < expected.order.size() ? expected.order[k] : -1;
    expect(tokens[k] == token, "the most likely tokens are listed in order");
    expect(expected.is_log_probability(tokens[k], values[k]), "so are their log-probabilities");
  }
}

void check_log_sum_exp(const ExpectedRow& expected, float value) {
  const ReferenceSoftmax& softmax = expected.softmax;
  const double exact = softmax.log_sum_exp;
  if (softmax.status != 0) {
    expect(value == -HUGE_VALF, "an unusable row's log-sum-exp is -infinity");
  } else if (std::fabs(exact) > 0.999 * static_cast<double>(FLT_MAX)) {
    expect(std::fabs(value) > 0.99f * FLT_MAX && std::isfinite(value),
           "a log-sum-exp ends at the largest number");
  } else {
    expect(std::fabs(static_cast<double>(value) - exact) <=
               softmax.log_sum_exp_bound(expected.row.temperature),
           "a log-sum-exp is as near as promised");
  }
}

/// Truncated probabilities are those of the first tokens in the order of the row.
void check_truncated(const ExpectedRow& expected, std::span<const float> truncated,
                     std::span<const float> probabilities) {
  if (expected.kept < 0) {
    expect(bits_of(truncated) == bits_of(probabilities), "no truncation changes nothing");
    return;
  }
  std::vector<bool> kept(truncated.size(), false);
  for (const std::int64_t token : expected.order) kept[static_cast<std::size_t>(token)] = true;
  double sum = 0;
  for (std::size_t v = 0; v < truncated.size(); ++v) {
    expect(kept[v] || truncated[v] == 0, "what is cut off has probability 0");
    sum += static_cast<double>(truncated[v]);
  }
  expect(std::fabs(sum - 1) <= 1e-6, "truncated probabilities sum to 1");
}

void check_probabilities(const ExpectedRow& expected, std::span<const float> probabilities) {
  const SoftmaxMistakes mistakes = compare(expected.row, expected.softmax, probabilities);
  expect(mistakes.not_zero == 0, "forbidden tokens have probability 0");
  expect(mistakes.out_of_bound == 0, "probabilities are as near as promised");
  expect(mistakes.subnormal == 0, "no probability is subnormal");
  expect(expected.softmax.status != 0 || mistakes.sum_error <= 1e-6, "probabilities sum to 1");
}

void check_token(const FuzzStep& fuzz, const ExpectedRow& expected, const StepResult& result,
                 std::size_t r) {
  const TokenId token = result.tokens[r];
  expect(token >= -1 && token < fuzz.step->active, "a token is -1 or in the active vocabulary");
  expect((token == -1) == (expected.softmax.status != 0),
         "a token is -1 if and only if a status says why");
  if (token == -1) return;
  expect(is_allowed(expected.row, token), "no forbidden token is drawn");
  expect(std::ranges::count(expected.order, token) == 1, "no token is drawn that was cut off");
  if (!fuzz.uniforms.empty() && expected.kept < 0) {
    expect(distance_from_share(expected.softmax, token, fuzz.uniforms[r]) <= 2e-6,
           "the token is the one whose share the uniform lies in");
  }
}

}  // namespace

void check_row(const FuzzStep& fuzz, const StepResult& result, std::size_t request,
               std::size_t row_of_request, std::size_t r) {
  const RandomStep& step = *fuzz.step;
  const auto width = static_cast<std::size_t>(step.vocabulary);
  const GenerationConfig& config = step.step.configs[request];
  std::vector<float> logits;
  for (const float x : row_of(fuzz.logits, r, width)) {
    logits.push_back(stored(x, fuzz.stored_as));
  }
  RowEdits edits = step.edits(request, static_cast<std::int64_t>(row_of_request));
  std::vector<float> edited = logits;
  apply_edits(edited, edits, fuzz.stored_as);
  std::vector<float> unmasked = logits;
  edits.masked = false;
  apply_edits(unmasked, edits, fuzz.stored_as);
  expect(bits_of(row_of(result.logits, r, width)) == bits_of(fuzz.stores_mask ? edited : unmasked),
         "logits are edited as by the reference");

  const ExpectedRow plain({edited, {}, step.active, config.temperature}, nullptr);
  expect(result.status[r] == plain.softmax.status, "the status is the reference's");
  const auto probabilities = row_of(result.probabilities, r, width);
  check_probabilities(plain, probabilities);
  if (fuzz.scores) check_log_sum_exp(plain, result.log_sum_exp[r]);

  const ExpectedRow truncated(plain.row, &config);
  if (fuzz.truncates && plain.softmax.status == 0) {
    check_truncated(truncated, row_of(result.truncated, r, width), probabilities);
  }
  if (fuzz.draws) check_token(fuzz, truncated, result, r);
  check_list(truncated, row_of(result.top_tokens, r, fuzz.listed),
             row_of(result.top_logprobs, r, fuzz.listed));

  const ExpectedRow raw({logits, {}, step.active, 1.0f}, nullptr);
  check_list(raw, row_of(result.raw_top_tokens, r, fuzz.listed),
             row_of(result.raw_top_logprobs, r, fuzz.listed));
  if (!fuzz.draws || !fuzz.scores) return;
  const TokenId token = result.tokens[r];
  expect(truncated.is_log_probability(token, result.logprobs[r]),
         "the token drawn has its log-probability");
  expect(raw.is_log_probability(token, result.raw_logprobs[r]),
         "the token drawn has its log-probability before all edits");
}

}  // namespace tokkos::test
