// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// verify_lossless/..., verify_seed/...: draft trees of one dense draft each, which is rejected, so
// that a residual is made (and, by the lossless rule, a bonus token drawn from it); beside reading
// the two rows twice. `rows` is the number of trees.

#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include "baselines/memory.hpp"
#include "inputs.hpp"
#include "register.hpp"

#include <vector>

namespace tokkos::bench {

namespace {

/// The draft's token gets target probability 0: it is rejected for every uniform.
void reject_token_0(const Rows<float>& model) {
  Kokkos::parallel_for(
      "tokkos::bench::reject", Kokkos::RangePolicy<Space>(0, static_cast<int>(model.extent(0))),
      KOKKOS_LAMBDA(const int node) { model(node, 0) = 0.0f; });
}

/// `batch` trees, each a root (node 2b) and its only draft (node 2b + 1).
struct Drafts {
  Rows<float> model, draft;
  Numbers<std::int32_t> tokens, first_child, next_sibling, roots, accepted, bonus;
  Numbers<float> uniforms, bonus_uniforms, sums;

  Drafts(std::int64_t batch, std::int64_t vocabulary)
      : model(make_probabilities(2 * batch, vocabulary, 1)),
        draft(make_probabilities(2 * batch, vocabulary, 2)),
        tokens("tokkos::bench::tokens", 2 * batch),
        first_child("tokkos::bench::first_child", 2 * batch),
        next_sibling("tokkos::bench::next_sibling", 2 * batch),
        roots("tokkos::bench::roots", batch),
        accepted("tokkos::bench::accepted", batch),
        bonus("tokkos::bench::bonus", batch),
        uniforms("tokkos::bench::uniforms", 2 * batch),
        bonus_uniforms(make_uniforms(batch)),
        sums("tokkos::bench::sums", 2 * batch) {
    Kokkos::deep_copy(next_sibling, -1);
    Kokkos::deep_copy(uniforms, 1.0f - 0x1p-24f);
    const auto children = Kokkos::create_mirror_view(first_child);
    for (std::int64_t b = 0; b < batch; ++b) {
      children(2 * b) = static_cast<std::int32_t>(2 * b + 1);
      children(2 * b + 1) = -1;
    }
    Kokkos::deep_copy(first_child, children);
    reject_token_0(model);
    rewind();
  }

  /// The walks start at the roots again.
  void rewind() const {
    const Numbers<std::int32_t> at = roots;
    Kokkos::parallel_for(
        "tokkos::bench::rewind", Kokkos::RangePolicy<Space>(0, static_cast<int>(at.extent(0))),
        KOKKOS_LAMBDA(const int b) { at(b) = 2 * b; });
  }
};

/// Reads the root's target row and the draft's row of every tree twice.
void read_twice(const Drafts& drafts, const Number& result) {
  for (int i = 0; i < 2; ++i) {
    read_alternate_rows(Space(), drafts.model, 0, result);
    read_alternate_rows(Space(), drafts.draft, 1, result);
  }
}

void verify(benchmark::State& state, std::int64_t batch, std::int64_t vocabulary, bool lossless) {
  const Drafts drafts(batch, vocabulary);
  const Number maximum("tokkos::bench::maximum");
  const Rows<float> source("tokkos::bench::model", lossless ? 0 : 2 * batch, vocabulary);
  if (!lossless) restore(drafts.model, source);
  const Space space;
  const auto by_lossless_rule = [&] {
    verify_draft_trees(space,
                       DraftDistributions<Memory>{drafts.draft, drafts.tokens, drafts.model,
                                                  drafts.uniforms, drafts.bonus_uniforms},
                       TokenTrees<Memory>{drafts.first_child, drafts.next_sibling, drafts.roots},
                       VerifiedTrees<Memory>{drafts.accepted, drafts.bonus, drafts.sums, {}});
  };
  const auto by_seed_rule = [&] {
    batch_spec_verify(space, drafts.draft, drafts.tokens, drafts.model, drafts.first_child,
                      drafts.next_sibling, drafts.uniforms, drafts.roots);
  };
  const auto again = [&] {
    drafts.rewind();
    if (!lossless) restore(source, drafts.model);
  };
  const double bytes = 4.0 * sizeof(float) * static_cast<double>(batch * vocabulary);
  const Rival rival{"two_reads_ratio", false, {[&] { read_twice(drafts, maximum); }}};
  if (lossless) {
    run_timed(state, bytes, {by_lossless_rule, again}, {rival});
  } else {
    run_timed(state, bytes, {by_seed_rule, again}, {rival});
  }
}

}  // namespace

void register_verify() {
  for (const std::int64_t v : vocabularies) {
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
      for (const bool lossless : {true, false}) {
        register_timed(case_name(lossless ? "verify_lossless" : "verify_seed", "float32", batch, v),
                       4 * batch * v,
                       [=](benchmark::State& state) { verify(state, batch, v, lossless); });
      }
    }
  }
}

}  // namespace tokkos::bench
