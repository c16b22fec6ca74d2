// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// No uniform, 0 included, emits a token that the target forbids. What >= accepts where p is 0 is
// one uniform in 2^24, less than any bound on a law sees.
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "law/exact_law.hpp"
#include "law/host_rules.hpp"
#include "law/law_tally.hpp"
#include "law/target_rows.hpp"

namespace tokkos::test {
namespace {

struct Emissions {
  std::int64_t tried = 0;
  std::int64_t forbidden = 0;  // walks that emitted a token of probability 0, or none at all
};

/// Whether all tokens down to a node, and the one behind it, can come from the target.
bool is_possible(const LawTables& tables, const LawDraft& draft, const TreeEnd& end) {
  if (end.node < 0 || end.bonus < 0) return false;
  if (tables.target(draft.prefix[end.node]).weight[end.bonus] == 0) return false;
  for (int node = end.node; node > 0; node = draft.tree.parent[node]) {
    const std::size_t before = draft.prefix[draft.tree.parent[node]];
    if (tables.target(before).weight[draft.token[node]] == 0) return false;
  }
  return true;
}

/// Every draft with every choice of the least and the largest uniform for its nodes, and bonus
/// uniforms at the ends and between.
Emissions emissions_of(const LawProblem& problem, const TreeVerifier& verifier) {
  const LawTables tables(problem);
  std::vector<LawDraft> drafts = all_drafts(problem, tables);
  fill_target_rows(problem, tables, drafts);
  Emissions found;
  for (const LawDraft& draft : drafts) {
    TreeBatch batch(problem);
    for (int choice = 0; choice < 1 << draft.tree.drafted(); ++choice) {
      for (const std::int64_t bonus :
           {std::int64_t{0}, std::int64_t{1}, uniform_count / 2, uniform_count - 1}) {
        const int tree = batch.add(draft);
        for (int node = 1; node < draft.tree.nodes(); ++node) {
          batch.set_uniform(tree, node, (choice >> (node - 1)) % 2 == 0 ? 0 : uniform_count - 1);
        }
        batch.set_bonus_uniform(tree, bonus);
      }
    }
    for (const TreeEnd& end : batch.verify(verifier)) {
      ++found.tried;
      found.forbidden += is_possible(tables, draft, end) ? 0 : 1;
    }
  }
  return found;
}

Emissions emissions_of_shapes(Drafting drafting, Target target, const TreeVerifier& verifier) {
  Emissions found;
  for (int drafted = 0; drafted <= 4; ++drafted) {
    std::uint64_t seed = static_cast<std::uint64_t>(40 * drafted);
    for (const TreeShape& shape : tree_shapes(drafted)) {
      const Emissions own = emissions_of({3, shape, drafting, target, seed++}, verifier);
      found.tried += own.tried;
      found.forbidden += own.forbidden;
    }
  }
  return found;
}

/// A root whose children 0 and 1 the target forbids; only token 2 may come.
VerifyCase forbidden_children(float q, float u) {
  VerifyCase c;
  c.vocabulary = 3;
  const int root = c.add_node(-1, -1, 0.0f);
  c.model_row(root)[2] = 1.0f;
  for (const int token : {0, 1}) {
    const int child = c.add_node(root, token, u);
    c.draft_row(child)[token] = q;
    c.draft_row(child)[2] = 1.0f - q;
    c.model_row(child)[2] = 1.0f;
  }
  return c;
}

}  // namespace

TEST_CASE("no uniform emits a token of probability 0", "[law]") {
  for (const Drafting drafting :
       {Drafting::with_replacement, Drafting::without_replacement,
        Drafting::shared_row_without_replacement, Drafting::chosen, Drafting::mixed}) {
    for (const Target target : {Target::table, Target::edited}) {
      const Emissions found = emissions_of_shapes(drafting, target, verify_by_kernel);
      CAPTURE(static_cast<int>(drafting), static_cast<int>(target), found.tried);
      CHECK(found.forbidden == 0);
      CHECK(found.tried > 5000);
    }
  }
}

TEST_CASE("a token of probability 0 is rejected however unlikely its draft was", "[law]") {
  for (const float q : {0.0f, std::numeric_limits<float>::denorm_min(),
                        std::numeric_limits<float>::min(), 0x1p-40f, 0.5f, 1.0f}) {
    for (std::int64_t k = 0; k < uniform_count; k = 2 * k + 1) {
      CAPTURE(q, k);
      const LosslessOutcome outcome = verify_by_kernel(forbidden_children(q, uniform_of(k)));
      CHECK(outcome.accepted[0] == 0);
      CHECK(outcome.bonus_tokens[0] == 2);
    }
  }
}

TEST_CASE("control: >= where p is 0 emits what is forbidden and leaves the law as it is", "[law]") {
  const Drafting drafting = Drafting::with_replacement;
  CHECK(emissions_of_shapes(drafting, Target::table, verify_by_seed_kernel).forbidden > 0);
  CHECK(emissions_of_shapes(drafting, Target::edited, verify_by_seed_kernel).forbidden > 0);
  LawResult result;
  for (const TreeShape& shape : tree_shapes(2)) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      result.add(exact_law({3, shape, drafting, Target::table, seed}, verify_by_seed_kernel));
    }
  }
  tell_control(">= where p is 0", result);
  CHECK(result.total_variation <= 2e-6);
  CHECK(result.forbidden_mass > 0);
}

}  // namespace tokkos::test
