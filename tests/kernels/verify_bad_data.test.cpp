// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What both verification rules do with data that only the device sees: a status bit on that tree,
// no write outside the arrays, no hang, and no other tree changes.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 40;
constexpr int by_seed_rule = -1;  // instead of a number of shared sums
constexpr float largest_uniform = 1.0f - 0x1p-24f;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Five trees root -> {a, b}, a -> c. Uniforms are set so that every node but those of tree 2 is
/// decided at random.
struct Fixture {
  VerifyCase data;
  int root, a, b, c;  // of tree 2
  static constexpr int tree = 2;

  Fixture() {
    std::mt19937_64 random(11);
    data.vocabulary = vocabulary;
    for (int t = 0; t < 5; ++t) {
      const int r = data.add_node(-1, -1, nan);
      const int first = data.add_node(r, 3, random_uniform(random));
      const int second = data.add_node(r, 5, random_uniform(random));
      const int third = data.add_node(first, 7, random_uniform(random));
      if (t == tree) root = r, a = first, b = second, c = third;
      for (const int node : {r, first, second, third}) {
        fill_random_distribution(data.draft_row(node), random);
        fill_random_distribution(data.model_row(node), random);
      }
    }
  }

  /// Makes the decision at `node` certain.
  void accept(int node) { data.uniforms[node] = 0; }
  void reject(int node) {
    const int parent = node == c ? a : root;
    data.model_row(parent)[data.draft_tokens[node]] = 0;
    data.uniforms[node] = largest_uniform;
  }
};

struct BadData {
  std::string name;
  std::function<void(Fixture&)> plant;
  std::int32_t status;
  std::function<int(const Fixture&)> last;  // last accepted node
  bool usable = false;                      // whether a bonus token is drawn
};

const auto at_root = [](const Fixture& f) { return f.root; };
const auto at_a = [](const Fixture& f) { return f.a; };
const auto at_b = [](const Fixture& f) { return f.b; };

BadData bad_token(std::int32_t token) {
  return {"draft token " + std::to_string(token),
          [token](Fixture& f) {
            f.accept(f.a), f.accept(f.b);
            f.data.draft_tokens[f.a] = token;
          },
          RowStatus::invalid_draft, at_b, true};
}

BadData bad_first_child(std::int32_t index) {
  return {"first child " + std::to_string(index),
          [index](Fixture& f) {
            f.accept(f.a);
            f.data.first_child[f.a] = index;
          },
          RowStatus::broken_tree, at_a};
}

BadData bad_next_sibling(std::int32_t index) {
  return {"next sibling " + std::to_string(index),
          [index](Fixture& f) {
            f.reject(f.a);
            f.data.next_sibling[f.a] = index;
          },
          RowStatus::broken_tree, at_root};
}

BadData bad_model_prob(float p) {
  return {"model probability " + std::to_string(p),
          [p](Fixture& f) { f.data.model_row(f.root)[f.data.draft_tokens[f.a]] = p; },
          RowStatus::invalid_probability, at_root};
}

BadData bad_draft_prob(float q) {
  return {"draft probability " + std::to_string(q),
          [q](Fixture& f) { f.data.draft_row(f.a)[f.data.draft_tokens[f.a]] = q; },
          RowStatus::invalid_probability, at_root};
}

BadData bad_residual(bool of_model, float value) {
  return {(of_model ? "model row has " : "draft row has ") + std::to_string(value),
          [=](Fixture& f) {
            f.reject(f.a);
            (of_model ? f.data.model_row(f.root) : f.data.draft_row(f.a))[vocabulary - 1] = value;
          },
          RowStatus::invalid_probability, at_root};
}

