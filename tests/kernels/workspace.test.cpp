// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/workspace.hpp>

#include "backends.hpp"
#include "kernels/logit_block.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using Interval = std::pair<const char*, const char*>;

template <class View>
Interval memory_of(const View& view) {
  const auto* begin = reinterpret_cast<const char*>(view.data());
  return {begin, begin + view.size() * sizeof(typename View::value_type)};
}

}  // namespace

TEST_CASE("a workspace takes 12 bytes for every chunk and 12 for every row") {
  CHECK(tokkos::workspace_bytes(0, 100) == 0);
  CHECK(tokkos::workspace_bytes(1, 1) == 24);
  CHECK(tokkos::workspace_bytes(7, 4096) == 7 * 24);
  CHECK(tokkos::workspace_bytes(7, 4097) == 7 * 36);
  CHECK(tokkos::workspace_bytes(256, 128256) == std::size_t{256} * 12 * (32 + 1));
  CHECK(tokkos::workspace_bytes(1, 2147483647) == std::size_t{12} * (524288 + 1));
}

TEMPLATE_LIST_TEST_CASE("a workspace's Views have the asked shape and do not overlap", "",
                        tokkos::test::ExecutionSpaces) {
  const tokkos::Workspace<typename TestType::memory_space> workspace(9, 10000);
  CHECK(workspace.max_rows() == 9);
  CHECK(workspace.vocabulary() == 10000);
  for (const std::int64_t rows : {0, 1, 5, 9}) {
    const auto measures = workspace.measures(rows);
    CHECK(measures.chunk_maximum.extent(0) == static_cast<std::size_t>(rows));
    CHECK(measures.chunk_maximum.extent(1) == 3);
    CHECK(measures.chunk_sum.extent(0) == static_cast<std::size_t>(rows));
    CHECK(measures.chunk_sum.extent(1) == 3);
    CHECK(measures.row_maximum.extent(0) == static_cast<std::size_t>(rows));
    CHECK(measures.row_mass.extent(0) == static_cast<std::size_t>(rows));
    std::vector<Interval> parts{memory_of(measures.chunk_maximum), memory_of(measures.chunk_sum),
                                memory_of(measures.row_maximum), memory_of(measures.row_mass)};
    std::sort(parts.begin(), parts.end());
    for (std::size_t i = 1; i < parts.size(); ++i) CHECK(parts[i - 1].second <= parts[i].first);
  }
}

TEMPLATE_LIST_TEST_CASE("a workspace refuses sizes outside its range", "",
                        tokkos::test::ExecutionSpaces) {
  using Workspace = tokkos::Workspace<typename TestType::memory_space>;
  const auto field_of = [](const auto& call) {
    const auto error = tokkos::test::thrown_by(call);
    REQUIRE(error.has_value());
    return error->field();
  };
  CHECK(field_of([] { Workspace(-1, 100); }) == "max_rows");
  CHECK(field_of([] { Workspace(1, 0); }) == "vocabulary");
  CHECK(field_of([] { Workspace(1, -5); }) == "vocabulary");
  CHECK(field_of([] { Workspace(1, std::int64_t{1} << 31); }) == "vocabulary");
  CHECK(field_of([] { static_cast<void>(tokkos::workspace_bytes(-1, 5)); }) == "max_rows");
  CHECK(field_of([] { Workspace(std::numeric_limits<std::int64_t>::max(), 2147483647); }) ==
        "max_rows");
  CHECK(field_of([] { Workspace(std::int64_t{1} << 52, 2147483647); }) == "max_rows");
  const Workspace workspace(4, 100);
  CHECK(field_of([&] { workspace.measures(5); }) == "rows");
  CHECK(field_of([&] { workspace.measures(-1); }) == "rows");
  CHECK_NOTHROW(Workspace(0, 1).measures(0));
  Workspace first(4, 100);
  const Workspace taken(std::move(first));
  CHECK(field_of([&] { first.measures(1); }) == "Kokkos");
  CHECK(taken.measures(4).row_mass.extent(0) == 4);
}
