// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Arrays of draft trees that say that they have elements, and have no memory.
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/kernels/verify_greedy.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr std::size_t nodes = 3, width = 40;

/// A tree of a root and two children, by each of the three verifications.
template <class Space>
struct TreeBench {
  using Memory = MemoryOf<Space>;
  using Ints = std::vector<std::int32_t>;
  using Indices = IndexVector<Memory>;

  Space space;
  std::vector<float> even = std::vector<float>(nodes * width, 0.025f);
  Guarded<float, Memory> draft{nodes, width, 1, even}, model{nodes, width, 2, even};
  Guarded<std::int32_t, Memory> given_tokens{Ints{0, 3, 5}}, first{Ints{1, -1, -1}},
      next{Ints{-1, 2, -1}}, rows{Ints{-1, 1, 2}};
  Guarded<std::int32_t, Memory> roots{Ints{0}}, status{1}, accepted{1}, bonus{1};
  Guarded<float, Memory> given_uniforms{std::vector<float>{0.5f, 0.5f, 0.5f}},
      given_bonus_uniforms{std::vector<float>{0.5f}}, sums{nodes}, temperature{1};

  Indices tokens{given_tokens.vector()}, draft_row{rows.vector()};
  TokenTrees<Memory> trees{first.vector(), next.vector(), roots.vector()};
  Vector<const float, Memory> uniforms = given_uniforms.vector();
  Vector<const float, Memory> bonus_uniforms = given_bonus_uniforms.vector();

  void by_seed_rule() {
    batch_spec_verify(space, Matrix<const float, Memory>(draft.matrix()), tokens, model.matrix(),
                      trees, uniforms, status.vector(), draft_row);
  }
  void lossless() {
    DraftDistributions<Memory> drafts;
    drafts.draft_probs = draft.matrix();
    drafts.draft_tokens = tokens;
    drafts.model_probs = model.matrix();
    drafts.uniforms = uniforms;
    drafts.bonus_uniforms = bonus_uniforms;
    drafts.draft_row = draft_row;
    verify_draft_trees(
        space, drafts, trees,
        VerifiedTrees<Memory>{accepted.vector(), bonus.vector(), sums.vector(), status.vector()});
  }
  void greedy() {
    LogitRows<float, Memory> logits;
    logits.logits = model.matrix();
    logits.temperature = temperature.vector();
    verify_greedy(space, logits, tokens, trees,
                  GreedyTrees<Memory>{accepted.vector(), bonus.vector(), status.vector()});
  }

  Bits bits() {
    Bits all;
    append(all, model.values());
    for (auto* array : {&roots, &status, &accepted, &bonus}) {
      append(all, array->values());
      CHECK(array->guards_intact());
    }
    CHECK(model.guards_intact());
    return all;
  }

  /// Sees the calls refused, with nothing written, while `view` is `bad`.
  template <class View>
  void refuses(const std::string& field, View& view, const View& bad,
               const std::vector<void (TreeBench::*)()>& calls) {
    const View good = view;
    view = bad;
    for (const auto call : calls) {
      const Bits before = bits();
      expect_refusal({field + ".data", {}, "null"}, [&] { (this->*call)(); });
      space.fence("tokkos::test::refused");
      CHECK(bits() == before);
    }
    view = good;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("arrays of draft trees without memory are refused", "[row-56]",
                        ExecutionSpaces) {
  using Bench = TreeBench<TestType>;
  using Memory = typename Bench::Memory;
  using Indices = typename Bench::Indices;
  Bench bench;
  const auto no_numbers = []<class T>(T, std::size_t extent) {
    return vector_of<const T, Memory>(nullptr, extent);
  };
  for (const Indices& bad :
       {Indices(no_numbers(std::int32_t{}, nodes)), Indices(no_numbers(std::int64_t{}, nodes))}) {
    const std::vector<void (Bench::*)()> all{&Bench::by_seed_rule, &Bench::lossless,
                                             &Bench::greedy};
    bench.refuses("draft_tokens", bench.tokens, bad, all);
    bench.refuses("token_tree_first_child", bench.trees.first_child, bad, all);
    bench.refuses("token_tree_next_sibling", bench.trees.next_sibling, bad, all);
    bench.refuses("draft_row", bench.draft_row, bad, {&Bench::by_seed_rule, &Bench::lossless});
  }
  for (const Indices& bad :
       {Indices(no_numbers(std::int32_t{}, 2)), Indices(no_numbers(std::int64_t{}, 2))}) {
    bench.refuses("tree_begin", bench.trees.tree_begin, bad,
                  {&Bench::by_seed_rule, &Bench::lossless, &Bench::greedy});
  }
  bench.refuses("token_tree_parent_ptr", bench.trees.parent_ptr,
                vector_of<std::int32_t, Memory>(nullptr, 1),
                {&Bench::by_seed_rule, &Bench::lossless, &Bench::greedy});
  bench.refuses("uniform_samples", bench.uniforms, no_numbers(0.0f, nodes),
                {&Bench::by_seed_rule, &Bench::lossless});
  bench.refuses("bonus_uniforms", bench.bonus_uniforms, no_numbers(0.0f, 1), {&Bench::lossless});
  bench.lossless();  // all is good again
  bench.space.fence("tokkos::test::verified");
  CHECK(bench.status.values() == std::vector<std::int32_t>{0});
  CHECK(bench.accepted.values()[0] == 1);
}

}  // namespace tokkos::test
