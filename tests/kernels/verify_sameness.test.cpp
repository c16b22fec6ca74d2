// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/shared_rows.hpp"
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

LosslessOutcome outcome_of(const Verified& verified) {
  return {verified.parent_ptr, verified.accepted, verified.bonus_tokens, verified.status};
}

/// The default instance, and where a space takes a number of threads, instances of 1, 2 and 3.
template <class Space>
std::vector<Space> instances_of() {
  std::vector<Space> instances{Space()};
  if constexpr (std::is_constructible_v<Space, int>) {
    for (const int threads : {1, 2, 3}) instances.emplace_back(threads);
  }
  return instances;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("verification is the same bits on every backend and number of threads",
                        "[verify][sameness]", ExecutionSpaces) {
  const int vocabulary = GENERATE(3, 65, 4097, 32001);
  const Acceptance acceptance = GENERATE(Acceptance::never, Acceptance::mixed);
  CAPTURE(vocabulary, acceptance);
  const VerifyCase c = make_verify_case(8, vocabulary, 4, 3, acceptance, 99);
  const Kokkos::Serial serial;
  const Verified by_seed = VerifyCaseOnDevice<Kokkos::Serial>(c).by_seed_rule(serial);
  const Verified lossless = VerifyCaseOnDevice<Kokkos::Serial>(c).lossless(serial);
  for (const TestType& space : instances_of<TestType>()) {
    CAPTURE(space.concurrency());
    const Verified other_seed = VerifyCaseOnDevice<TestType>(c, 7).by_seed_rule(space);
    CHECK(other_seed.parent_ptr == by_seed.parent_ptr);
    CHECK(other_seed.status == by_seed.status);
    CHECK(same_bits(other_seed.model_probs, by_seed.model_probs));
    CHECK(outcome_of(VerifyCaseOnDevice<TestType>(c, 7).lossless(space)) == outcome_of(lossless));
  }
}

TEMPLATE_LIST_TEST_CASE("threads that share a tree find what one thread finds",
                        "[verify][sameness]", ExecutionSpaces) {
  // Rows long enough to be shared, and fewer trees than threads.
  const int batch = GENERATE(1, 2);
  const bool without_replacement = GENERATE(false, true);
  const Acceptance acceptance = GENERATE(Acceptance::never, Acceptance::mixed);
  CAPTURE(batch, without_replacement, acceptance);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    VerifyCase c = make_verify_case(batch, 53001, 2, 3, acceptance, 100 + seed);
    if (without_replacement) c = with_shared_rows(c, true);
    c.row_of_node.resize(c.draft_tokens.size());
    if (!without_replacement) std::iota(c.row_of_node.begin(), c.row_of_node.end(), 0);
    c.row_of_node.back() = -1;
    const Kokkos::Serial serial;
    const Verified expected = VerifyCaseOnDevice<Kokkos::Serial>(c).lossless(serial);
    VerifyCase rows = with_rows_of_siblings(c);
    if (!without_replacement) {
      rows.draft_probs = c.draft_probs;
      const int chosen = c.nodes() - 1;
      std::ranges::fill(rows.draft_row(chosen), 0.0f);
      if (c.draft_tokens[chosen] >= 0) rows.draft_row(chosen)[c.draft_tokens[chosen]] = 1.0f;
    }
    CHECK(outcome_of(expected) == verify_lossless(rows));
    for (const TestType& space : instances_of<TestType>()) {
      CAPTURE(space.concurrency());
      const Verified verified = VerifyCaseOnDevice<TestType>(c, 5).lossless(space);
      CHECK(outcome_of(verified) == outcome_of(expected));
      CHECK(verified.guards_intact);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("any number of a tree's sums may be shared", "[verify][sameness]",
                        ExecutionSpaces) {
  const bool without_replacement = GENERATE(false, true);
  const int vocabulary = GENERATE(40, 9001);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    VerifyCase c = make_verify_case(2, vocabulary, 5, 4, Acceptance::mixed, 300 + seed);
    // Long paths on which much is rejected.
    for (float& u : c.uniforms) u = seed % 2 == 0 ? u : 0.999f * u;
    if (without_replacement) c = with_shared_rows(c, true);
    VerifyCaseOnDevice<TestType> on_device(c, 3);
    const Verified verified =
        on_device.lossless(TestType(), on_device.trees(), {1, 2, 3, shared_sums, 7, 40});
    CHECK(verified.guards_intact);
    const Kokkos::Serial serial;
    CHECK(outcome_of(verified) ==
          outcome_of(VerifyCaseOnDevice<Kokkos::Serial>(c).lossless(serial)));
  }
}

}  // namespace tokkos::test
