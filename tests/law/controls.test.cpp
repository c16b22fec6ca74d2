// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Negative controls: each gives the kernel what it must not be given, or verifies wrongly, and
// passes because the exact law then is not the target's.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string>

#include "law/exact_law.hpp"
#include "law/host_rules.hpp"
#include "law/law_tally.hpp"

namespace tokkos::test {
namespace {

constexpr double bound = 2e-6;  // of the laws that are right

/// The laws are whole, each of its outcomes is as was computed, and they are not the target's.
void check_broken(const LawResult& result, double least = 1e-2) {
  CHECK(result.total_variation > least);
  CHECK(result.incomplete_laws == 0);
  CHECK(result.wrong_corners == 0);
}

/// The worst of every shape of at most three drafted nodes.
LawResult worst_law(Drafting drafting, Target target = Target::table,
                    const TreeVerifier& verifier = verify_by_kernel) {
  LawResult result;
  for (const int vocabulary : {3, 4}) {
    std::uint64_t seed = static_cast<std::uint64_t>(10 * vocabulary);
    for (int drafted = 1; drafted <= 3; ++drafted) {
      for (const TreeShape& shape : tree_shapes(drafted)) {
        result.add(exact_law({vocabulary, shape, drafting, target, seed++}, verifier));
      }
    }
  }
  return result;
}

TreeVerifier with_epsilon(double epsilon) {
  return [epsilon](const VerifyCase& c) { return verify_with_epsilon(c, epsilon); };
}

}  // namespace

TEST_CASE("control: what is right in the controls is found right", "[law]") {
  for (const Drafting drafting : {Drafting::with_replacement, Drafting::without_replacement}) {
    CHECK(worst_law(drafting).total_variation <= bound);
    CHECK(worst_law(drafting, Target::edited).total_variation <= bound);
    CHECK(worst_law(drafting, Target::table, with_epsilon(0)).total_variation <= bound);
  }
}

TEST_CASE("control: a softmax q for chosen children breaks the law", "[law]") {
  const LawResult result = worst_law(Drafting::chosen_with_softmax);
  tell_control("softmax q for chosen children", result);
  check_broken(result);
}

TEST_CASE("control: dropping duplicate siblings breaks the law", "[law]") {
  const LawResult result = worst_law(Drafting::dropped_duplicates);
  tell_control("duplicate siblings dropped", result);
  check_broken(result);
}

TEST_CASE("control: one q for siblings without replacement breaks the law", "[law]") {
  const LawResult result = worst_law(Drafting::same_row_without_replacement);
  tell_control("unrenormalized q", result);
  check_broken(result);
}

// Its figure is the last one's: a sibling that was rejected has no target probability left, so that
// neither ratio nor residual depends on what later rows say of its token.
TEST_CASE("control: siblings' rows zeroed and not renormalized break the law", "[law]") {
  const LawResult result = worst_law(Drafting::zeroed_row_without_replacement);
  tell_control("zeroed and not renormalized", result);
  check_broken(result);
}

TEST_CASE("control: one random stream for drafts and verification breaks the law", "[law]") {
  const LawResult result = worst_law(Drafting::shared_stream);
  tell_control("one random stream", result);
  check_broken(result);
}

TEST_CASE("control: an epsilon in the ratio breaks the law", "[law]") {
  for (const double epsilon : {1e-3, 1e-4, 1e-5}) {
    CAPTURE(epsilon);
    const LawResult result =
        worst_law(Drafting::with_replacement, Target::table, with_epsilon(epsilon));
    tell_control("epsilon " + std::to_string(epsilon) + " in the ratio", result);
    check_broken(result, bound);
  }
}

TEST_CASE("control: path tokens that are counted twice break the law", "[law]") {
  for (const Drafting drafting : {Drafting::with_replacement, Drafting::chosen}) {
    const LawResult result = worst_law(drafting, Target::counted_twice);
    tell_control("path tokens counted twice", result);
    check_broken(result);
  }
}

TEST_CASE("control: one uniform for all siblings is no law of independent ones", "[law]") {
  const TreeVerifier verifier = [](VerifyCase c) {
    for (int node = 0; node < c.nodes(); ++node) {
      if (const int next = c.next_sibling[node]; next >= 0) c.uniforms[next] = c.uniforms[node];
    }
    return verify_by_kernel(c);
  };
  const LawResult result = worst_law(Drafting::with_replacement, Target::table, verifier);
  tell_control("one uniform for all siblings", result);
  CHECK(result.wrong_corners > 0);
}

TEST_CASE("control: a walk that emits nothing leaves its law incomplete", "[law]") {
  const TreeVerifier verifier = [](const VerifyCase& c) {
    LosslessOutcome outcome = verify_by_kernel(c);
    for (int tree = 0; tree < c.batch(); ++tree) {
      if (outcome.accepted[tree] == 2) outcome.bonus_tokens[tree] = -1;
    }
    return outcome;
  };
  const LawResult result = worst_law(Drafting::with_replacement, Target::table, verifier);
  tell_control("no bonus token behind two accepted ones", result);
  CHECK(result.incomplete_laws > 0);
}

}  // namespace tokkos::test