std::vector<BadData> all_bad_data() {
  constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  std::vector<BadData> all;
  for (const std::int32_t token : {-1, -2, vocabulary, vocabulary + 1, largest, -largest - 1})
    all.push_back(bad_token(token));
  for (const std::int32_t index : {-2, 20, 21, largest, -largest - 1}) {
    all.push_back(bad_first_child(index));
    all.push_back(bad_next_sibling(index));
  }
  for (const float p : {nan, -0.5f, 1.01f, infinity, -infinity}) {
    all.push_back(bad_model_prob(p));
    all.push_back(bad_draft_prob(p));
    all.push_back(bad_residual(true, p));
    all.push_back(bad_residual(false, p));
  }
  all.push_back({"NaN uniform", [](Fixture& f) { f.data.uniforms[f.a] = nan; },
                 RowStatus::invalid_parameter, at_root});
  return all;
}

void check_neighbours(const Verified& bad, const Verified& good, bool lossless) {
  const std::size_t row = static_cast<std::size_t>(vocabulary) * 4;  // nodes of a tree
  for (std::size_t b = 0; b < 5; ++b) {
    if (b == Fixture::tree) continue;
    CHECK(bad.parent_ptr[b] == good.parent_ptr[b]);
    CHECK(bad.status[b] == good.status[b]);
    if (lossless) CHECK(bad.bonus_tokens[b] == good.bonus_tokens[b]);
    CHECK(same_bits(std::span(bad.model_probs).subspan(b * row, row),
                    std::span(good.model_probs).subspan(b * row, row)));
  }
}

template <class ExecutionSpace>
Verified run(const VerifyCase& data, bool lossless) {
  VerifyCaseOnDevice<ExecutionSpace> on_device(data, 4);
  return lossless ? on_device.lossless(ExecutionSpace()) : on_device.by_seed_rule(ExecutionSpace());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bad data in a tree sets its status and changes no other tree", "[verify]",
                        ExecutionSpaces) {
  const bool lossless = GENERATE(true, false);
  const Verified good = run<TestType>(Fixture().data, lossless);
  CHECK(good.status == std::vector<std::int32_t>(5, 0));
  for (const BadData& bad : all_bad_data()) {
    CAPTURE(lossless, bad.name);
    Fixture fixture;
    bad.plant(fixture);
    const Verified verified = run<TestType>(fixture.data, lossless);
    CHECK(verified.guards_intact);
    CHECK(verified.status[Fixture::tree] == bad.status);
    CHECK(verified.parent_ptr[Fixture::tree] == bad.last(fixture));
    if (lossless && !bad.usable) CHECK(verified.bonus_tokens[Fixture::tree] == -1);
    check_neighbours(verified, good, lossless);
  }
}

TEMPLATE_LIST_TEST_CASE("an invalid probability or uniform empties the row in place", "[verify]",
                        ExecutionSpaces) {
  const bool of_uniform = GENERATE(false, true);
  Fixture fixture;
  if (of_uniform) {
    fixture.data.uniforms[fixture.a] = nan;
  } else {
    bad_model_prob(nan).plant(fixture);
  }
  const Verified verified = run<TestType>(fixture.data, false);
  const auto row = std::span(verified.model_probs)
                       .subspan(fixture.data.offset(fixture.root), fixture.data.width());
  CHECK(std::ranges::count(row, 0.0f) == vocabulary);
}

TEMPLATE_LIST_TEST_CASE("a draft row above 1 in all leaves no residual that is a distribution",
                        "[verify]", ExecutionSpaces) {
  // The model's row sums to 1.5: without the draft more than 1 is left.
  Fixture fixture;
  fixture.reject(fixture.a);
  const auto row = fixture.data.model_row(fixture.root);
  std::ranges::fill(row, 0.0f);
  row[9] = row[10] = 0.75f;
  std::ranges::fill(fixture.data.draft_row(fixture.a), 0.0f);
  fixture.data.draft_row(fixture.a)[fixture.data.draft_tokens[fixture.a]] = 1.0f;
  const Verified verified = run<TestType>(fixture.data, true);
  CHECK(verified.status[Fixture::tree] == RowStatus::invalid_probability);
  CHECK(verified.bonus_tokens[Fixture::tree] == -1);
}

