// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/verify_greedy.hpp>
#include <tokkos/numerics/chunk.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/logit_block.hpp"
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Outcome {
  std::vector<std::int32_t> last, accepted, bonus, status;
  bool operator==(const Outcome&) const = default;
};

/// Lowest token of the largest allowed logit, -1 if there is none.
std::int32_t argmax_of(const std::vector<float>& logits, std::size_t row, std::size_t width,
                       const std::vector<std::int32_t>& mask) {
  std::int32_t best = -1;
  const std::size_t words = (width + 31) / 32;
  for (std::size_t v = 0; v < width; ++v) {
    const float x = logits[row * width + v];
    if (!(x > masked_logit)) continue;
    if (!mask.empty() && ((mask[row * words + v / 32] >> (v % 32)) & 1) == 0) continue;
    if (best < 0 || x > logits[row * width + static_cast<std::size_t>(best)]) {
      best = static_cast<std::int32_t>(v);
    }
  }
  return best;
}

/// Trees whose nodes are their parent's argmax as often as not; the model_probs of the case are
/// logits, as a logit type stores them.
template <LogitType Logit>
VerifyCase make_case(int batch, int vocabulary, std::mt19937_64& random) {
  VerifyCase c = make_verify_case(batch, vocabulary, 4, 3, Acceptance::mixed, random());
  for (float& x : c.model_probs) {
    x = stored_value<Logit>(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 64);
    if (random() % 16 == 0) x = stored_value<Logit>(random() % 2 == 0 ? -infinity : masked_logit);
    if (x == 0.0f && random() % 2 == 0) x = -0.0f;
  }
  return c;
}

Outcome expected_outcome(VerifyCase& c, const std::vector<std::int32_t>& mask,
                         std::mt19937_64& random) {
  Outcome outcome;
  for (int b = 0; b < c.batch(); ++b) {
    int node = c.roots[b];
    std::int32_t accepted = 0, wanted = -1;
    while (true) {
      wanted = argmax_of(c.model_probs, static_cast<std::size_t>(node), c.width(), mask);
      if (wanted < 0) break;
      int next = -1;
      for (int child = c.first_child[node]; child != -1; child = c.next_sibling[child]) {
        if (random() % 3 == 0) c.draft_tokens[child] = wanted;
        if (next < 0 && c.draft_tokens[child] == wanted) next = child;
      }
      if (next < 0) break;
      node = next;
      ++accepted;
    }
    outcome.last.push_back(node);
    outcome.accepted.push_back(accepted);
    outcome.bonus.push_back(wanted);
    outcome.status.push_back(wanted < 0 ? RowStatus::empty : RowStatus::ok);
  }
  return outcome;
}

/// Verifies twice: a team a tree, and with the rows' maxima found by all teams.
template <class Backend>
Outcome verify(const VerifyCase& c, const std::vector<std::int32_t>& mask = {},
               std::int64_t active = 0, const std::vector<std::int32_t>& row_index = {}) {
  using MemorySpace = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const LogitBlock<Backend> logits(c.model_probs, c.vocabulary);
  const auto words = on_device<MemorySpace>(mask, (c.vocabulary + 31) / 32, 0, 0);
  const Guarded<std::int32_t, MemorySpace> rows_of_nodes{std::span(row_index)};
  LogitRows<typename Backend::logit, MemorySpace> rows;
  rows.logits = logits.logits();
  rows.active_vocabulary = active;
  if (!mask.empty()) rows.bitmask.words = words;
  if (!row_index.empty()) rows.row_index = rows_of_nodes.vector();
  const Guarded<std::int32_t, MemorySpace> tokens{std::span(c.draft_tokens)},
      first{std::span(c.first_child)}, next{std::span(c.next_sibling)};
  const auto outcome_with = [&](const Matrix<std::int64_t, MemorySpace>& chunk_maxima) {
    Guarded<std::int32_t, MemorySpace> roots{std::span(c.roots)}, accepted(c.roots.size()),
        bonus(c.roots.size()), status(c.roots.size());
    verify_greedy(space, rows, tokens.vector(), {first.vector(), next.vector(), roots.vector()},
                  {accepted.vector(), bonus.vector(), status.vector(), chunk_maxima});
    space.fence("tokkos::test::verified");
    const Outcome outcome{roots.values(), accepted.values(), bonus.values(), status.values()};
    CHECK((roots.guards_intact() && accepted.guards_intact() && bonus.guards_intact()));
    return outcome;
  };
  const Outcome by_teams = outcome_with({});
  Guarded<std::int64_t, MemorySpace> maxima(
      c.draft_tokens.size(), static_cast<std::size_t>(chunk_count(c.vocabulary)), 1, {});
  Kokkos::deep_copy(space, maxima.matrix(), std::numeric_limits<std::int64_t>::max());
  CHECK(outcome_with(maxima.matrix()) == by_teams);
  maxima.values();
  CHECK(maxima.guards_intact());
  return by_teams;
}

