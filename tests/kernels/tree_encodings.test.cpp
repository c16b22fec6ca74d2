// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The encodings of draft trees: int32 or int64 numbers, of the batch's nodes or of each tree's own,
// and chains without any.
#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/verify_reference.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 12;

/// Trees of the given numbers of nodes, one after the other, roots first; chains or bushes.
VerifyCase make_case(const std::vector<int>& sizes, bool chains, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  VerifyCase c;
  c.vocabulary = vocabulary;
  for (const int size : sizes) {
    const int root = c.add_node(-1, -1, 0.0f);
    for (int i = 1; i < size; ++i) {
      const int back = chains ? 1 : 1 + static_cast<int>(random() % 3);
      c.add_node(std::max(root, root + i - back), static_cast<std::int32_t>(random() % vocabulary),
                 random_uniform(random) * 0.7f);
    }
    c.bonus_uniforms.back() = random_uniform(random);
  }
  for (int node = 0; node < c.nodes(); ++node) {
    fill_random_distribution(c.draft_row(node), random);
    fill_random_distribution(c.model_row(node), random);
  }
  return c;
}

/// Links and roots with every node numbered from its tree's root on.
template <class Index>
struct OwnNumbers {
  std::vector<Index> first_child, next_sibling, begin;
  std::vector<std::int32_t> roots;

  explicit OwnNumbers(const VerifyCase& c) : roots(c.roots.size(), 0) {
    for (int node = 0; node < c.nodes(); ++node) {
      const int root = *(std::ranges::upper_bound(c.roots, node) - 1);
      const auto own = [root](std::int32_t link) {
        return static_cast<Index>(link == -1 ? -1 : link - root);
      };
      first_child.push_back(own(c.first_child[node]));
      next_sibling.push_back(own(c.next_sibling[node]));
    }
    begin.assign(c.roots.begin(), c.roots.end());
    begin.push_back(static_cast<Index>(c.nodes()));
  }
};

/// OwnNumbers in device memory.
template <class Index, class MemorySpace>
struct OnDevice {
  Guarded<Index, MemorySpace> first_child, next_sibling, begin;
  Guarded<std::int32_t, MemorySpace> roots;

  explicit OnDevice(const OwnNumbers<Index>& numbers)
      : first_child(std::span(numbers.first_child)),
        next_sibling(std::span(numbers.next_sibling)),
        begin(std::span(numbers.begin)),
        roots(std::span(numbers.roots)) {}

  TokenTrees<MemorySpace> links() const {
    return {first_child.vector(), next_sibling.vector(), roots.vector()};
  }
};

/// Verifies with `trees`, whose results stand in `roots`, and compares with the batch's numbers.
template <class ExecutionSpace, class Numbers>
void check_outcome(const VerifyCase& c, const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                   Numbers& numbers, const Verified& expected) {
  const Verified verified = VerifyCaseOnDevice<ExecutionSpace>(c).lossless(ExecutionSpace(), trees);
  CHECK(verified.accepted == expected.accepted);
  CHECK(verified.bonus_tokens == expected.bonus_tokens);
  CHECK(verified.status == expected.status);
  std::vector<std::int32_t> last = numbers.roots.values();
  for (std::size_t b = 0; b < last.size(); ++b) last[b] += c.roots[b];
  CHECK(last == expected.parent_ptr);
  CHECK(numbers.roots.guards_intact());
}

template <class ExecutionSpace, class Index>
void check_own_numbers(const VerifyCase& c, std::int64_t nodes_per_tree, bool chains) {
  const Verified expected = VerifyCaseOnDevice<ExecutionSpace>(c).lossless(ExecutionSpace());
  const OwnNumbers<Index> numbers(c);
  using MemorySpace = MemoryOf<ExecutionSpace>;
  {
    OnDevice<Index, MemorySpace> ragged(numbers);
    auto trees = ragged.links();
    trees.tree_begin = ragged.begin.vector();
    check_outcome<ExecutionSpace>(c, trees, ragged, expected);
  }
  if (nodes_per_tree > 0) {
    OnDevice<Index, MemorySpace> equal(numbers);
    auto trees = equal.links();
    trees.nodes_per_tree = nodes_per_tree;
    check_outcome<ExecutionSpace>(c, trees, equal, expected);
  }
  if (!chains) return;
  OnDevice<Index, MemorySpace> ragged(numbers);
  const IndexVector<MemorySpace> begin = ragged.begin.vector();
  check_outcome<ExecutionSpace>(c, token_chains<MemorySpace>(ragged.roots.vector(), begin), ragged,
                                expected);
  if (nodes_per_tree == 0) return;
  OnDevice<Index, MemorySpace> equal(numbers);
  check_outcome<ExecutionSpace>(
      c, token_chains<MemorySpace>(equal.roots.vector(), nodes_per_tree - 1), equal, expected);
}