TEMPLATE_LIST_TEST_CASE("trees that wrongly share nodes end within the arrays", "[verify]",
                        ExecutionSpaces) {
  const bool lossless = GENERATE(true, false);
  Fixture fixture;
  fixture.data.roots.assign(64, fixture.root);
  fixture.data.bonus_uniforms.assign(64, 0.5f);
  const Verified verified = run<TestType>(fixture.data, lossless);
  CHECK(verified.guards_intact);
  for (const std::int32_t node : verified.parent_ptr) {
    CHECK((node == fixture.root || node == fixture.a || node == fixture.b || node == fixture.c));
  }
}

TEMPLATE_LIST_TEST_CASE("trees that wrongly share nodes change no other tree", "[verify]",
                        ExecutionSpaces) {
  const int sums = GENERATE(by_seed_rule, 0, shared_sums);
  const bool lossless = sums != by_seed_rule;
  const Verified good = run<TestType>(Fixture().data, lossless);
  Fixture fixture;
  SECTION("a child of two trees") {
    fixture.data.first_child[fixture.b] = fixture.data.roots[3] + 1;
    fixture.reject(fixture.a), fixture.accept(fixture.b);
  }
  SECTION("one tree as a child of another") {
    fixture.data.first_child[fixture.root] = fixture.data.roots[3];
  }
  SECTION("one tree twice") {
    fixture.data.roots[3] = fixture.root;
  }
  VerifyCaseOnDevice<TestType> on_device(fixture.data, 4);
  const Verified verified = lossless ? on_device.verify(TestType(), on_device.trees(), sums)
                                     : on_device.by_seed_rule(TestType());
  CHECK(verified.guards_intact);
  for (const std::size_t b : {0, 1, 4}) {
    CHECK(verified.parent_ptr[b] == good.parent_ptr[b]);
    CHECK(verified.status[b] == good.status[b]);
    if (lossless) CHECK(verified.bonus_tokens[b] == good.bonus_tokens[b]);
  }
}

TEMPLATE_LIST_TEST_CASE("a draft outside the vocabulary counts as if it were not there", "[verify]",
                        ExecutionSpaces) {
  Fixture with, without;
  with.data.draft_tokens[with.a] = vocabulary;
  without.data.first_child[without.root] = without.b;
  const float u = GENERATE(0.0f, 0.25f, 0.5f, 0.75f);
  for (Fixture* f : {&with, &without}) {
    f->reject(f->b);
    f->data.bonus_uniforms.assign(5, u);
  }
  const Verified verified = run<TestType>(with.data, true);
  const Verified expected = run<TestType>(without.data, true);
  CHECK(verified.bonus_tokens == expected.bonus_tokens);
  CHECK(verified.parent_ptr == expected.parent_ptr);
  CHECK(verified.status[Fixture::tree] == RowStatus::invalid_draft);
}

TEMPLATE_LIST_TEST_CASE("a root out of range breaks its tree alone", "[verify]", ExecutionSpaces) {
  const bool lossless = GENERATE(true, false);
  const std::int32_t root = GENERATE(-1, -7, 20, 1000000, std::numeric_limits<int>::max());
  const Verified good = run<TestType>(Fixture().data, lossless);
  Fixture fixture;
  fixture.data.roots[Fixture::tree] = root;
  const Verified verified = run<TestType>(fixture.data, lossless);
  CHECK(verified.guards_intact);
  CHECK(verified.status[Fixture::tree] == RowStatus::broken_tree);
  if (lossless) CHECK(verified.bonus_tokens[Fixture::tree] == -1);
  check_neighbours(verified, good, lossless);
}

