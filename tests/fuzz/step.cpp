// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A batch of requests through LogitProcessor: it is refused if and only if something in it is bad,
// nothing is written then, and otherwise the results are those of a plain reference.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <algorithm>
#include <cmath>

#include "fuzz/harnesses.hpp"
#include "fuzz/step_outputs.hpp"

namespace tokkos::test {

namespace {

using Threads = Kokkos::DefaultHostExecutionSpace;
using Host = Kokkos::HostSpace;

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
StepResult run(const FuzzStep& fuzz, const Faults& faults) {
  const RandomStep& step = *fuzz.step;
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto width = static_cast<std::size_t>(step.vocabulary);
  std::vector<Logit> stored_logits;
  for (const float x : fuzz.logits) stored_logits.push_back(narrow<Logit>(x));
  Guarded<Logit, Host> logits(rows, width, 3, stored_logits);
  GuardedOutputs outputs(rows, width, fuzz);
  const Space space;
  LogitProcessor<Space> processor(space, max_rows, step.vocabulary, step.active);
  const StepOptions options{.uniforms = fuzz.uniforms, .store_mask = fuzz.stores_mask};
  const Snapshot before(step);
  bool threw = false;
  try {
    if (fuzz.prepares) {
      processor.prepare(step.rows, step.step.requests(), options);
      processor.process(logits.matrix(), outputs.views());
    } else {
      processor.process(logits.matrix(), step.step.requests(), outputs.views(), options);
    }
  } catch (const Error& error) {
    threw = true;
    expect(names_one_of(faults, error), "an error names what is bad, its place and its value");
  }
  space.fence("tokkos::test::fuzz");
  expect(Snapshot(step) == before && before.misuses == 0,
         "histories and grammars are as they were");
  StepResult result = outputs.values();
  result.threw = threw;
  result.logits = widened(logits.values());
  expect(logits.guards_intact() && outputs.guards_intact(), "nothing is written beside the arrays");
  if (threw) expect(still_works(processor), "a refused step leaves a processor that works");
  return result;
}

/// Nothing of what a refused step was given has changed.
void check_untouched(const FuzzStep& fuzz, const StepResult& result) {
  std::vector<float> logits;
  for (const float x : fuzz.logits) logits.push_back(stored(x, fuzz.stored_as));
  const auto is_zero = [](const auto* values) {
    return std::ranges::all_of(*values, [](auto x) { return x == 0; });
  };
  expect(bits_of(result.logits) == bits_of(logits), "a refused step leaves the logits");
  expect(std::ranges::all_of(result.numbers(), is_zero) &&
             std::ranges::all_of(result.integers(), is_zero),
         "a refused step writes nothing");
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
  const Faults faults = faults_of(fuzz);
  const StepResult serial = run<Kokkos::Serial, Logit>(fuzz, faults);
  expect(serial.threw != faults.empty(), "a step is refused if and only if something is bad");
  if (serial.threw) {
    check_untouched(fuzz, serial);
  } else {
    check_rows(fuzz, serial);
  }
  expect(run<Threads, Logit>(fuzz, faults) == serial, "threads change nothing");
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
