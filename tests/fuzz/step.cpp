// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A batch of requests through LogitProcessor: it is refused if and only if something in it is bad,
// nothing is written then, and otherwise the results are those of a plain reference.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include "fuzz/harnesses.hpp"
#include "fuzz/step_input.hpp"
#include "kernels/guarded.hpp"
#include "reference/softmax_reference.hpp"
#include "reference/truncation_reference.hpp"

namespace tokkos::test {

namespace {

using Threads = Kokkos::DefaultHostExecutionSpace;
using Host = Kokkos::HostSpace;

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float x : values) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

struct StepResult {
  bool threw = false;
  std::vector<float> logits, probabilities, truncated;
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> status;

  /// To the bit.
  bool operator==(const StepResult& other) const {
    return threw == other.threw && bits_of(logits) == bits_of(other.logits) &&
           bits_of(probabilities) == bits_of(other.probabilities) &&
           bits_of(truncated) == bits_of(other.truncated) && tokens == other.tokens &&
           status == other.status;
  }
};

template <class Logit>
std::vector<float> widened(const std::vector<Logit>& values) {
  std::vector<float> wide;
  for (const Logit x : values) wide.push_back(widen(x));
  return wide;
}

/// Whether the processor still does a step of one plain request.
template <class Space>
bool still_works(LogitProcessor<Space>& processor) {
  const auto width = static_cast<std::size_t>(processor.vocab_size());
  std::vector<float> logits(width, 0.0f), probabilities(width, -1.0f);
  const GenerationConfig config;
  const SequenceState state;
  const Kokkos::LayoutStride shape(1, width, width, 1);
  processor.process(Matrix<float, Host>(logits.data(), shape), {{&config, 1}, {&state, 1}},
                    {.probabilities = Matrix<float, Host>(probabilities.data(), shape)});
  Kokkos::fence("tokkos::test::fuzz");
  double sum = 0;
  for (const float p : probabilities) sum += static_cast<double>(p);
  return std::fabs(sum - 1) < 1e-6;
}

template <class Space, class Logit>
StepResult run(const FuzzStep& fuzz) {
  const RandomStep& step = *fuzz.step;
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto width = static_cast<std::size_t>(step.vocabulary);
  std::vector<Logit> stored_logits;
  for (const float x : fuzz.logits) stored_logits.push_back(narrow<Logit>(x));
  Guarded<Logit, Host> logits(rows, width, 3, stored_logits);
  Guarded<float, Host> probabilities(rows, width, 5, {}), truncated(rows, width, 1, {});
  Guarded<TokenId, Host> tokens(rows);
  Guarded<std::int32_t, Host> status(rows);
  const Space space;
  LogitProcessor<Space> processor(space, max_rows, step.vocabulary, step.active);
  StepOutputs<Host> outputs;
  outputs.probabilities = probabilities.matrix();
  outputs.row_status = status.vector();
  if (fuzz.draws) outputs.tokens = tokens.vector();
  if (fuzz.truncates) outputs.truncated_probabilities = truncated.matrix();
  const Snapshot before(step);
  StepResult result;
  try {
    processor.process(logits.matrix(), step.step.requests(), outputs,
                      {.uniforms = fuzz.uniforms, .store_mask = fuzz.stores_mask});
  } catch (const Error&) {
    result.threw = true;
  }
  space.fence("tokkos::test::fuzz");
  expect(Snapshot(step) == before && before.misuses == 0,
         "histories and grammars are as they were");
  result.logits = widened(logits.values());
  result.probabilities = probabilities.values();
  result.truncated = truncated.values();
  result.tokens = tokens.values();
  result.status = status.values();
  expect(logits.guards_intact() && probabilities.guards_intact() && truncated.guards_intact() &&
             tokens.guards_intact() && status.guards_intact(),
         "nothing is written beside the arrays");
  if (result.threw) expect(still_works(processor), "a refused step leaves a processor that works");
  return result;
}

/// Nothing of what a refused step was given has changed.
void check_untouched(const FuzzStep& fuzz, const StepResult& result) {
  std::vector<float> logits;
  for (const float x : fuzz.logits) logits.push_back(stored(x, fuzz.stored_as));
  const auto is_zero = [](auto x) { return x == 0; };
  expect(bits_of(result.logits) == bits_of(logits), "a refused step leaves the logits");
  expect(std::ranges::all_of(result.probabilities, is_zero) &&
             std::ranges::all_of(result.truncated, is_zero) &&
             std::ranges::all_of(result.tokens, is_zero) &&
             std::ranges::all_of(result.status, is_zero),
         "a refused step writes nothing");
}

/// Truncated probabilities are those of the first tokens in the order of the row.
void check_truncated(const ReferenceRow& row, const GenerationConfig& config,
                     std::span<const float> truncated, std::span<const float> probabilities) {
  const bool greedy = config.temperature <= 1e-5f;
  const SortedRow sorted(greedy ? ReferenceRow{} : row);
  const auto cut = sorted.cut({config.top_k, config.top_p, config.min_p});
  if (greedy || cut.count < 0) {
    expect(bits_of(truncated) == bits_of(probabilities), "no truncation changes nothing");
    return;
  }
  std::vector<bool> kept(truncated.size(), false);
  for (std::int64_t i = 0; i < cut.count; ++i) {
    kept[static_cast<std::size_t>(sorted.tokens()[static_cast<std::size_t>(i)])] = true;
  }
  double sum = 0;
  for (std::size_t v = 0; v < truncated.size(); ++v) {
    expect(kept[v] || truncated[v] == 0, "what is cut off has probability 0");
    sum += static_cast<double>(truncated[v]);
  }
  expect(std::fabs(sum - 1) <= 1e-6, "truncated probabilities sum to 1");
}

/// Compares one row with the reference.
void check_row(const FuzzStep& fuzz, const StepResult& result, std::size_t request,
               std::size_t row_of_request, std::size_t r) {
  const RandomStep& step = *fuzz.step;
  const auto width = static_cast<std::size_t>(step.vocabulary);
  const GenerationConfig& config = step.step.configs[request];
  std::vector<float> logits;
  for (const float x : std::span(fuzz.logits).subspan(r * width, width)) {
    logits.push_back(stored(x, fuzz.stored_as));
  }
  RowEdits edits = step.edits(request, static_cast<std::int64_t>(row_of_request));
  std::vector<float> edited = logits;
  apply_edits(edited, edits, fuzz.stored_as);
  std::vector<float> unmasked = logits;
  edits.masked = false;
  apply_edits(unmasked, edits, fuzz.stored_as);
  expect(bits_of(std::span(result.logits).subspan(r * width, width)) ==
             bits_of(fuzz.stores_mask ? edited : unmasked),
         "logits are edited as by the reference");

  const ReferenceRow row{edited, {}, step.active, config.temperature};
  const ReferenceSoftmax softmax = reference_softmax(row);
  const auto probabilities = std::span(result.probabilities).subspan(r * width, width);
  const SoftmaxMistakes mistakes = compare(row, softmax, probabilities);
  expect(result.status[r] == softmax.status, "the status is the reference's");
  expect(mistakes.not_zero == 0, "forbidden tokens have probability 0");
  expect(mistakes.out_of_bound == 0, "probabilities are as near as promised");
  expect(mistakes.subnormal == 0, "no probability is subnormal");
  expect(softmax.status != 0 || mistakes.sum_error <= 1e-6, "probabilities sum to 1");
  const bool truncates = config.has_truncation() && config.temperature > 1e-5f;
  const auto truncated = std::span(result.truncated).subspan(r * width, width);
  if (fuzz.truncates && softmax.status == 0) {
    check_truncated(row, config, truncated, probabilities);
  }
  if (!fuzz.draws) return;
  const TokenId token = result.tokens[r];
  expect(token >= -1 && token < step.active, "a token is -1 or in the active vocabulary");
  expect((token == -1) == (softmax.status != 0), "a token is -1 if and only if a status says why");
  if (token == -1) return;
  expect(is_allowed(row, token), "no forbidden token is drawn");
  if (fuzz.truncates) {
    expect(truncated[static_cast<std::size_t>(token)] > 0, "no token is drawn that was cut off");
  }
  if (!fuzz.uniforms.empty() && !truncates) {
    expect(distance_from_share(softmax, token, fuzz.uniforms[r]) <= 2e-6,
           "the token is the one whose share the uniform lies in");
  }
}

void check_rows(const FuzzStep& fuzz, const StepResult& result) {
  const OwnedStep& step = fuzz.step->step;
  for (std::size_t i = 0; i < step.configs.size(); ++i) {
    const auto begin = step.cum_num_token ? (*step.cum_num_token)[i] : static_cast<std::int32_t>(i);
    const auto end = step.cum_num_token ? (*step.cum_num_token)[i + 1] : begin + 1;
    for (std::int32_t r = begin; r < end; ++r) {
      check_row(fuzz, result, i, static_cast<std::size_t>(r - begin), static_cast<std::size_t>(r));
    }
  }
}

template <class Logit>
void fuzz_type(const FuzzStep& fuzz) {
  const StepResult serial = run<Kokkos::Serial, Logit>(fuzz);
  expect(serial.threw == !is_good(fuzz), "a step is refused if and only if something is bad");
  if (serial.threw) {
    check_untouched(fuzz, serial);
  } else {
    check_rows(fuzz, serial);
  }
  expect(run<Threads, Logit>(fuzz) == serial, "threads change nothing");
}

}  // namespace

void fuzz_step(std::span<const std::uint8_t> input) {
  FuzzBytes bytes(input);
  const FuzzStep fuzz = make_fuzz_step(bytes);
  switch (fuzz.stored_as) {
    case StoredAs::float32:
      return fuzz_type<float>(fuzz);
    case StoredAs::bfloat16:
      return fuzz_type<bfloat16>(fuzz);
    case StoredAs::float16:
      return fuzz_type<float16>(fuzz);
  }
}

}  // namespace tokkos::test