template <class T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("trees have one outcome in every encoding", "[verify]", ExecutionSpaces) {
  const bool chains = GENERATE(false, true);
  const bool equal = GENERATE(true, false);
  const std::vector<int> sizes =
      equal ? std::vector<int>(20, 7) : std::vector<int>{7, 1, 3, 12, 2, 1, 9, 4, 5, 6};
  CAPTURE(chains, equal);
  const VerifyCase c = make_case(sizes, chains, 5);
  check_own_numbers<TestType, std::int32_t>(c, equal ? 7 : 0, chains);
  check_own_numbers<TestType, std::int64_t>(c, equal ? 7 : 0, chains);
}

TEMPLATE_LIST_TEST_CASE("links and tokens may be int64 where they number the batch's nodes",
                        "[verify]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const TestType space;
  const VerifyCase c = make_verify_case(12, 70, 4, 3, Acceptance::mixed, 8);
  const auto wide_tokens = widened(c.draft_tokens);
  const auto wide_first = widened(c.first_child), wide_next = widened(c.next_sibling);
  const Guarded<std::int64_t, MemorySpace> tokens{std::span(wide_tokens)},
      first{std::span(wide_first)}, next{std::span(wide_next)};
  const Verified lossless = VerifyCaseOnDevice<TestType>(c).lossless(space);
  const Verified by_seed = VerifyCaseOnDevice<TestType>(c).by_seed_rule(space);
  const auto nodes = static_cast<std::size_t>(c.nodes());
  const Guarded<float, MemorySpace> draft(nodes, c.width(), 0, std::span(c.draft_probs)),
      uniforms{std::span(c.uniforms)}, bonus_uniforms{std::span(c.bonus_uniforms)}, sums(nodes);
  Guarded<float, MemorySpace> model(nodes, c.width(), 0, std::span(c.model_probs));
  Guarded<std::int32_t, MemorySpace> roots{std::span(c.roots)}, accepted(c.roots.size()),
      bonus(c.roots.size()), roots_of_seed{std::span(c.roots)};
  verify_draft_trees(
      space,
      {draft.matrix(), tokens.vector(), model.matrix(), uniforms.vector(), bonus_uniforms.vector()},
      {first.vector(), next.vector(), roots.vector()},
      {accepted.vector(), bonus.vector(), sums.vector(), {}});
  batch_spec_verify(space, draft.matrix(), tokens.vector(), model.matrix(), first.vector(),
                    next.vector(), uniforms.vector(), roots_of_seed.vector());
  space.fence("tokkos::test::verified");
  CHECK(roots.values() == lossless.parent_ptr);
  CHECK(bonus.values() == lossless.bonus_tokens);
  CHECK(roots_of_seed.values() == by_seed.parent_ptr);
  CHECK(same_bits(model.values(), by_seed.model_probs));
}

TEMPLATE_LIST_TEST_CASE("int64 numbers are not cut to 32 bits", "[verify]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const VerifyCase c = make_case({3, 3, 3}, true, 3);
  OwnNumbers<std::int64_t> numbers(c);
  const std::int64_t bad =
      GENERATE((std::int64_t{1} << 32) + 1, -(std::int64_t{1} << 32) - 1, std::int64_t{3},
               std::int64_t{-2}, std::numeric_limits<std::int64_t>::min());
  CAPTURE(bad);
  numbers.first_child[3] = bad;  // of the second tree's root
  OnDevice<std::int64_t, MemorySpace> links(numbers);
  auto trees = links.links();
  trees.nodes_per_tree = 3;
  const Verified good = VerifyCaseOnDevice<TestType>(c).lossless(TestType());
  const Verified verified = VerifyCaseOnDevice<TestType>(c).lossless(TestType(), trees);
  CHECK(verified.status == std::vector<std::int32_t>{0, RowStatus::broken_tree, 0});
  CHECK(links.roots.values()[1] == 0);
  for (const std::size_t b : {0, 2}) CHECK(verified.bonus_tokens[b] == good.bonus_tokens[b]);
}

TEMPLATE_LIST_TEST_CASE("a tree whose nodes are out of range is broken, and it alone", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const bool with_links = GENERATE(false, true);
  const VerifyCase c = make_case({3, 3, 3}, true, 3);
  const Verified good = VerifyCaseOnDevice<TestType>(c).lossless(TestType());
  OwnNumbers<std::int32_t> numbers(c);
  const std::int32_t end = GENERATE(10, 5, -1, std::numeric_limits<int>::max());
  CAPTURE(with_links, end);
  numbers.begin[3] = end;
  OnDevice<std::int32_t, MemorySpace> links(numbers);
  const IndexVector<MemorySpace> begin = links.begin.vector();
  auto trees = links.links();
  trees.tree_begin = begin;
  if (!with_links) trees = token_chains<MemorySpace>(links.roots.vector(), begin);
  const Verified verified = VerifyCaseOnDevice<TestType>(c).lossless(TestType(), trees);
  CHECK(verified.status == std::vector<std::int32_t>{0, 0, RowStatus::broken_tree});
  CHECK(verified.bonus_tokens[2] == -1);
  for (const std::size_t b : {0, 1}) CHECK(verified.bonus_tokens[b] == good.bonus_tokens[b]);
}

