// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/c_api.hpp"
#include "fuzz/step_input.hpp"
#include "interop/c_step.hpp"
#include "interop/step_results.hpp"

namespace tokkos::test {

namespace {

using Host = Kokkos::HostSpace;

/// Rows of a request, whatever was damaged.
std::int64_t rows_of(const OwnedStep& step, std::size_t i) {
  if (!step.cum_num_token) return 1;
  return std::int64_t{(*step.cum_num_token)[i + 1]} - (*step.cum_num_token)[i];
}

/// Whether the step can be said in C, where rows and trees belong to their requests.
bool is_of_c(const OwnedStep& step) {
  const std::size_t requests = step.configs.size();
  if (step.states.size() != requests || step.ids.size() != requests) return false;
  if (step.trees.has_value() != step.indices.has_value()) return false;
  if (step.cum_num_token &&
      (step.cum_num_token->size() != requests + 1 || step.cum_num_token->front() != 0)) {
    return false;
  }
  if (!step.trees) return true;
  if (step.trees->size() != requests || step.indices->size() != requests) return false;
  for (std::size_t i = 0; i < requests; ++i) {
    const DraftTree& tree = (*step.trees)[i];
    if (tree.parents.size() != tree.token_ids.size()) return false;
    if (rows_of(step, i) != static_cast<std::int64_t>((*step.indices)[i].size())) return false;
  }
  return true;
}

/// What a step says and writes.
struct Outcome {
  std::optional<std::string> refusal;
  Bits bits;
};

template <class Logit>
class StepRun {
 public:
  explicit StepRun(const FuzzStep& fuzz)
      : m_fuzz(fuzz),
        m_results(static_cast<std::size_t>(fuzz.step->rows),
                  static_cast<std::size_t>(fuzz.step->vocabulary), 0) {
    std::vector<Logit> stored;
    for (const float x : fuzz.logits) stored.push_back(narrow<Logit>(x));
    m_results.logits =
        Guarded<Logit, Host>(static_cast<std::size_t>(fuzz.step->rows),
                             static_cast<std::size_t>(fuzz.step->vocabulary), 3, stored);
  }

  Bits before() const { return m_results.bits(); }

  Outcome through_cpp() const {
    const RandomStep& step = *m_fuzz.step;
    const Kokkos::Serial serial;
    LogitProcessor<Kokkos::Serial> processor(serial, max_rows, step.vocabulary, step.active);
    StepOutputs<Host> outputs = m_results.outputs();
    if (!m_fuzz.draws) {
      outputs.tokens = {};
      outputs.logprobs = outputs.raw_logprobs = {};
    }
    if (!m_fuzz.truncates) outputs.truncated_probabilities = {};
    try {
      processor.process(m_results.logits.matrix(), step.step.requests(), outputs,
                        {.uniforms = m_fuzz.uniforms, .store_mask = m_fuzz.stores_mask});
    } catch (const Error& error) {
      return outcome(in_words_of_c(error.what()));
    }
    return outcome({});
  }

  /// @param in_two_halves prepared, then processed
  Outcome through_c(const Context& context, bool in_two_halves) const {
    const RandomStep& step = *m_fuzz.step;
    const Processor processor =
        processor_on(context, limits_of(max_rows, step.vocabulary, step.active));
    const StepOfC made(step.step);
    OutputsOfC outputs = m_results.outputs_of_c();
    if (!m_fuzz.draws) {
      outputs.outputs().tokens = nullptr;
      outputs.outputs().logprobs = outputs.outputs().raw_logprobs = nullptr;
    }
    if (!m_fuzz.truncates) outputs.outputs().truncated_probabilities = nullptr;
    tokkos_step_options options = tokkos_step_options_default();
    options.uniforms = m_fuzz.uniforms.data();
    options.uniform_count = m_fuzz.uniforms.size();
    options.store_mask = m_fuzz.stores_mask ? 1 : 0;
    const tokkos_array logits = array_of(m_results.logits.matrix());
    ErrorWatch watch;
    const bool is_valid = watch.worked(tokkos_step_validate(made.get(), step.vocabulary));
    if (!in_two_halves) {
      const bool worked = watch.worked(tokkos_processor_process(
          processor.get(), &logits, made.get(), outputs.get(), &options, nullptr));
      expect(is_valid || !worked, "a step that works is valid");
      return worked ? outcome({}) : outcome(refusal_of(watch));
    }
    const bool prepared =
        watch.worked(tokkos_processor_prepare(processor.get(), step.rows, made.get(), &options));
    expect(is_valid || !prepared, "a step that can be prepared is valid");
    const std::string refusal = prepared ? "" : refusal_of(watch);
    const bool worked = watch.worked(
        tokkos_processor_process_prepared(processor.get(), &logits, outputs.get(), nullptr));
    if (!prepared) {
      expect(!worked && watch.field() == "prepare", "a refused step was not prepared");
      return outcome(refusal);
    }
    return worked ? outcome({}) : outcome(refusal_of(watch));
  }

 private:
  /// The text of a refusal; empty for what C checks on its own, in its own words.
  static std::string refusal_of(const ErrorWatch& watch) {
    const std::string& field = watch.field();
    const bool is_own = field.starts_with("step.") || field.ends_with("].rows");
    return is_own ? "" : watch.text();
  }

  Outcome outcome(std::optional<std::string> refusal) const {
    const auto& r = m_results;
    Outcome made{std::move(refusal), r.bits()};
    expect(r.logits.guards_intact() && r.probabilities.guards_intact() &&
               r.truncated.guards_intact() && r.logprobs.guards_intact() &&
               r.top_logprobs.guards_intact() && r.raw_logprobs.guards_intact() &&
               r.raw_top_logprobs.guards_intact() && r.log_sum_exp.guards_intact() &&
               r.tokens.guards_intact() && r.top_tokens.guards_intact() &&
               r.raw_top_tokens.guards_intact() && r.status.guards_intact(),
           "nothing is written beside the arrays");
    return made;
  }

  const FuzzStep& m_fuzz;
  StepResults<Host, Logit> m_results;
};

template <class Logit>
void compare(const FuzzStep& fuzz, const Context& context, bool in_two_halves) {
  const StepRun<Logit> run_of_cpp(fuzz), run_of_c(fuzz);
  const Bits before = run_of_c.before();
  const Snapshot snapshot(*fuzz.step);
  const Outcome expected = run_of_cpp.through_cpp();
  const Outcome found = run_of_c.through_c(context, in_two_halves);
  expect(Snapshot(*fuzz.step) == snapshot && snapshot.misuses == 0, "masks are as they were");
  expect(found.refusal.has_value() == expected.refusal.has_value(), "C refuses what C++ refuses");
  expect(found.bits == expected.bits, "a step through C has the bits of C++");
  if (!found.refusal) return;
  expect(found.bits == before, "a refused step writes nothing");
  expect(found.refusal->empty() || *found.refusal == *expected.refusal, "C says what C++ says");
}

}  // namespace

void fuzz_c_step(FuzzBytes& bytes) {
  const Context& context = c_context(bytes.flag());
  const bool in_two_halves = bytes.flag();
  const FuzzStep fuzz = make_fuzz_step(bytes);
  if (!is_of_c(fuzz.step->step)) return;
  switch (fuzz.stored_as) {
    case StoredAs::float32:
      return compare<float>(fuzz, context, in_two_halves);
    case StoredAs::bfloat16:
      return compare<bfloat16>(fuzz, context, in_two_halves);
    case StoredAs::float16:
      return compare<float16>(fuzz, context, in_two_halves);
  }
}

}  // namespace tokkos::test
