// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Arrays of draft trees: what the host refuses is what a plain walk finds wrong, what the device
// gets stays in its arrays and ends, and the outcome is the reference's where the data are good.
#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/chunk.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fuzz/harnesses.hpp"
#include "fuzz/trees_input.hpp"
#include "kernels/guarded.hpp"
#include "reference/shared_rows.hpp"

namespace tokkos::test {

namespace {

using Threads = Kokkos::DefaultHostExecutionSpace;

struct TreesOutcome {
  LosslessOutcome outcome;
  std::vector<std::uint32_t> model_bits;

  bool operator==(const TreesOutcome&) const = default;
};

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float x : values) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

/// The arrays of a case between guards.
struct GuardedTrees {
  using Space = Kokkos::HostSpace;
  Guarded<float, Space> draft_probs, model_probs;
  Guarded<std::int32_t, Space> draft_tokens, first_child, next_sibling, parent_ptr;
  Guarded<float, Space> uniforms, bonus_uniforms;
  Guarded<std::int32_t, Space> draft_row, status, accepted, bonus;
  Guarded<float, Space> sums;
  Guarded<std::int64_t, Space> masses, chunk_masses;
  Kokkos::View<PausedWalk*, Space> paused;

  explicit GuardedTrees(const VerifyCase& c)
      : draft_probs(static_cast<std::size_t>(c.nodes()), c.width(), 3, c.draft_probs),
        model_probs(static_cast<std::size_t>(c.nodes()), c.width(), 5, c.model_probs),
        draft_tokens(std::span(c.draft_tokens)),
        first_child(std::span(c.first_child)),
        next_sibling(std::span(c.next_sibling)),
        parent_ptr(std::span(c.roots)),
        uniforms(std::span(c.uniforms)),
        bonus_uniforms(std::span(c.bonus_uniforms)),
        draft_row(std::span(c.row_of_node)),
        status(c.roots.size()),
        accepted(c.roots.size()),
        bonus(c.roots.size()),
        sums(c.draft_tokens.size()),
        masses(c.draft_tokens.size()),
        chunk_masses(c.roots.size(),
                     static_cast<std::size_t>(shared_sums * chunk_count(c.vocabulary)), 0, {}),
        paused("tokkos::test::paused", c.roots.size()) {}

