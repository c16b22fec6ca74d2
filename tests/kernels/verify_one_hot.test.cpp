// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Drafts that were chosen, not drawn: no row is stored or read, and the outcome is that of a row
// with 1 at the token.
#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/one_hot_drafts.hpp"

namespace tokkos::test {
namespace {

constexpr float largest_uniform = 1.0f - 0x1p-24f;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

LosslessOutcome outcome_of(const Verified& verified) {
  return {verified.parent_ptr, verified.accepted, verified.bonus_tokens, verified.status};
}

bool every_node(int) {
  return true;
}
bool odd_nodes(int node) {
  return node % 2 == 1;
}

/// A child's mass among what earlier siblings, all rejected, leave; in double.
double threshold_of(const VerifyCase& c, int parent, int child) {
  std::vector<bool> gone(c.width(), false);
  double rest = 1;
  for (int s = c.first_child[parent]; s != child; s = c.next_sibling[s]) {
    if (gone[c.draft_tokens[s]]) continue;
    gone[c.draft_tokens[s]] = true;
    rest -= c.model_row(parent)[c.draft_tokens[s]];
  }
  const std::int32_t token = c.draft_tokens[child];
  return gone[token] || rest <= 0 ? 0 : c.model_row(parent)[token] / rest;
}

/// Moves uniforms to where a decision by estimate is hardest: at the threshold and around it.
void move_to_thresholds(VerifyCase& c, std::mt19937_64& random) {
  const double factors[] = {0.95, 0.975, 0.985, 1 - 0x1p-23, 1, 1 + 0x1p-23, 1.015, 1.025, 1.05, 2};
  for (int parent = 0; parent < c.nodes(); ++parent) {
    for (int child = c.first_child[parent]; child != -1; child = c.next_sibling[child]) {
      const double factor = factors[random() % 10];
      const auto u = static_cast<float>(threshold_of(c, parent, child) * factor);
      c.uniforms[child] = std::clamp(u, 0.0f, largest_uniform);
    }
  }
}

template <class ExecutionSpace>
void check_same(const VerifyCase& dense, const VerifyCase& stored) {
  const ExecutionSpace space;
  const Verified by_rows = VerifyCaseOnDevice<ExecutionSpace>(dense, 3).lossless(space);
  const Verified one_hot = VerifyCaseOnDevice<ExecutionSpace>(stored, 3).lossless(space);
  CHECK(outcome_of(one_hot) == outcome_of(by_rows));
  CHECK(same_bits(one_hot.model_probs, stored.model_probs));
  CHECK(one_hot.guards_intact);
  const Verified seed_by_rows = VerifyCaseOnDevice<ExecutionSpace>(dense, 3).by_seed_rule(space);
  const Verified seed_one_hot = VerifyCaseOnDevice<ExecutionSpace>(stored, 3).by_seed_rule(space);
  CHECK(seed_one_hot.parent_ptr == seed_by_rows.parent_ptr);
  CHECK(seed_one_hot.status == seed_by_rows.status);
  CHECK(same_bits(seed_one_hot.model_probs, seed_by_rows.model_probs));
  CHECK(seed_one_hot.guards_intact);
}

/// A root with children for the tokens 0, 1, ...; the target's row and the uniforms are given.
VerifyCase siblings(std::vector<float> p, const std::vector<float>& uniforms) {
  VerifyCase c;
  c.vocabulary = static_cast<int>(p.size());
  const int root = c.add_node(-1, -1, nan);
  std::ranges::copy(p, c.model_row(root).begin());
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    const int child = c.add_node(root, static_cast<std::int32_t>(i), uniforms[i]);
    c.model_row(child).back() = 1;
  }
  c.draft_probs.clear();
  return c;
}

template <class ExecutionSpace>
Verified verify(const VerifyCase& c) {
  return VerifyCaseOnDevice<ExecutionSpace>(c).lossless(ExecutionSpace());
}

template <class ExecutionSpace>
void check_by_reference(const VerifyCase& c) {
  VerifyCase rows = c;
  rows.draft_probs.assign(c.model_probs.size(), 0.0f);
  CHECK(outcome_of(verify<ExecutionSpace>(c)) ==
        verify_lossless(with_one_hot_rows(rows, every_node)));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("one-hot drafts have the outcome of rows with 1 at the token", "[verify]",
                        ExecutionSpaces) {
  const int vocabulary = GENERATE(1, 2, 3, 33, 300, 4097, 9000);
  const bool at_thresholds = GENERATE(false, true);
  CAPTURE(vocabulary, at_thresholds);
  std::mt19937_64 random(vocabulary);
  for (int trial = 0; trial < (vocabulary > 1000 ? 3 : 20); ++trial) {
    VerifyCase c = make_bushes(20, vocabulary, 6, random());
    if (at_thresholds) move_to_thresholds(c, random);
    const VerifyCase all = with_one_hot_rows(c, every_node);
    check_same<TestType>(all, without_one_hot_rows(all, every_node));
    const VerifyCase mixed = with_one_hot_rows(c, odd_nodes);
    check_same<TestType>(mixed, without_one_hot_rows(mixed, odd_nodes));
  }
}

TEMPLATE_LIST_TEST_CASE("one-hot drafts are verified as the reference verifies rows", "[verify]",
                        ExecutionSpaces) {
  const int vocabulary = GENERATE(3, 65, 4100);
  std::mt19937_64 random(vocabulary + 1);
  VerifyCase c = make_bushes(60, vocabulary, 5, random());
  if (GENERATE(false, true)) move_to_thresholds(c, random);
  const VerifyCase rows = with_one_hot_rows(c, every_node);
  VerifyCase none = rows;
  none.draft_probs.clear();  // no rows and no draft_row: every node is one-hot
  CHECK(outcome_of(verify<TestType>(none)) == verify_lossless(rows));
}

TEMPLATE_LIST_TEST_CASE(
    "many one-hot siblings, and unlikely ones, are verified as the reference does", "[verify]",
    ExecutionSpaces) {
  // More siblings are rejected than are left unsummed; then one may be accepted by their sum alone.
  std::vector<float> p(1300, 0.4f / 1200);
  std::fill(p.begin() + 1200, p.end(), 0.006f);
  for (const float last : {0.0f, 0.0005f, 0.5f, largest_uniform}) {
    std::vector<float> uniforms(1199, largest_uniform);
    uniforms.push_back(last);
    check_by_reference<TestType>(siblings(p, uniforms));
  }
  // A mass whose rounding is relative no more decides by the sum.
  for (const float unlikely : {1e-29f, 1e-31f, 1e-38f, 1e-40f}) {
    for (const float u : {0.0f, 0x1p-24f, 0.5f, largest_uniform}) {
      CAPTURE(unlikely, u);
      check_by_reference<TestType>(siblings({0.25f, unlikely, 0.75f}, {0.9f, u}));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("of its parent's row a one-hot draft reads the token's own mass alone",
                        "[verify]", ExecutionSpaces) {
  // NaN is everywhere but at the tokens of the drafts.
  const std::vector<float> p = {0.25f, 0.5f, 0.125f, nan, nan, nan};
  const Verified first = verify<TestType>(siblings(p, {0.2f}));
  CHECK(first.parent_ptr[0] == 1);
  CHECK(first.status[0] == RowStatus::ok);
  const Verified second = verify<TestType>(siblings(p, {0.5f, 0.6f}));  // 0.5 / 0.75 > 0.6
  CHECK(second.parent_ptr[0] == 2);
  CHECK(second.status[0] == RowStatus::ok);
  CHECK(second.bonus_tokens[0] == 5);
  const Verified third = verify<TestType>(siblings(p, {0.5f, 0.7f, 0.4f}));  // 0.125 / 0.25 > 0.4
  CHECK(third.parent_ptr[0] == 3);
  CHECK(third.status[0] == RowStatus::ok);
  SECTION("but all of it where the bonus token is drawn, or a decision is close") {
    const auto uniforms = GENERATE(std::vector<float>{0.5f}, std::vector<float>{0.5f, 0.66f});
    const Verified verified = verify<TestType>(siblings(p, uniforms));
    CHECK(verified.parent_ptr[0] == 0);
    CHECK(verified.status[0] == RowStatus::invalid_probability);
    CHECK(verified.bonus_tokens[0] == -1);
  }
}

TEMPLATE_LIST_TEST_CASE("a one-hot draft with an invalid probability of its own ends the walk",
                        "[verify]", ExecutionSpaces) {
  const float p = GENERATE(nan, -0.5f, 1.01f, std::numeric_limits<float>::infinity());
  const Verified verified = verify<TestType>(siblings({p, 0.5f, 0.5f}, {0.25f, 0.1f}));
  CHECK(verified.parent_ptr[0] == 0);
  CHECK(verified.status[0] == RowStatus::invalid_probability);
  CHECK(verified.bonus_tokens[0] == -1);
}

TEMPLATE_LIST_TEST_CASE("a draft whose row does not exist counts as if it were not there",
                        "[verify]", ExecutionSpaces) {
  const std::int32_t row =
      GENERATE(-2, 3, 1000000, std::numeric_limits<int>::max(), std::numeric_limits<int>::min());
  const bool lossless = GENERATE(true, false);
  std::mt19937_64 random(9);
  VerifyCase c;
  c.vocabulary = 40;
  const int root = c.add_node(-1, -1, 0.0f);
  c.add_node(root, 3, 0.0f);
  const int good = c.add_node(root, 5, 0.0f);
  for (int node = 0; node < 3; ++node) {
    fill_random_distribution(c.draft_row(node), random);
    fill_random_distribution(c.model_row(node), random);
  }
  c.row_of_node = {100, row, good};  // the root's is not read
  VerifyCaseOnDevice<TestType> on_device(c);
  const Verified verified =
      lossless ? on_device.lossless(TestType()) : on_device.by_seed_rule(TestType());
  CHECK(verified.guards_intact);
  CHECK(verified.parent_ptr[0] == good);
  CHECK(verified.status[0] == RowStatus::invalid_draft);
}

TEMPLATE_LIST_TEST_CASE("draft rows whose shapes do not fit are refused", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> rows(2, 5, 0, {}), narrow(2, 4, 0, {}), p(4, 5, 0, {}), f4(4),
      f1(1);
  const Guarded<std::int32_t, MemorySpace> i4(4), i3(3), root(1), accepted(1), bonus(1);
  const Guarded<std::int64_t, MemorySpace> w4(4), w3(3);
  DraftDistributions<MemorySpace> in{rows.matrix(), i4.vector(), p.matrix(), f4.vector(),
                                     f1.vector()};
  const TokenTrees<MemorySpace> trees{i4.vector(), i4.vector(), root.vector()};
  const Guarded<float, MemorySpace> sums(4);
  VerifiedTrees<MemorySpace> out{accepted.vector(), bonus.vector(), sums.vector(), {}};
  const auto call = [&] { verify_draft_trees(TestType(), in, trees, out); };
  CHECK_THROWS_AS(call(), Error);  // 2 rows for 4 nodes, and no draft_row
  in.draft_row = i4.vector();
  CHECK_NOTHROW(call());
  in.draft_row = w4.vector();
  CHECK_NOTHROW(call());
  in.draft_row = w3.vector();
  CHECK_THROWS_AS(call(), Error);
  in.draft_row = i4.vector(), in.draft_probs = narrow.matrix();
  CHECK_THROWS_AS(call(), Error);
  in.draft_probs = rows.matrix(), in.without_replacement = true;
  CHECK_THROWS_AS(call(), Error);  // no draft_masses
  out.draft_masses = w3.vector();
  CHECK_THROWS_AS(call(), Error);
  out.draft_masses = w4.vector();
  CHECK_NOTHROW(call());
}

}  // namespace tokkos::test
