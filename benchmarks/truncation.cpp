// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// truncation/...: measure and truncate by top-k, top-p, min-p or several of them, beside measure
// alone, plain softmax, and a full sort.

#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "baselines/full_sort.hpp"
#include "case.hpp"
#include "register.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::bench {

namespace {

constexpr std::int64_t vocabulary = 262144;

struct Limits {
  std::string name;
  std::int32_t top_k = 0;
  float top_p = 1.0f;
  float min_p = 0.0f;
};

void truncation(benchmark::State& state, std::int64_t rows, const Limits& limits) {
  Case<float> given(rows, vocabulary);
  given.with_probabilities();
  const CutsWorkspace<Memory> workspace(rows);
  const auto cuts = workspace.cuts(rows);
  const Numbers<std::int32_t> top_k("tokkos::bench::top_k", 1);
  const Numbers<float> top_p("tokkos::bench::top_p", 1);
  Kokkos::deep_copy(top_k, limits.top_k);
  const Numbers<float> min_p("tokkos::bench::min_p", 1);
  Kokkos::deep_copy(top_p, limits.top_p);
  Kokkos::deep_copy(min_p, limits.min_p);
  const Truncation<Memory> all{top_k, top_p, min_p};
  const auto step = given.step();
  const auto measures = given.measures();
  const Timed own{[&] {
    measure(Space(), step, measures);
    truncate(Space(), step, measures, all, cuts);
  }};
  std::vector<Rival> rivals{
      {"measure_ratio", false, {[&] { measure(Space(), step, measures); }}},
      {"softmax_ratio", false, {[&] { softmax(Space(), step, measures, given.probabilities); }}}};
  const FullSort sorted(rows, runs_on_host ? vocabulary : 1);
  if (runs_on_host) {
    rivals.push_back({"full_sort_speedup", true, {[&] {
                        sorted.truncate(Space(), given.logits, given.temperature, limits.top_k,
                                        limits.top_p, limits.min_p);
                      }}});
  }
  run_timed(state, given.elements() * sizeof(float), own, rivals);
}

}  // namespace

void register_truncation() {
  const std::vector<Limits> variants{{"top_k_1", 1},
                                     {"top_k_40", 40},
                                     {"top_k_1000", 1000},
                                     {"top_p_0.1", 0, 0.1f},
                                     {"top_p_0.9", 0, 0.9f},
                                     {"top_p_0.99", 0, 0.99f},
                                     {"min_p_0.05", 0, 1.0f, 0.05f},
                                     {"min_p_0.3", 0, 1.0f, 0.3f},
                                     {"top_k_40_top_p_0.9", 40, 0.9f},
                                     {"top_k_1000_top_p_0.99_min_p_0.05", 1000, 0.99f, 0.05f}};
  constexpr std::int64_t sort = 64;  // a full sort takes that many times longer than a read
  for (const std::int64_t n : {1, 8, 64}) {
    for (const Limits& limits : variants) {
      register_timed(case_name("truncation", "float32", n, vocabulary, limits.name),
                     n * vocabulary * sort,
                     [=](benchmark::State& state) { truncation(state, n, limits); });
    }
  }
}

}  // namespace tokkos::bench
