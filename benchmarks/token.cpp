// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// token/..., log_sum_exp/..., measure/...: what is made of the logits without writing
// probabilities, beside reading the same bytes once; `cold` takes other memory each time.

#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>

#include "baselines/memory.hpp"
#include "baselines/staged.hpp"
#include "case.hpp"
#include "register.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace tokkos::bench {

namespace {

enum class Output { token, log_sum_exp, pairs };

template <LogitType Logit>
void run_once(const Case<Logit>& given, Output output) {
  const Space space;
  const auto step = given.step();
  const auto measures = given.measures();
  measure(space, step, measures);
  if (output == Output::token) draw(space, step, measures, given.uniforms, given.tokens);
  if (output == Output::log_sum_exp) log_sum_exp(space, step, measures, given.log_sum_exp);
}

template <LogitType Logit>
void without_probabilities(benchmark::State& state, Case<Logit> given, Output output) {
  std::vector<Rival> rivals;
  const Number maximum("tokkos::bench::maximum");
  const Staged staged(given.rows_count, given.vocabulary);
  // As many bytes as the logits have, to be read as float32.
  constexpr std::int64_t per_float = sizeof(float) / sizeof(Logit);
  Rows<float> same_bytes;
  if constexpr (std::is_same_v<Logit, float>) {
    same_bytes = given.logits;
    if (output == Output::token) {
      given.with_probabilities();
      rivals.push_back({"staged_speedup", true, {[&] {
                          staged.softmax(Space(), given.logits, given.temperature,
                                         given.probabilities);
                          staged.sample(Space(), given.probabilities, given.uniforms, given.tokens);
                        }}});
    }
  } else {
    same_bytes =
        Rows<float>("tokkos::bench::same_bytes", given.rows_count, given.vocabulary / per_float);
  }
  rivals.push_back({"read_ratio", false, {[&] { read_rows(Space(), same_bytes, maximum); }}});
  run_timed(state, given.elements() * sizeof(Logit), {[&] { run_once(given, output); }}, rivals);
}

/// The same on other memory each time.
void cold(benchmark::State& state, Case<float> first, Output output) {
  const double bytes = first.elements() * sizeof(float);
  ColdCases<float> cases(std::move(first), bytes);
  const Number maximum("tokkos::bench::maximum");
  const auto next = [&] { cases.next(); };
  const auto read_one = [&] { read_rows(Space(), cases.current().logits, maximum); };
  run_timed(state, bytes, {[&] { run_once(cases.current(), output); }, next},
            {{"read_ratio", false, {read_one, next}}});
}

template <LogitType Logit>
void register_type() {
  for (const std::int64_t v : vocabularies) {
    for (const std::int64_t n : row_counts) {
      const auto add = [&](const char* operation, Output output) {
        register_timed(case_name(operation, type_name<Logit>(), n, v), n * v,
                       [=](benchmark::State& state) {
                         without_probabilities(state, Case<Logit>(n, v), output);
                       });
        if constexpr (std::is_same_v<Logit, float>) {
          register_timed(case_name(operation, type_name<Logit>(), n, v, "cold"), n * v,
                         [=](benchmark::State& state) { cold(state, Case<float>(n, v), output); });
        }
      };
      add("token", Output::token);
      add("log_sum_exp", Output::log_sum_exp);
      add("measure", Output::pairs);
    }
  }
}

}  // namespace

void register_token() {
  register_type<float>();
  register_type<bfloat16>();
  register_type<float16>();
}

}  // namespace tokkos::bench
