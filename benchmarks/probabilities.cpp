// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// probabilities/..., probabilities_in_place/...: softmax with temperature, to a separate output and
// in place. The temperature is 0.8. Variants: `mixed` has the temperatures 0, 0.3, 0.7, 1 and 1.5
// by row, `sharp` the temperature 0.1, `peaked`, `flat` and `offset` are kinds of logits, `cold`
// takes other memory each time (the others run on the same memory: warm as far as the caches
// reach).

#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "baselines/float_sums.hpp"
#include "baselines/libtorch.hpp"
#include "baselines/memory.hpp"
#include "case.hpp"
#include "register.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace tokkos::bench {

namespace {

template <LogitType Logit>
void softmax_of(const Case<Logit>& given, const Space& space = {}) {
  softmax(space, given.step(), given.measures(), Matrix<float, Memory>(given.probabilities));
}

template <LogitType Logit>
double bytes_of(const Case<Logit>& given) {
  return given.elements() * (sizeof(Logit) + sizeof(float));
}

/// What probabilities of 16-bit logits are compared with: those of float32 ones.
template <LogitType Logit>
void separate(benchmark::State& state, Case<Logit> given, float temperature) {
  given.with_probabilities();
  std::vector<Rival> rivals;
  if constexpr (std::is_same_v<Logit, float>) {
    rivals.push_back(
        {"copy_ratio", false, {[&] { copy_rows(Space(), given.logits, given.probabilities); }}});
    if (runs_on_host && given.rows_count >= 64) {
      rivals.push_back({"float_sum_ratio", false, {[&] {
                          softmax_with_float_sums(Space(), given.logits, given.temperature,
                                                  given.probabilities);
                        }}});
    }
    if (temperature > 0.0f) {
      const auto by_libtorch = softmax_by_libtorch(given.logits, temperature, given.probabilities);
      if (by_libtorch) rivals.push_back({"libtorch_speedup", true, {by_libtorch}});
    }
    const Space one = one_thread();
    if (runs_on_host && given.rows_count == 1) {
      rivals.push_back({"thread_speedup", true, {[&given, one] { softmax_of(given, one); }}});
    }
    run_timed(state, bytes_of(given), {[&] { softmax_of(given); }}, rivals);
  } else {
    Case<float> wide(given.rows_count, given.vocabulary);
    wide.probabilities = given.probabilities;
    rivals.push_back({"float32_ratio", false, {[&] { softmax_of(wide); }}});
    run_timed(state, bytes_of(given), {[&] { softmax_of(given); }}, rivals);
  }
}

void in_place(benchmark::State& state, Case<float> here) {
  const Rows<float> source = make_logits<float>(here.rows_count, here.vocabulary);
  here.probabilities = here.logits;
  const Rows<float> other("tokkos::bench::copy", here.rows_count, here.vocabulary);
  const Timed own{[&] { softmax_of(here); }, [&] { restore(source, here.logits); }};
  run_timed(state, bytes_of(here), own,
            {{"copy_ratio", false, {[&] { copy_rows(Space(), source, other); }}}});
}

/// The same on other memory each time.
void cold(benchmark::State& state, Case<float> first) {
  first.with_probabilities();
  const double bytes = bytes_of(first);
  ColdCases<float> cases(std::move(first), bytes);
  const auto next = [&] { cases.next(); };
  const auto copy_one = [&] {
    copy_rows(Space(), cases.current().logits, cases.current().probabilities);
  };
  run_timed(state, bytes, {[&] { softmax_of(cases.current()); }, next},
            {{"copy_ratio", false, {copy_one, next}}});
}

template <LogitType Logit>
void register_type() {
  const std::string type = type_name<Logit>();
  for (const std::int64_t v : vocabularies) {
    for (const std::int64_t n : row_counts) {
      const auto add = [&](const char* variant, float temperature, Values values) {
        register_timed(case_name("probabilities", type, n, v, variant), n * v,
                       [=](benchmark::State& state) {
                         Case<Logit> given(n, v, temperature, values);
                         if (temperature < 0.0f) given.temperature = make_mixed_temperatures(n);
                         separate(state, std::move(given), temperature);
                       });
      };
      add("", 0.8f, Values::normal);
      add("mixed", -1.0f, Values::normal);
      add("sharp", 0.1f, Values::normal);
      add("peaked", 0.8f, Values::peaked);
      add("flat", 0.8f, Values::flat);
      add("offset", 0.8f, Values::offset);
      if constexpr (std::is_same_v<Logit, float>) {
        register_timed(case_name("probabilities_in_place", type, n, v), n * v,
                       [=](benchmark::State& state) { in_place(state, Case<float>(n, v)); });
        register_timed(case_name("probabilities", type, n, v, "cold"), n * v,
                       [=](benchmark::State& state) { cold(state, Case<float>(n, v)); });
      }
    }
  }
}

}  // namespace

void register_probabilities() {
  register_type<float>();
  register_type<bfloat16>();
  register_type<float16>();
}

}  // namespace tokkos::bench
