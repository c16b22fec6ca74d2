// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/batch_spec_verify.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

struct Trees {
  int height;
  int widest;
};

/// Runs the kernel and compares it with the double reference: exact pointers, rewritten rows within
/// 1e-6, all other rows untouched.
template <class ExecutionSpace>
void check_against_reference(int batch, int vocabulary, Trees trees, Acceptance acceptance) {
  CAPTURE(batch, vocabulary, trees.height, trees.widest, acceptance);
  const auto seed = static_cast<std::uint64_t>(batch * 7 + vocabulary * 131 + trees.height);
  const VerifyCase verify_case =
      make_verify_case(batch, vocabulary, trees.height, trees.widest, acceptance, seed);
  const SeedOutcome expected = verify_by_seed_rule(verify_case);
  const std::size_t padding = vocabulary % 2 == 0 ? 0 : 5;
  VerifyCaseOnDevice<ExecutionSpace> on_device(verify_case, padding);
  const Verified verified = on_device.by_seed_rule(ExecutionSpace());

  CHECK(verified.guards_intact);
  CHECK(verified.parent_ptr == expected.last_accepted);
  CHECK(std::ranges::count(verified.status, 0) == batch);
  double largest_difference = 0;
  int changed_without_reason = 0;
  for (int node = 0; node < verify_case.nodes(); ++node) {
    const std::span<const float> row =
        std::span(verified.model_probs).subspan(verify_case.offset(node), verify_case.width());
    const auto rewritten = expected.rewritten_rows.find(node);
    if (rewritten == expected.rewritten_rows.end()) {
      changed_without_reason += same_bits(row, verify_case.model_row(node)) ? 0 : 1;
      continue;
    }
    for (std::size_t v = 0; v < row.size(); ++v) {
      const double difference = std::abs(static_cast<double>(row[v]) - rewritten->second[v]);
      if (!(difference <= largest_difference)) largest_difference = difference;
    }
  }
  CHECK(largest_difference <= 1e-6);
  CHECK(changed_without_reason == 0);
  // The case is what it claims to be.
  if (acceptance == Acceptance::always) CHECK(expected.rewritten_rows.empty());
  if (acceptance == Acceptance::never) CHECK(verified.parent_ptr == verify_case.roots);
}

