// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// bitmask/...: apply_bitmask_inplace alone with half of the tokens of every row allowed, beside a
// copy of the logits.

#include <tokkos/kernels/apply_bitmask.hpp>

#include "baselines/memory.hpp"
#include "case.hpp"
#include "register.hpp"

#include <type_traits>

namespace tokkos::bench {

namespace {

template <LogitType Logit>
void bitmask(benchmark::State& state, std::int64_t n, std::int64_t v) {
  const Case<Logit> given(n, v);
  const Rows<Logit> source = make_logits<Logit>(n, v);
  const Rows<std::int32_t> words = make_bitmask(n, v);
  const Numbers<std::int32_t> rows = make_row_ids(n);
  std::vector<Rival> rivals;
  const Rows<float> other("tokkos::bench::copy", std::is_same_v<Logit, float> ? n : 0, v);
  if constexpr (std::is_same_v<Logit, float>) {
    rivals.push_back({"copy_ratio", false, {[&] { copy_rows(Space(), source, other); }}});
  }
  run_timed(state, 2.0 * sizeof(Logit) * given.elements(),
            {[&] { apply_bitmask_inplace(Space(), given.logits, rows, words); },
             [&] { restore(source, given.logits); }},
            rivals);
}

template <LogitType Logit>
void register_type() {
  for (const std::int64_t v : vocabularies) {
    for (const std::int64_t n : row_counts) {
      register_timed(case_name("bitmask", type_name<Logit>(), n, v), n * v,
                     [=](benchmark::State& state) { bitmask<Logit>(state, n, v); });
    }
  }
}

}  // namespace

void register_bitmask() {
  register_type<float>();
  register_type<bfloat16>();
  register_type<float16>();
}

}  // namespace tokkos::bench
