// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/acceptance_statistics.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "backends.hpp"
#include "engine/draft_batch.hpp"
#include "kernels/guarded.hpp"
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

constexpr int vocabulary = 14;

template <class ExecutionSpace>
using Rows = Guarded<float, MemoryOf<ExecutionSpace>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a verifier counts what was tried and accepted at each depth", "[engine]",
                        ExecutionSpaces) {
  std::mt19937_64 random(5);
  DraftVerifier<TestType> verifier(TestType(), 500, vocabulary);
  AcceptanceStatistics expected;
  for (int step = 0; step < 4; ++step) {
    const DraftBatch batch = random_draft_batch(30, vocabulary, step % 2 == 1, random);
    const auto nodes = static_cast<std::size_t>(batch.reference.nodes());
    const Rows<TestType> model(nodes, vocabulary, 0, std::span(batch.reference.model_probs)),
        draft(nodes, vocabulary, 0, std::span(batch.reference.draft_probs));
    verifier.verify(model.matrix(), draft.matrix(), batch.trees, batch.uniforms);
    const AcceptanceStatistics more = counted(batch, verify_lossless(batch.reference));
    expected.trees += more.trees;
    expected.tried.resize(std::max(expected.tried.size(), more.tried.size()));
    expected.accepted.resize(expected.tried.size());
    for (std::size_t d = 0; d < more.tried.size(); ++d) {
      expected.tried[d] += more.tried[d];
      expected.accepted[d] += more.accepted[d];
    }
  }
  CHECK(expected.tried.size() >= 3);
  CHECK(verifier.statistics().tried == expected.tried);
  CHECK(verifier.statistics().accepted == expected.accepted);
  CHECK(verifier.statistics().trees == expected.trees);
  verifier.reset_statistics();
  CHECK(verifier.statistics().tried.empty());
}

TEST_CASE("siblings count as tried in the order in which they are tried", "[engine]") {
  const DraftTree tree{{1, 2, 3, 4}, {-1, -1, -1, 1}, {2, 1, 3, 0}};
  AcceptanceStatistics counts;
  counts.add(tree, std::vector<std::int32_t>{1});
  CHECK(counts.tried == std::vector<std::int64_t>{2, 1});
  CHECK(counts.accepted == std::vector<std::int64_t>{1, 0});
  counts.add(tree, std::vector<std::int32_t>{0});
  CHECK(counts.tried == std::vector<std::int64_t>{5, 1});
}

TEST_CASE("nodes behind bad data do not count as tried", "[engine]") {
  const DraftTree tree{{1, 2, 3, 4}, {-1, -1, 1, 1}};
  AcceptanceStatistics counts;
  counts.add(tree, std::vector<std::int32_t>{1}, false);
  CHECK(counts.tried == std::vector<std::int64_t>{2});
  CHECK(counts.accepted == std::vector<std::int64_t>{1});
  counts.add(tree, std::vector<std::int32_t>{1}, true);
  CHECK(counts.tried == std::vector<std::int64_t>{4, 2});
  CHECK(counts.accepted == std::vector<std::int64_t>{2, 0});
}

}  // namespace tokkos::test