TEMPLATE_LIST_TEST_CASE("trees whose shapes do not fit are refused", "[verify]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const VerifyCase c = make_case({3, 3, 3}, true, 3);
  const OnDevice<std::int32_t, MemorySpace> links{OwnNumbers<std::int32_t>(c)};
  const auto refuses = [&](const TokenTrees<MemorySpace>& trees) {
    CHECK_THROWS_AS(VerifyCaseOnDevice<TestType>(c).lossless(TestType(), trees), Error);
  };
  TokenTrees<MemorySpace> none;
  none.parent_ptr = links.roots.vector();
  refuses(none);  // neither links nor nodes of each tree
  for (const std::int64_t nodes_per_tree : {-3, 1, 2, 4, 9}) {
    auto trees = none;
    trees.nodes_per_tree = nodes_per_tree;
    refuses(trees);
  }
  auto trees = none;
  trees.nodes_per_tree = 3, trees.first_child = links.first_child.vector();
  refuses(trees);  // no next_sibling
  trees = none;
  trees.nodes_per_tree = 3, trees.next_sibling = links.next_sibling.vector();
  refuses(trees);  // no first_child
  trees = none;
  trees.nodes_per_tree = 3, trees.parent_ptr = {};
  refuses(trees);  // nodes without a tree
  trees = links.links(), trees.tree_begin = links.roots.vector();
  refuses(trees);  // one number too few
  trees = links.links(), trees.tree_begin = links.begin.vector(), trees.nodes_per_tree = 3;
  refuses(trees);
}

TEMPLATE_LIST_TEST_CASE("nodes that cannot be shared out are refused", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const VerifyCase c = make_case({3, 3, 2}, true, 3);
  const OnDevice<std::int32_t, MemorySpace> links{OwnNumbers<std::int32_t>(c)};
  TokenTrees<MemorySpace> trees;
  trees.parent_ptr = links.roots.vector();
  for (const std::int64_t nodes_per_tree : {2, 3, 8}) {
    trees.nodes_per_tree = nodes_per_tree;
    const Complaint said =
        error_of([&] { VerifyCaseOnDevice<TestType>(c).lossless(TestType(), trees); });
    CHECK(said.field == "nodes_per_tree");
    CHECK(said.value == std::to_string(nodes_per_tree));
  }
}

// The arrays are a node long; an error comes before anything is read.
TEMPLATE_LIST_TEST_CASE("more nodes than their numbers can count are refused", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> number(4);
  const Guarded<std::int32_t, MemorySpace> token(1), root(1), accepted(1), bonus(1);
  for (const std::int64_t nodes :
       {std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1, std::int64_t{1} << 40}) {
    const Kokkos::LayoutStride rows(nodes, 4, 4, 1);
    const auto all = [nodes](auto* data) {
      return vector_of<std::remove_pointer_t<decltype(data)>, MemorySpace>(data, nodes);
    };
    float* const numbers = number.vector().data();
    DraftDistributions<MemorySpace> in;
    in.model_probs = Matrix<const float, MemorySpace>(numbers, rows);
    in.draft_tokens = all(token.vector().data());
    in.uniforms = all(numbers);
    in.bonus_uniforms = vector_of<const float, MemorySpace>(numbers, 1);
    TokenTrees<MemorySpace> trees;
    trees.parent_ptr = root.vector();
    trees.nodes_per_tree = nodes;
    VerifiedTrees<MemorySpace> out;
    out.accepted = accepted.vector(), out.bonus_tokens = bonus.vector();
    out.residual_sums = all(numbers);
    const Complaint said = error_of([&] { verify_draft_trees(TestType(), in, trees, out); });
    CHECK(said.field == "nodes");
    CHECK(said.value == std::to_string(nodes));
    CHECK(said.expected == "at most 2147483647");
  }
}

TEMPLATE_LIST_TEST_CASE("no trees of any number of nodes are verified", "[verify]",
                        ExecutionSpaces) {
  VerifyCase c;
  c.vocabulary = 4;
  TokenTrees<MemoryOf<TestType>> none;
  none.nodes_per_tree = 3;
  const Verified verified = VerifyCaseOnDevice<TestType>(c).lossless(TestType(), none);
  CHECK(verified.accepted.empty());
}

}  // namespace tokkos::test
