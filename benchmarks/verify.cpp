// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// verify/type/trees/vocabulary/variant, with these variants:
//
// dense_one_rejection, seed_one_rejection: draft trees of one dense draft each, which is rejected,
// so that a residual is made (and, by the lossless rule, a bonus token drawn from it); beside
// reading the two rows twice.
//
// one_hot_walk, one_hot_bonus: trees of four levels of three drafts that were chosen, not drawn: of
// each level's siblings two are rejected and the third is accepted. To the walk bad data comes
// where the bonus token would be drawn, so that it takes what the drafts alone cost; it is timed
// beside the same walk in a vocabulary of 32000. The other has one more draft, which is rejected,
// and the token drawn.

#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/chunk.hpp>

#include "baselines/memory.hpp"
#include "inputs.hpp"
#include "register.hpp"

#include <limits>
#include <vector>

namespace tokkos::bench {

namespace {

/// The draft's token gets target probability 0: it is rejected for every uniform.
void reject_token_0(const Rows<float>& model) {
  Kokkos::parallel_for(
      "tokkos::bench::reject", Kokkos::RangePolicy<Space>(0, static_cast<int>(model.extent(0))),
      KOKKOS_LAMBDA(const int node) { model(node, 0) = 0.0f; });
}

/// Scratch with which a verification shares few trees, as the engine's DraftVerifier does.
struct SharedScratch {
  Kokkos::View<PausedWalk*, Memory> paused;
  Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Memory> chunk_masses;

  SharedScratch(std::int64_t batch, std::int64_t vocabulary) {
    if (!shares_trees(Space(), batch, vocabulary)) return;
    paused = {"tokkos::bench::paused", static_cast<std::size_t>(batch)};
    chunk_masses = {"tokkos::bench::chunk_masses", static_cast<std::size_t>(batch),
                    static_cast<std::size_t>(shared_sums * chunk_count(vocabulary))};
  }

