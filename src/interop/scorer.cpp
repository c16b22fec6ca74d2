// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/tokkos.h>

#include "interop/context.hpp"
#include "interop/engine_parts.hpp"
#include "interop/handle.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"

#include <memory>
#include <utility>

using namespace tokkos::interop;

struct tokkos_scorer : Object {
  explicit tokkos_scorer(std::unique_ptr<ScorerPart> made) : part(std::move(made)) {}
  std::unique_ptr<ScorerPart> part;
};

void tokkos_score_init(tokkos_score* score, size_t size) {
  initialize_struct(score, size, tokkos_score{});
}

tokkos_status tokkos_scorer_create(const tokkos_context* context, const tokkos_limits* limits,
                                   tokkos_scorer** scorer) {
  return guarded([&] {
    checked_result("scorer", scorer) = nullptr;
    const tokkos_context& alive = live("context", context);
    create(scorer, alive.backend->make_scorer(Limits::of(limits)));
  });
}

tokkos_status tokkos_scorer_destroy(tokkos_scorer* scorer) {
  return guarded([&] { destroy("scorer", scorer); });
}

tokkos_status tokkos_scorer_score(tokkos_scorer* scorer, const tokkos_array* logits,
                                  const tokkos_score* score) {
  return guarded([&] {
    const tokkos_scorer& alive = live("scorer", scorer);
    alive.part->score(logits, read_struct("score", score, tokkos_score{}));
  });
}