TEMPLATE_LIST_TEST_CASE("a cycle ends after a bounded number of steps", "[verify]",
                        ExecutionSpaces) {
  const bool lossless = GENERATE(true, false);
  const bool of_children = GENERATE(true, false);
  const Verified good = run<TestType>(Fixture().data, lossless);
  Fixture fixture;
  if (of_children) {  // a -> c -> a, accepted for ever
    fixture.accept(fixture.a), fixture.accept(fixture.c);
    fixture.data.first_child[fixture.c] = fixture.a;
  } else {  // a, b, a, ... rejected for ever
    fixture.reject(fixture.a), fixture.reject(fixture.b);
    fixture.data.next_sibling[fixture.b] = fixture.a;
  }
  const Verified verified = run<TestType>(fixture.data, lossless);
  CHECK(verified.guards_intact);
  CHECK((verified.status[Fixture::tree] & RowStatus::broken_tree) != 0);
  if (lossless) {
    CHECK(verified.bonus_tokens[Fixture::tree] == -1);
    // One step for each of the batch's nodes.
    CHECK(verified.accepted[Fixture::tree] == (of_children ? 20 : 0));
  }
  check_neighbours(verified, good, lossless);
}

TEMPLATE_LIST_TEST_CASE("a cycle ends after as many steps where the walk waited for sums",
                        "[verify]", ExecutionSpaces) {
  // root -> a -> {b, c}, c -> a: b is rejected in every round, by a sum.
  Fixture fixture;
  VerifyCase& data = fixture.data;
  data.next_sibling[fixture.a] = -1;
  data.first_child[fixture.a] = fixture.b;
  data.next_sibling[fixture.b] = fixture.c;
  data.first_child[fixture.c] = fixture.a;
  fixture.accept(fixture.a), fixture.accept(fixture.c);
  data.model_row(fixture.a)[data.draft_tokens[fixture.b]] = 0;
  data.uniforms[fixture.b] = largest_uniform;
  std::ranges::fill(data.draft_row(fixture.b), 0.0f);
  data.draft_row(fixture.b)[data.draft_tokens[fixture.b]] = 1.0f;
  VerifyCaseOnDevice<TestType> on_device(data);
  const Verified verified =
      on_device.lossless(TestType(), on_device.trees(), {1, 2, 3, shared_sums, 30});
  CHECK(verified.status[Fixture::tree] == RowStatus::broken_tree);
  // In 20 steps: a, six times b, c, a, and b once more.
  CHECK(verified.accepted[Fixture::tree] == 13);
  CHECK(verified.guards_intact);
}

TEMPLATE_LIST_TEST_CASE("the bonus row is checked before a token is drawn from it", "[verify]",
                        ExecutionSpaces) {
  Fixture fixture;
  fixture.accept(fixture.a), fixture.accept(fixture.c);
  const auto row = fixture.data.model_row(fixture.c);
  SECTION("nothing allowed") {
    std::ranges::fill(row, 0.0f);
    const Verified verified = run<TestType>(fixture.data, true);
    CHECK(verified.status[Fixture::tree] == RowStatus::empty);
    CHECK(verified.bonus_tokens[Fixture::tree] == -1);
    CHECK(verified.accepted[Fixture::tree] == 2);
  }
  SECTION("not a distribution") {
    const float value = GENERATE(nan, -0.1f, 2.0f, 0.5f);
    std::ranges::fill(row, 0.0f);
    row[9] = value;
    const Verified verified = run<TestType>(fixture.data, true);
    CHECK(verified.status[Fixture::tree] == RowStatus::invalid_probability);
    CHECK(verified.bonus_tokens[Fixture::tree] == -1);
  }
  SECTION("NaN uniform") {
    fixture.data.bonus_uniforms[Fixture::tree] = nan;
    const Verified verified = run<TestType>(fixture.data, true);
    CHECK(verified.status[Fixture::tree] == RowStatus::invalid_parameter);
    CHECK(verified.bonus_tokens[Fixture::tree] == -1);
  }
}

}  // namespace tokkos::test