  template <class Trees>
  VerifiedTrees<Memory> result(const Trees& trees) const {
    return {trees.accepted, trees.bonus, trees.sums, {}, {}, paused, chunk_masses};
  }
};

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

void verify(benchmark::State& state, std::int64_t batch, std::int64_t vocabulary, bool lossless) {
  const Drafts drafts(batch, vocabulary);
  const SharedScratch shared_scratch(batch, vocabulary);
  const Number maximum("tokkos::bench::maximum");
  const Rows<float> source("tokkos::bench::model", lossless ? 0 : 2 * batch, vocabulary);
  if (!lossless) restore(drafts.model, source);
  const Space space;
  const auto by_lossless_rule = [&] {
    verify_draft_trees(space,
                       DraftDistributions<Memory>{drafts.draft, drafts.tokens, drafts.model,
                                                  drafts.uniforms, drafts.bonus_uniforms},
                       TokenTrees<Memory>{drafts.first_child, drafts.next_sibling, drafts.roots},
                       shared_scratch.result(drafts));
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
  const Rival rival{"two_reads_ratio", false, {[&] {
                      read_pairs_twice(space, drafts.model, drafts.draft, maximum);
                    }}};
  if (lossless) {
    run_timed(state, bytes, {by_lossless_rule, again}, {rival});
  } else {
    run_timed(state, bytes, {by_seed_rule, again}, {rival});
  }
}

/// What other vocabularies are compared with where the cost must not depend on them.
constexpr std::int64_t smallest_vocabulary = 32000;

/// Trees of one-hot drafts.
struct ChosenDrafts {
  static constexpr int levels = 4, siblings = 3;
  static constexpr int nodes_per_tree = 1 + levels * siblings + 1;
  std::int64_t batch;
  Rows<float> model;
  Numbers<std::int32_t> tokens, first_child, next_sibling, accepted, bonus;
  Rows<std::int32_t> roots;  ///< [walks, batch]: a walk leaves its own where it ended
  Numbers<float> uniforms, bonus_uniforms, sums;
  SharedScratch shared_scratch;

  ChosenDrafts(std::int64_t batch_size, std::int64_t vocabulary, bool draws_bonus,
               std::int64_t walks)
      : batch(batch_size),
        model(make_probabilities(batch * nodes_per_tree, vocabulary, 1)),
        tokens("tokkos::bench::tokens", batch * nodes_per_tree),
        first_child("tokkos::bench::first_child", batch * nodes_per_tree),
        next_sibling("tokkos::bench::next_sibling", batch * nodes_per_tree),
        accepted("tokkos::bench::accepted", batch),
        bonus("tokkos::bench::bonus", batch),
        roots("tokkos::bench::roots", walks, batch),
        uniforms("tokkos::bench::uniforms", batch * nodes_per_tree),
        bonus_uniforms(make_uniforms(batch)),
        sums("tokkos::bench::sums", batch * nodes_per_tree),
        shared_scratch(batch, vocabulary) {
    const auto token = Kokkos::create_mirror_view(tokens);
    const auto first = Kokkos::create_mirror_view(first_child);
    const auto next = Kokkos::create_mirror_view(next_sibling);
    const auto uniform = Kokkos::create_mirror_view(uniforms);
    Kokkos::deep_copy(first, -1);
    Kokkos::deep_copy(next, -1);
    for (std::int64_t b = 0; b < batch; ++b) {
      const auto root = static_cast<std::int32_t>(b * nodes_per_tree);
      std::int32_t parent = root;
      for (int level = 0; level < levels; ++level) {
        const std::int32_t child = root + 1 + level * siblings;
        first(parent) = child;
        for (int i = 0; i < siblings; ++i) {
          token(child + i) = i;
          uniform(child + i) = i + 1 < siblings ? 1.0f - 0x1p-24f : 0.0f;
          next(child + i) = i + 1 < siblings ? child + i + 1 : -1;
        }
        parent = child + siblings - 1;
      }
      const std::int32_t last = root + nodes_per_tree - 1;
      first(parent) = last;
      uniform(last) = draws_bonus ? 1.0f - 0x1p-24f : std::numeric_limits<float>::quiet_NaN();
    }
    Kokkos::deep_copy(tokens, token);
    Kokkos::deep_copy(first_child, first);
    Kokkos::deep_copy(next_sibling, next);
    Kokkos::deep_copy(uniforms, uniform);
    rewind();
  }

  /// Every walk starts at the roots again.
  void rewind() const {
    const Rows<std::int32_t> at = roots;
    const auto trees = static_cast<int>(batch);
    Kokkos::parallel_for(
        "tokkos::bench::rewind", Kokkos::RangePolicy<Space>(0, static_cast<int>(at.size())),
        KOKKOS_LAMBDA(const int i) { at(i / trees, i % trees) = i % trees * nodes_per_tree; });
  }

  /// All walks, one launch after the other.
  void verify(const Space& space) const {
    DraftDistributions<Memory> given;
    given.draft_tokens = tokens;
    given.model_probs = model;
    given.uniforms = uniforms;
    given.bonus_uniforms = bonus_uniforms;
    for (std::size_t walk = 0; walk < roots.extent(0); ++walk) {
      const Numbers<std::int32_t> own = Kokkos::subview(roots, walk, Kokkos::ALL);
      verify_draft_trees(space, given, TokenTrees<Memory>{first_child, next_sibling, own},
                         shared_scratch.result(*this));
    }
  }

  double accepted_drafts() const {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), accepted)(0);
  }
};

void verify_with_bonus(benchmark::State& state, std::int64_t batch, std::int64_t vocabulary) {
  const ChosenDrafts drafts(batch, vocabulary, true, 1);
  const Number maximum("tokkos::bench::maximum");
  const Rows<float> last_rows("tokkos::bench::last_rows", batch, vocabulary);
  const Rival reads{"two_reads_ratio", false, {[&] {
                      for (int i = 0; i < 2; ++i) read_rows(Space(), last_rows, maximum);
                    }}};
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(batch * vocabulary);
  run_timed(state, bytes, {[&] { drafts.verify(Space()); }, [&] { drafts.rewind(); }}, {reads});
  state.counters["accepted_drafts"] = drafts.accepted_drafts();
}

/// A walk takes a few microseconds: a run is many of them.
void verify_walk(benchmark::State& state, std::int64_t batch, std::int64_t vocabulary) {
  constexpr std::int64_t walks = 32;
  const ChosenDrafts drafts(batch, vocabulary, false, walks);
  const ChosenDrafts few_tokens(batch, smallest_vocabulary, false, walks);
  const auto timed = [](const ChosenDrafts& of) {
    return Timed{[&of] { of.verify(Space()); }, [&of] { of.rewind(); }};
  };
  // The probability of each draft is all that is read of the rows.
  const double bytes = sizeof(float) * static_cast<double>(walks * batch * ChosenDrafts::levels *
                                                           ChosenDrafts::siblings);
  run_timed(state, bytes, timed(drafts), {{"small_vocabulary_ratio", false, timed(few_tokens)}});
  state.counters["walks"] = static_cast<double>(walks);
  state.counters["accepted_drafts"] = drafts.accepted_drafts();
}

}  // namespace

void register_verify() {
  for (const std::int64_t v : vocabularies) {
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
      for (const bool lossless : {true, false}) {
        const char* variant = lossless ? "dense_one_rejection" : "seed_one_rejection";
        register_timed(case_name("verify", "float32", batch, v, variant), 4 * batch * v,
                       [=](benchmark::State& state) { verify(state, batch, v, lossless); });
      }
    }
  }
  for (const std::int64_t v : {smallest_vocabulary, std::int64_t{128256}, std::int64_t{262144}}) {
    for (const std::int64_t batch : {1, 16}) {
      register_timed(case_name("verify", "float32", batch, v, "one_hot_bonus"), 2 * batch * v,
                     [=](benchmark::State& state) { verify_with_bonus(state, batch, v); });
      register_timed(case_name("verify", "float32", batch, v, "one_hot_walk"), 2 * batch * v,
                     [=](benchmark::State& state) { verify_walk(state, batch, v); });
    }
  }
}

}  // namespace tokkos::bench
