// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

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
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

constexpr float largest_uniform = 1.0f - 0x1p-24f;

/// A root with one child for `token`.
VerifyCase one_child(std::vector<float> p, std::vector<float> q, std::int32_t token,
                     float uniform) {
  VerifyCase c;
  c.vocabulary = static_cast<int>(p.size());
  const int root = c.add_node(-1, -1, 0.0f);
  const int child = c.add_node(root, token, uniform);
  std::ranges::copy(p, c.model_row(root).begin());
  std::ranges::copy(q, c.draft_row(child).begin());
  c.model_row(child).back() = 1;
  return c;
}

template <class ExecutionSpace>
Verified verify(const VerifyCase& c) {
  return VerifyCaseOnDevice<ExecutionSpace>(c, 3).lossless(ExecutionSpace());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("verify_draft_trees decides and draws as the lossless rule says",
                        "[verify]", ExecutionSpaces) {
  const int vocabulary = GENERATE(1, 3, 32, 33, 64, 65, 1000, 4096, 4097, 9000);
  const int widest = GENERATE(1, 3);
  const Acceptance acceptance = GENERATE(Acceptance::always, Acceptance::never, Acceptance::mixed);
  if (vocabulary == 1 && acceptance == Acceptance::never) return;  // the only token is certain
  CAPTURE(vocabulary, widest, acceptance);
  const VerifyCase c = make_verify_case(32, vocabulary, 4, widest, acceptance, 17u + vocabulary);
  const Verified verified = verify<TestType>(c);
  const LosslessOutcome expected = verify_lossless(c);
  CHECK(verified.parent_ptr == expected.last_accepted);
  CHECK(verified.accepted == expected.accepted);
  CHECK(verified.bonus_tokens == expected.bonus_tokens);
  CHECK(verified.status == expected.status);
  CHECK(verified.guards_intact);
  CHECK(same_bits(verified.model_probs, c.model_probs));
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees draws the bonus token by exact mass", "[verify]",
                        ExecutionSpaces) {
  // Rejected for sure (p[0] = 0): what is left is max(p - q, 0) / R = (0, 1/4, 0, 3/4).
  VerifyCase c = one_child({0.0f, 0.25f, 0.25f, 0.5f}, {0.5f, 0.125f, 0.25f, 0.125f}, 0, 0.25f);
  struct Expectation {
    float uniform;
    std::int32_t token;
  };
  const Expectation e =
      GENERATE(Expectation{0.0f, 1}, Expectation{0.25f - 0x1p-24f, 1}, Expectation{0.25f, 3},
               Expectation{0.5f, 3}, Expectation{largest_uniform, 3}, Expectation{1.0f, 3},
               Expectation{-1.0f, 1});
  CAPTURE(e.uniform);
  c.bonus_uniforms[0] = e.uniform;
  const Verified verified = verify<TestType>(c);
  CHECK(verified.parent_ptr[0] == 0);
  CHECK(verified.accepted[0] == 0);
  CHECK(verified.bonus_tokens[0] == e.token);
  CHECK(verified.status[0] == RowStatus::ok);
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees never accepts a token of target probability 0",
                        "[verify]", ExecutionSpaces) {
  const float subnormal = 0x1p-140f;
  const float q = GENERATE_COPY(0.0f, subnormal, std::numeric_limits<float>::denorm_min(), 0.5f);
  const float u = GENERATE(0.0f, 0x1p-24f, 0.5f, largest_uniform);
  CAPTURE(q, u);
  const Verified verified = verify<TestType>(one_child({0.0f, 0.5f, 0.5f}, {q, 1 - q, 0}, 0, u));
  CHECK(verified.accepted[0] == 0);
  CHECK(verified.bonus_tokens[0] != 0);
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees accepts any p > 0 where the draft had no mass",
                        "[verify]", ExecutionSpaces) {
  const float p = GENERATE(0x1p-100f, 0x1p-126f, 0.5f);
  const float u = GENERATE(0.0f, 0.5f, largest_uniform);
  CAPTURE(p, u);
  const Verified verified = verify<TestType>(one_child({p, 1 - p}, {0, 1}, 0, u));
  CHECK(verified.accepted[0] == 1);
  CHECK(verified.parent_ptr[0] == 1);
  CHECK(verified.bonus_tokens[0] == 1);  // of the child's own row
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees compares strictly", "[verify]", ExecutionSpaces) {
  const VerifyCase at = one_child({0.25f, 0.75f}, {0.5f, 0.5f}, 0, 0.5f);
  const VerifyCase below = one_child({0.25f, 0.75f}, {0.5f, 0.5f}, 0, 0.5f - 0x1p-24f);
  CHECK(verify<TestType>(at).accepted[0] == 0);
  CHECK(verify<TestType>(below).accepted[0] == 1);
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees keeps the target where the residual vanishes",
                        "[verify]", ExecutionSpaces) {
  // u * q = p[0], so the child is rejected; nothing above 1e-7 is left over.
  const float left = GENERATE(0.0f, 0x1p-26f, 0x1p-25f, 0x1p-24f);
  CAPTURE(left);
  VerifyCase c =
      one_child({0.5f - 0x1p-25f, 0.25f + left, 0.25f}, {0.5f, 0.25f, 0.25f}, 0, largest_uniform);
  c.bonus_uniforms[0] = 0.25f;
  const Verified verified = verify<TestType>(c);
  CHECK(verified.accepted[0] == 0);
  CHECK(verified.status[0] == RowStatus::zero_residual);
  CHECK(verified.bonus_tokens[0] == 0);  // from the row as it was

  // The next sibling sees the row as it was, too: p = 1/4 passes u * q just below 1/4.
  const int sibling = c.add_node(0, 2, 0.5f - 0x1p-24f);
  std::ranges::copy(std::vector{0.25f, 0.25f, 0.5f}, c.draft_row(sibling).begin());
  c.model_row(sibling)[1] = 1;
  const Verified with_sibling = verify<TestType>(c);
  CHECK(with_sibling.parent_ptr[0] == sibling);
  CHECK(with_sibling.accepted[0] == 1);
  CHECK(with_sibling.bonus_tokens[0] == 1);
  CHECK(with_sibling.status[0] == RowStatus::zero_residual);
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees draws from a residual just above 1e-7", "[verify]",
                        ExecutionSpaces) {
  const float left = GENERATE(0x1p-23f, 0x1.cp-24f);
  CAPTURE(left);
  VerifyCase c =
      one_child({0.5f - 0x1p-25f, 0.25f + left, 0.25f}, {0.5f, 0.25f, 0.25f}, 0, largest_uniform);
  c.bonus_uniforms[0] = 0.25f;
  const Verified verified = verify<TestType>(c);
  CHECK(verified.accepted[0] == 0);
  CHECK(verified.status[0] == RowStatus::ok);
  CHECK(verified.bonus_tokens[0] == 1);  // all that is left over is there
}

TEMPLATE_LIST_TEST_CASE("a residual whose masses are rounded is drawn from all the same",
                        "[verify]", ExecutionSpaces) {
  // 110000 tokens have 17.51 units of 2^-44 left each, just above 1e-7 in all. Their sum is of 18
  // each: a row that is given with such a sum would be no distribution.
  constexpr std::size_t tokens = 110001;
  std::vector<float> p(tokens, 17.51f * 0x1p-44f), q(tokens, 0.0f);
  p[0] = 1.0f - 0x1p-23f;
  q[0] = 1.0f;
  VerifyCase c = one_child(p, q, 0, largest_uniform);
  for (const float u : {0.0f, 0.25f, 0.75f}) {
    c.bonus_uniforms[0] = u;
    const Verified verified = verify<TestType>(c);
    CHECK(verified.accepted[0] == 0);
    CHECK(verified.status[0] == 0);
    CHECK(verified.bonus_tokens[0] == 1 + static_cast<std::int32_t>(u * 110000.0f));
  }
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees gives a tree the same outcome in any batch", "[verify]",
                        ExecutionSpaces) {
  const VerifyCase batch = make_verify_case(9, 70, 4, 3, Acceptance::mixed, 4);
  const Verified together = verify<TestType>(batch);
  for (int b = 0; b < batch.batch(); ++b) {
    VerifyCase alone = batch;
    alone.roots = {batch.roots[b]};
    alone.bonus_uniforms = {batch.bonus_uniforms[b]};
    const Verified verified = verify<TestType>(alone);
    CHECK(verified.parent_ptr[0] == together.parent_ptr[b]);
    CHECK(verified.bonus_tokens[0] == together.bonus_tokens[b]);
  }
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees does nothing without trees", "[verify]",
                        ExecutionSpaces) {
  VerifyCase c;
  c.vocabulary = 5;
  CHECK(verify<TestType>(c).guards_intact);
}

TEMPLATE_LIST_TEST_CASE("trees without nodes are broken, with sums that would be shared too",
                        "[verify]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const std::size_t batch = GENERATE(0, 1, 3);
  const Guarded<std::int32_t, MemorySpace> roots(batch), accepted(batch);
  Guarded<std::int32_t, MemorySpace> bonus(batch), status(batch);
  const Guarded<float, MemorySpace> uniforms(batch);
  const Kokkos::View<PausedWalk*, MemorySpace> paused("paused", batch);
  const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, MemorySpace> masses("masses", batch, 4);
  Kokkos::deep_copy(roots.vector(), 0);
  Kokkos::deep_copy(status.vector(), 0);
  Kokkos::deep_copy(uniforms.vector(), 0.5f);
  DraftDistributions<MemorySpace> none{};
  none.bonus_uniforms = uniforms.vector();
  VerifiedTrees<MemorySpace> out{accepted.vector(), bonus.vector(), {}, status.vector()};
  out.paused = paused;
  out.chunk_masses = masses;
  verify_draft_trees(TestType(), none, TokenTrees<MemorySpace>{{}, {}, roots.vector()}, out);
  TestType().fence("tokkos::test::verified");
  CHECK(bonus.values() == std::vector<std::int32_t>(batch, -1));
  CHECK(status.values() == std::vector<std::int32_t>(batch, RowStatus::broken_tree));
}

TEMPLATE_LIST_TEST_CASE("verify_draft_trees rejects arrays whose shapes do not fit", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> q(4, 5, 0, {}), p(4, 5, 0, {}), narrow(4, 4, 0, {}), f4(4),
      f3(3), f1(1), f2(2);
  const Guarded<std::int32_t, MemorySpace> i4(4), i3(3), i2(2), root(1), accepted(1), bonus(1),
      status(1);
  DraftDistributions<MemorySpace> in{q.matrix(), i4.vector(), p.matrix(), f4.vector(), f1.vector()};
  TokenTrees<MemorySpace> trees{i4.vector(), i4.vector(), root.vector()};
  const Guarded<float, MemorySpace> sums(4);
  VerifiedTrees<MemorySpace> out{accepted.vector(), bonus.vector(), sums.vector(), status.vector()};
  const auto fails = [&](const auto& distributions, const auto& links, const auto& results) {
    CHECK_THROWS_AS(verify_draft_trees(TestType(), distributions, links, results), Error);
  };
  CHECK_NOTHROW(verify_draft_trees(TestType(), in, trees, out));
  auto bad_in = in;
  bad_in.draft_probs = narrow.matrix();
  fails(bad_in, trees, out);
  bad_in = in, bad_in.model_probs = narrow.matrix();
  fails(bad_in, trees, out);
  bad_in = in, bad_in.draft_tokens = i3.vector();
  fails(bad_in, trees, out);
  bad_in = in, bad_in.uniforms = f3.vector();
  fails(bad_in, trees, out);
  bad_in = in, bad_in.bonus_uniforms = f2.vector();
  fails(bad_in, trees, out);
  auto bad_trees = trees;
  bad_trees.first_child = i3.vector();
  fails(in, bad_trees, out);
  bad_trees = trees, bad_trees.next_sibling = i3.vector();
  fails(in, bad_trees, out);
  auto bad_out = out;
  bad_out.accepted = i2.vector();
  fails(in, trees, bad_out);
  bad_out = out, bad_out.bonus_tokens = i2.vector();
  fails(in, trees, bad_out);
  bad_out = out, bad_out.residual_sums = f3.vector();
  fails(in, trees, bad_out);
  bad_out = out, bad_out.tree_status = i2.vector();
  fails(in, trees, bad_out);
  bad_out = out, bad_out.residual_sums = f4.vector();  // the uniforms
  fails(in, trees, bad_out);
  bad_out = out, bad_out.tree_status = accepted.vector();
  fails(in, trees, bad_out);
  const Kokkos::View<PausedWalk*, MemorySpace> paused("tokkos::test::paused", 1);
  const Guarded<std::int64_t, MemorySpace> masses(1, shared_sums, 0, {}), none(1, 0, 0, {}),
      two(2, shared_sums, 0, {});
  bad_out = out, bad_out.paused = paused;
  fails(in, trees, bad_out);
  for (const auto* bad : {&none, &two}) {
    bad_out.chunk_masses = bad->matrix();
    fails(in, trees, bad_out);
  }
  bad_out.chunk_masses = masses.matrix();
  CHECK_NOTHROW(verify_draft_trees(TestType(), in, trees, bad_out));
  bad_out.paused = {};
  fails(in, trees, bad_out);
  out.tree_status = {};
  CHECK_NOTHROW(verify_draft_trees(TestType(), in, trees, out));
}

}  // namespace tokkos::test
