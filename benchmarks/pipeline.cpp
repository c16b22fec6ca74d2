// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// pipeline/...: 256 penalized tokens and 300 biases on every row, a mask that allows half of the
// tokens of every row, then probabilities; beside the softmax alone and beside the seed's way.
// edits/... and masked/...: the edits alone, and the softmax under that mask alone.

#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "baselines/memory.hpp"
#include "baselines/staged.hpp"
#include "case.hpp"
#include "register.hpp"

namespace tokkos::bench {

namespace {

constexpr std::int64_t penalized = 256;
constexpr std::int64_t biased = 300;

template <LogitType Logit>
void pipeline(benchmark::State& state, std::int64_t n, std::int64_t v) {
  Case<Logit> given(n, v), plain(n, v);
  given.with_probabilities();
  given.bitmask = make_bitmask(n, v);
  plain.probabilities = given.probabilities;
  const RowEdits edits(n, v, penalized, biased);
  const Space space;
  const auto run = [&] {
    apply_edits(space, Matrix<Logit, Memory>(given.logits), edits.biases(), edits.penalties());
    softmax(space, given.step(), given.measures(), Matrix<float, Memory>(given.probabilities));
  };
  std::vector<Rival> rivals{{"softmax_ratio", false, {[&] {
                               softmax(space, plain.step(), plain.measures(),
                                       Matrix<float, Memory>(plain.probabilities));
                             }}}};
  const Staged staged(n, v);
  if constexpr (std::is_same_v<Logit, float>) {
    // The mask is stored over the logits: each run starts from what the last one left of them.
    const Rows<float> logits = make_logits<float>(n, v);
    rivals.push_back({"staged_speedup", true, {[&, logits] {
                        staged.edit(space, logits, edits);
                        staged.mask(space, logits, given.bitmask);
                        staged.softmax(space, logits, given.temperature, given.probabilities);
                      }}});
    run_timed(state, given.elements() * (sizeof(Logit) + sizeof(float)), {run}, rivals);
  } else {
    run_timed(state, given.elements() * (sizeof(Logit) + sizeof(float)), {run}, rivals);
  }
}

/// Without the edits, or without the rest.
template <LogitType Logit>
void part(benchmark::State& state, std::int64_t n, std::int64_t v, bool edits_only) {
  Case<Logit> given(n, v);
  given.with_probabilities();
  given.bitmask = make_bitmask(n, v);
  const RowEdits edits(n, v, penalized, biased);
  const Space space;
  if (edits_only) {
    const double bytes = 2.0 * sizeof(Logit) * static_cast<double>(n * (penalized + biased));
    run_timed(state, bytes, {[&] {
                apply_edits(space, Matrix<Logit, Memory>(given.logits), edits.biases(),
                            edits.penalties());
              }});
  } else {
    run_timed(state, given.elements() * (sizeof(Logit) + sizeof(float)), {[&] {
                softmax(space, given.step(), given.measures(),
                        Matrix<float, Memory>(given.probabilities));
              }});
  }
}

template <LogitType Logit>
void register_type() {
  for (const std::int64_t v : vocabularies) {
    for (const std::int64_t n : row_counts) {
      for (const bool edits_only : {true, false}) {
        register_timed(case_name(edits_only ? "edits" : "masked", type_name<Logit>(), n, v), n * v,
                       [=](benchmark::State& state) { part<Logit>(state, n, v, edits_only); });
      }
      register_timed(case_name("pipeline", type_name<Logit>(), n, v), n * v,
                     [=](benchmark::State& state) { pipeline<Logit>(state, n, v); });
    }
  }
}

}  // namespace

void register_pipeline() {
  register_type<float>();
  register_type<bfloat16>();
  register_type<float16>();
}

}  // namespace tokkos::bench