/// A root with children for tokens 2 and 1 and a child of the second for token 0.
VerifyCase small_case(const std::vector<float>& root_row) {
  VerifyCase c;
  c.vocabulary = static_cast<int>(root_row.size());
  const int root = c.add_node(-1, -1, nan);
  c.add_node(root, 2, nan);
  const int second = c.add_node(root, 1, nan);
  c.add_node(second, 0, nan);
  std::ranges::copy(root_row, c.model_row(root).begin());
  return c;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("verify_greedy follows the argmax of every node", "[verify]", Backends) {
  const int vocabulary = GENERATE(3, 40, 4100);
  const bool masked = GENERATE(false, true);
  CAPTURE(vocabulary, masked);
  std::mt19937_64 random(vocabulary);
  VerifyCase c = make_case<typename TestType::logit>(8, vocabulary, random);
  std::vector<std::int32_t> mask;
  if (masked) {
    mask.resize(c.draft_tokens.size() * ((c.width() + 31) / 32));
    for (auto& word : mask) word = static_cast<std::int32_t>(random() & random());
  }
  const Outcome expected = expected_outcome(c, mask, random);
  CHECK(verify<TestType>(c, mask) == expected);
}

TEMPLATE_LIST_TEST_CASE("verify_greedy takes the lowest id of equal maxima", "[verify]", Backends) {
  const Outcome tie = verify<TestType>(small_case({-1.0f, 3.0f, 3.0f, 3.0f}));
  CHECK(tie.last == std::vector<std::int32_t>{3});  // 1, then 0 of a row of zeros
  CHECK(tie.accepted == std::vector<std::int32_t>{2});
  CHECK(tie.bonus == std::vector<std::int32_t>{0});
  const Outcome zeros = verify<TestType>(small_case({-1.0f, -0.0f, 0.0f, -2.0f}));
  CHECK(zeros.accepted == std::vector<std::int32_t>{2});
  // Tokens at or past the active vocabulary do not exist.
  VerifyCase c = small_case({-1.0f, -0.5f, -0.75f, 3.0f});
  CHECK(verify<TestType>(c, {}, 3).accepted == std::vector<std::int32_t>{2});
  CHECK(verify<TestType>(c).bonus == std::vector<std::int32_t>{3});
}

TEMPLATE_LIST_TEST_CASE("verify_greedy compares the maxima of chunks", "[verify]", Backends) {
  // Zeros of either sign are equal, and of equal chunks the first one has the lowest id.
  std::vector<float> row(3 * chunk_size + 5, -1.0f);
  row[chunk_size + 7] = -0.0f;
  row[2 * chunk_size + 1] = row[3 * chunk_size] = 0.0f;
  CHECK(verify<TestType>(small_case(row)).bonus == std::vector<std::int32_t>{chunk_size + 7});
  row[3 * chunk_size + 4] = 0.5f;
  CHECK(verify<TestType>(small_case(row)).bonus == std::vector<std::int32_t>{3 * chunk_size + 4});
  CHECK(verify<TestType>(small_case(row), {}, 3 * chunk_size + 4).bonus ==
        std::vector<std::int32_t>{chunk_size + 7});
  // Whatever the order, every chunk's status counts, and that of no other row.
  row[chunk_size] = nan, row[2 * chunk_size] = infinity;
  CHECK(verify<TestType>(small_case(row)) ==
        Outcome{{0}, {0}, {-1}, {RowStatus::nan_logit | RowStatus::positive_infinity}});
  VerifyCase below = small_case(std::vector<float>(row.size(), -2.0f));
  std::ranges::copy(row, below.model_row(1).begin());
  CHECK(verify<TestType>(below) == Outcome{{0}, {0}, {0}, {RowStatus::ok}});
}

TEMPLATE_LIST_TEST_CASE("verify_greedy names a row index out of range", "[verify]", Backends) {
  const std::int32_t index = GENERATE(-1, 4, std::numeric_limits<std::int32_t>::max());
  VerifyCase c = small_case(std::vector<float>(2 * chunk_size, 0.5f));
  c.draft_tokens[1] = 0;
  CHECK(verify<TestType>(c, {}, 0, {0, 1, 2, 3}).status[0] == RowStatus::ok);
  CHECK(verify<TestType>(c, {}, 0, {index, 1, 2, 3}) ==
        Outcome{{0}, {0}, {-1}, {RowStatus::invalid_parameter}});
  CHECK(verify<TestType>(c, {}, 0, {0, index, 2, 3}) ==
        Outcome{{1}, {1}, {-1}, {RowStatus::invalid_parameter}});
  CHECK(verify<TestType>(c, {}, 0, {0, 1, index, 3}) == Outcome{{1}, {1}, {0}, {RowStatus::ok}});
}

TEMPLATE_LIST_TEST_CASE("trees that wrongly share nodes are verified as if alone", "[verify]",
                        ExecutionSpaces) {
  using Float = Backend<TestType, float>;
  VerifyCase c = small_case({0.0f, 5.0f, 1.0f, 2.0f});
  const Outcome alone = verify<Float>(c);
  c.roots.assign(40, 0);
  const Outcome shared = verify<Float>(c);
  CHECK(shared.last == std::vector<std::int32_t>(40, alone.last[0]));
  CHECK(shared.bonus == std::vector<std::int32_t>(40, alone.bonus[0]));
  CHECK(shared.status == std::vector<std::int32_t>(40, RowStatus::ok));
}

TEMPLATE_LIST_TEST_CASE("rows are shared only where they leave threads idle", "[verify]",
                        ExecutionSpaces) {
  const TestType space;
  constexpr std::int64_t large = 4 * chunk_size;
  constexpr bool on_host = Kokkos::SpaceAccessibility<TestType, Kokkos::HostSpace>::accessible;
  const std::int64_t threads = space.concurrency();
  CHECK(shares_rows(space, 1, large) == (threads >= (on_host ? 2 : 2048)));
  CHECK(!shares_rows(space, 1, large - chunk_size));
  CHECK(!shares_rows(space, threads, large));
}

TEMPLATE_LIST_TEST_CASE("verify_greedy ends where a row is unusable", "[verify]", Backends) {
  struct Bad {
    std::vector<float> row;
    std::int32_t status;
  };
  const Bad bad = GENERATE(Bad{{0.0f, nan, 1.0f, 2.0f}, RowStatus::nan_logit},
                           Bad{{0.0f, infinity, 1.0f, 2.0f}, RowStatus::positive_infinity},
                           Bad{{-infinity, -infinity, -infinity, -infinity}, RowStatus::empty});
  const Outcome at_root = verify<TestType>(small_case(bad.row));
  CHECK(at_root == Outcome{{0}, {0}, {-1}, {bad.status}});
  VerifyCase below = small_case({0.0f, 5.0f, 1.0f, 2.0f});
  std::ranges::copy(bad.row, below.model_row(2).begin());
  CHECK(verify<TestType>(below) == Outcome{{2}, {1}, {-1}, {bad.status}});
}

TEMPLATE_LIST_TEST_CASE("verify_greedy passes over tokens outside the vocabulary", "[verify]",
                        Backends) {
  VerifyCase c = small_case({0.0f, 5.0f, 1.0f, 2.0f});
  c.draft_tokens[1] = GENERATE(-1, 4, 1000000);
  CHECK(verify<TestType>(c) == Outcome{{3}, {2}, {0}, {RowStatus::invalid_draft}});
  c.next_sibling[1] = 4;
  CHECK(verify<TestType>(c) ==
        Outcome{{0}, {0}, {-1}, {RowStatus::invalid_draft | RowStatus::broken_tree}});
}

TEMPLATE_LIST_TEST_CASE("verify_greedy refuses arrays whose shapes do not fit", "[verify]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> logits(4, 5, 0, {});
  const Guarded<std::int32_t, MemorySpace> i4(4), i3(3), i2(2), root(1), accepted(1), bonus(1);
  LogitRows<float, MemorySpace> rows;
  rows.logits = logits.matrix();
  const TokenTrees<MemorySpace> trees{i4.vector(), i4.vector(), root.vector()};
  const GreedyTrees<MemorySpace> out{accepted.vector(), bonus.vector(), {}};
  const auto fails = [&](const auto& tokens, const auto& links, const auto& results) {
    CHECK_THROWS_AS(verify_greedy(TestType(), rows, tokens.vector(), links, results), Error);
  };
  CHECK_NOTHROW(verify_greedy(TestType(), rows, i4.vector(), trees, out));
  fails(i3, trees, out);
  auto bad_trees = trees;
  bad_trees.first_child = i3.vector();
  fails(i4, bad_trees, out);
  for (auto member : {&GreedyTrees<MemorySpace>::accepted, &GreedyTrees<MemorySpace>::bonus_tokens,
                      &GreedyTrees<MemorySpace>::tree_status}) {
    auto bad = out;
    bad.*member = i2.vector();
    fails(i4, trees, bad);
  }
  const Guarded<std::int64_t, MemorySpace> m4(4, 1, 0, {}), wide(4, 2, 0, {}), m3(3, 1, 0, {});
  auto shared = out;
  shared.chunk_maxima = m4.matrix();
  CHECK_NOTHROW(verify_greedy(TestType(), rows, i4.vector(), trees, shared));
  for (const auto* bad : {&wide, &m3}) {
    shared.chunk_maxima = bad->matrix();
    fails(i4, trees, shared);
  }
  shared = out, shared.accepted = i4.vector();
  shared.accepted = vector_of<std::int32_t, MemorySpace>(i4.vector().data() + 3, 1);
  fails(i4, trees, shared);  // the links
  rows.active_vocabulary = 6;
  fails(i4, trees, out);
}

}  // namespace tokkos::test