template <class ExecutionSpace>
VerifyCase one_child(int vocabulary, std::int32_t token, float uniform) {
  VerifyCase c;
  c.vocabulary = vocabulary;
  const int root = c.add_node(-1, -1, 0.0f);
  c.add_node(root, token, uniform);
  return c;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("batch_spec_verify agrees with a double reference on chains and trees",
                        "[verify]", ExecutionSpaces) {
  const int batch = GENERATE(32, 64);
  const int vocabulary = GENERATE(3, 32, 33, 64, 65);
  const Trees trees = GENERATE(Trees{4, 1}, Trees{4, 3});
  const Acceptance acceptance = GENERATE(Acceptance::always, Acceptance::never, Acceptance::mixed);
  check_against_reference<TestType>(batch, vocabulary, trees, acceptance);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify agrees with a double reference on a real vocabulary",
                        "[verify]", ExecutionSpaces) {
  check_against_reference<TestType>(32, 32000, {4, 1}, Acceptance::mixed);
  check_against_reference<TestType>(32, 32001, {4, 3}, Acceptance::mixed);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify agrees with a double reference on large vocabularies",
                        "[verify][slow]", ExecutionSpaces) {
  const int batch = GENERATE(32, 64);
  const int vocabulary = GENERATE(32000, 32001, 128000);
  const Trees trees = GENERATE(Trees{4, 1}, Trees{4, 3});
  const Acceptance acceptance = GENERATE(Acceptance::always, Acceptance::never, Acceptance::mixed);
  check_against_reference<TestType>(batch, vocabulary, trees, acceptance);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify accepts a draft at its threshold", "[verify]",
                        ExecutionSpaces) {
  VerifyCase c = one_child<TestType>(2, 0, 0.5f);
  std::ranges::copy(std::vector{0.5f, 0.5f}, c.draft_row(1).begin());
  std::ranges::copy(std::vector{0.25f, 0.75f}, c.model_row(0).begin());
  CHECK(VerifyCaseOnDevice<TestType>(c).by_seed_rule(TestType()).parent_ptr[0] == 1);
  c.uniforms[1] = 0.5f + 0x1p-24f;
  CHECK(VerifyCaseOnDevice<TestType>(c).by_seed_rule(TestType()).parent_ptr[0] == 0);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify accepts where the residual vanishes", "[verify]",
                        ExecutionSpaces) {
  // p[0] is two ulps below q[0] and p[1] hardly above q[1]: rejected, but nothing is left over.
  const float left = GENERATE(0.0f, 0x1p-26f, 0x1p-25f, 0x1p-24f);
  CAPTURE(left);
  VerifyCase c = one_child<TestType>(3, 0, 1.0f - 0x1p-24f);
  std::ranges::copy(std::vector{0.5f, 0.25f, 0.25f}, c.draft_row(1).begin());
  std::ranges::copy(std::vector{0.5f - 0x1p-24f, 0.25f + left, 0.25f}, c.model_row(0).begin());
  const Verified verified = VerifyCaseOnDevice<TestType>(c).by_seed_rule(TestType());
  CHECK(verified.parent_ptr[0] == 1);
  CHECK(verified.status[0] == 0);
  CHECK(same_bits(verified.model_probs, c.model_probs));
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify clamps uniforms below 0 and from 1 on", "[verify]",
                        ExecutionSpaces) {
  const float infinity = std::numeric_limits<float>::infinity();
  struct Expectation {
    float uniform;
    float p;  // q is 0.5
    int last;
  };
  const Expectation e =
      GENERATE_COPY(Expectation{1.0f, 0.5f - 0x1p-25f, 1}, Expectation{7.0f, 0.5f - 0x1p-25f, 1},
                    Expectation{infinity, 0.5f - 0x1p-25f, 1}, Expectation{infinity, 0.49f, 0},
                    Expectation{-1.0f, 0.001f, 1}, Expectation{-infinity, 0.001f, 1});
  CAPTURE(e.uniform, e.p);
  VerifyCase c = one_child<TestType>(2, 0, e.uniform);
  std::ranges::copy(std::vector{0.5f, 0.5f}, c.draft_row(1).begin());
  std::ranges::copy(std::vector{e.p, 1 - e.p}, c.model_row(0).begin());
  const Verified verified = VerifyCaseOnDevice<TestType>(c).by_seed_rule(TestType());
  CHECK(verified.parent_ptr[0] == e.last);
  CHECK(verified.status[0] == 0);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify does nothing without trees", "[verify]",
                        ExecutionSpaces) {
  VerifyCase c;
  c.vocabulary = 5;
  const Verified verified = VerifyCaseOnDevice<TestType>(c).by_seed_rule(TestType());
  CHECK(verified.guards_intact);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify rejects arrays whose shapes do not fit", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> probs(4, 5, 0, {}), drafts(4, 5, 0, {});
  const Guarded<float, MemorySpace> narrow(4, 4, 0, {}), short_probs(3, 5, 0, {});
  const Guarded<float, MemorySpace> uniforms(4), short_uniforms(3);
  const Guarded<std::int32_t, MemorySpace> nodes(4), short_nodes(3), roots(1), status(1), two(2);
  const auto verify = [](const auto& q, const auto& tokens, const auto& p, const auto& first,
                         const auto& next, const auto& u, const auto& parent, const auto& bits) {
    batch_spec_verify(TestType(), q.matrix(), tokens.vector(), p.matrix(), first.vector(),
                      next.vector(), u.vector(), parent.vector(), bits.vector());
  };
  CHECK_NOTHROW(verify(drafts, nodes, probs, nodes, nodes, uniforms, roots, status));
  CHECK_NOTHROW(batch_spec_verify(TestType(), drafts.matrix(), nodes.vector(), probs.matrix(),
                                  nodes.vector(), nodes.vector(), uniforms.vector(),
                                  roots.vector()));
  CHECK_THROWS_AS(verify(narrow, nodes, probs, nodes, nodes, uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(short_probs, nodes, probs, nodes, nodes, uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(drafts, short_nodes, probs, nodes, nodes, uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(drafts, nodes, narrow, nodes, nodes, uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(drafts, nodes, probs, short_nodes, nodes, uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(drafts, nodes, probs, nodes, short_nodes, uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(drafts, nodes, probs, nodes, nodes, short_uniforms, roots, status), Error);
  CHECK_THROWS_AS(verify(drafts, nodes, probs, nodes, nodes, uniforms, roots, two), Error);
}

TEMPLATE_LIST_TEST_CASE("batch_spec_verify refuses one matrix for draft and model", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> both(9, 5, 0, {}), uniforms(4);
  const Guarded<std::int32_t, MemorySpace> nodes(4), roots(1);
  const auto rows = [&](int first) {
    return Matrix<float, MemorySpace>(both.matrix().data() + 5 * first,
                                      Kokkos::LayoutStride(4, 5, 5, 1));
  };
  const auto verify = [&](int first) {
    batch_spec_verify(TestType(), rows(first), nodes.vector(), rows(4), nodes.vector(),
                      nodes.vector(), uniforms.vector(), roots.vector());
  };
  for (const int first : {1, 4, 5}) {
    try {
      verify(first);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.field() == "model_probs");
      CHECK(error.value().find("draft_probs") != std::string::npos);
    }
  }
  CHECK_NOTHROW(verify(0));
}

}  // namespace tokkos::test
