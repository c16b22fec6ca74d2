// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/draft_law.hpp"

namespace tokkos::test {
namespace {

using Children = std::vector<int>;

template <class ExecutionSpace>
LawDifference law_of_kernel(const DraftProblem& problem) {
  return law_difference(problem, [](const VerifyCase& c) {
    const Verified verified = VerifyCaseOnDevice<ExecutionSpace>(c).lossless(ExecutionSpace());
    return LosslessOutcome{verified.parent_ptr, verified.accepted, verified.bonus_tokens,
                           verified.status};
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("emitted tokens follow the target's law over sequences", "[verify][law]",
                        ExecutionSpaces) {
  const Drafting drafting =
      GENERATE(Drafting::with_replacement, Drafting::without_replacement, Drafting::most_likely);
  const auto [vocabulary, children] = GENERATE(table<int, Children>({{2, {1, 1, 1}},
                                                                     {2, {2, 2}},
                                                                     {3, {1, 1}},
                                                                     {3, {2, 1}},
                                                                     {3, {3}},
                                                                     {3, {2, 2}},
                                                                     {4, {3}},
                                                                     {4, {1, 2}}}));
  const std::uint64_t seed = 5 + children.size() % 2;
  CAPTURE(drafting, vocabulary, children, seed);
  const LawDifference difference = law_of_kernel<TestType>({vocabulary, children, drafting, seed});
  CHECK(difference.total_variation <= 2e-6);
  CHECK(difference.forbidden_mass == 0);
}

// Negative controls: the measurement above tells a law that is off from one that is right.
TEMPLATE_LIST_TEST_CASE("the law is visibly broken by drafts that are not what they are said to be",
                        "[verify][law]", ExecutionSpaces) {
  const Drafting drafting =
      GENERATE(Drafting::same_row_without_replacement, Drafting::dropped_duplicates,
               Drafting::most_likely_with_softmax, Drafting::shared_stream);
  CAPTURE(drafting);
  CHECK(law_of_kernel<TestType>({4, {3}, drafting, 5}).total_variation > 1e-2);
  CHECK(law_of_kernel<TestType>({3, {2, 1}, drafting, 5}).total_variation > 1e-2);
}

}  // namespace tokkos::test