  TreesOutcome outcome() {
    TreesOutcome result{{parent_ptr.values(), accepted.values(), bonus.values(), status.values()},
                        bits_of(model_probs.values())};
    const auto check = [](auto&... arrays) {
      (static_cast<void>(arrays.values()), ...);
      expect((arrays.guards_intact() && ...), "nothing is written beside the arrays");
    };
    check(draft_probs, model_probs, draft_tokens, first_child, next_sibling, parent_ptr, uniforms,
          bonus_uniforms, draft_row, status, accepted, bonus, sums, masses, chunk_masses);
    return result;
  }
};

template <class Space>
TreesOutcome verify(const VerifyCase& c, bool shares_sums) {
  GuardedTrees arrays(c);
  DraftDistributions<MemoryOf<Space>> given;
  given.draft_probs = arrays.draft_probs.matrix();
  given.draft_tokens = arrays.draft_tokens.vector();
  given.model_probs = arrays.model_probs.matrix();
  given.uniforms = arrays.uniforms.vector();
  given.bonus_uniforms = arrays.bonus_uniforms.vector();
  if (!c.row_of_node.empty()) given.draft_row = arrays.draft_row.vector();
  given.without_replacement = c.without_replacement;
  VerifiedTrees<MemoryOf<Space>> result{arrays.accepted.vector(), arrays.bonus.vector(),
                                        arrays.sums.vector(), arrays.status.vector()};
  if (c.without_replacement) result.draft_masses = arrays.masses.vector();
  if (shares_sums) {
    result.paused = arrays.paused;
    result.chunk_masses = arrays.chunk_masses.matrix();
  }
  const Space space;
  verify_draft_trees(
      space, given,
      {arrays.first_child.vector(), arrays.next_sibling.vector(), arrays.parent_ptr.vector()},
      result);
  space.fence("tokkos::test::fuzz");
  return arrays.outcome();
}

template <class Space>
TreesOutcome verify_by_seed(const VerifyCase& c) {
  GuardedTrees arrays(c);
  const Space space;
  IndexVector<MemoryOf<Space>> draft_row;
  if (!c.row_of_node.empty()) draft_row = arrays.draft_row.vector();
  batch_spec_verify(
      space, arrays.draft_probs.matrix(), arrays.draft_tokens.vector(), arrays.model_probs.matrix(),
      {arrays.first_child.vector(), arrays.next_sibling.vector(), arrays.parent_ptr.vector()},
      arrays.uniforms.vector(), arrays.status.vector(), draft_row);
  space.fence("tokkos::test::fuzz");
  return arrays.outcome();
}

/// Compares the seed's rule with its reference in double, where no decision is so near to the other
/// one that float32 may take it.
void check_seed_rule(const VerifyCase& c, const TreesOutcome& result) {
  const SeedOutcome expected = verify_by_seed_rule(c);
  if (expected.least_margin < 1e-4 || expected.least_mass < 0.02) return;
  expect(result.outcome.last_accepted == expected.last_accepted,
         "the seed's rule accepts what its reference accepts");
  for (int node = 0; node < c.nodes(); ++node) {
    const auto rewritten = expected.rewritten_rows.find(node);
    for (std::size_t v = 0; v < c.width(); ++v) {
      const std::uint32_t bits = result.model_bits[c.offset(node) + v];
      if (rewritten == expected.rewritten_rows.end()) {
        expect(bits == std::bit_cast<std::uint32_t>(c.model_row(node)[v]),
               "rows of no rejection are not written");
        continue;
      }
      const double p = std::bit_cast<float>(bits);
      expect(std::fabs(p - rewritten->second[v]) <= 2e-5, "a rejected draft leaves the residual");
    }
  }
}

/// What holds for any data.
void check_outcome(const VerifyCase& c, const LosslessOutcome& outcome) {
  constexpr std::int32_t ends_walk = RowStatus::broken_tree | RowStatus::invalid_parameter |
                                     RowStatus::invalid_probability | RowStatus::empty;
  for (std::size_t b = 0; b < c.roots.size(); ++b) {
    const std::int32_t bonus = outcome.bonus_tokens[b];
    const std::int32_t node = outcome.last_accepted[b];
    expect(bonus >= -1 && bonus < c.vocabulary, "a bonus token is -1 or in the vocabulary");
    expect((bonus == -1) == ((outcome.status[b] & ends_walk) != 0),
           "there is no bonus token if and only if a status says why");
    expect((node >= 0 && node < c.nodes()) || node == c.roots[b],
           "the last accepted node is a node, or what the root was");
    expect(outcome.accepted[b] >= 0 && outcome.accepted[b] <= c.nodes(),
           "no more drafts are accepted than there are");
  }
}

bool host_accepts(const VerifyCase& c) {
  try {
    validate_token_trees(c.draft_tokens, c.first_child, c.next_sibling, c.roots, c.vocabulary);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void fuzz_trees(std::span<const std::uint8_t> input) {
  FuzzBytes bytes(input);
  const FuzzTrees trees = make_fuzz_trees(bytes);
  const VerifyCase& c = trees.data;
  const bool good = are_trees(c);
  expect(host_accepts(c) == good, "the host refuses what is no tree, and nothing else");
  const TreesOutcome serial = verify<Kokkos::Serial>(c, false);
  check_outcome(c, serial.outcome);
  expect(serial.model_bits == bits_of(c.model_probs), "the target's rows are not written");
  const bool has_reference = good && !trees.bad_values;
  const VerifyCase rows = has_reference && !c.row_of_node.empty() ? with_own_rows(c) : c;
  if (has_reference) {
    expect(serial.outcome == verify_lossless(rows), "the outcome is the reference's");
  }
  const TreesOutcome others[] = {verify<Kokkos::Serial>(c, true), verify<Threads>(c, false),
                                 verify<Threads>(c, true)};
  const bool apart = are_apart(c);
  for (const TreesOutcome& other : others) {
    check_outcome(c, other.outcome);
    expect(!apart || other == serial, "neither threads nor shared sums change anything");
  }
  const TreesOutcome by_seed = verify_by_seed<Kokkos::Serial>(c);
  if (has_reference && !c.without_replacement) check_seed_rule(rows, by_seed);
  expect(verify_by_seed<Threads>(c) == by_seed || !apart,
         "threads change nothing by the seed's rule");
}

}  // namespace tokkos::test
