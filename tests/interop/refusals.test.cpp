// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What is wrong in C alone: numbers that no C++ type can hold, structs that say two things.
#include <tokkos/tokkos.h>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "interop/one_row.hpp"

namespace tokkos::test {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("a tree of C is given by links or by arrays, not both", "[interop]") {
  OneRow row;
  const std::int32_t tokens[] = {0, 5}, first_child[] = {1, -1}, siblings[] = {-1, -1};
  const std::int32_t parents[] = {-1}, order[] = {0};
  tokkos_tree_links links = tokkos_tree_links_default();
  links.draft_tokens = tokens;
  links.first_child = first_child;
  links.next_sibling = siblings;
  links.count = 2;
  const auto refused = [&](auto change) {
    tokkos_draft_tree tree = tokkos_draft_tree_default();
    tree.links = &links;
    change(tree);
    row.request.draft_tree = &tree;
    const Complaint said = row.complaint();
    CHECK(said.field == "requests[0].draft_tree.links");
    CHECK(said.value == "given, with arrays beside them");
  };
  refused([&](tokkos_draft_tree& tree) { tree.token_ids = tokens; });
  refused([&](tokkos_draft_tree& tree) { tree.parents = parents; });
  refused([&](tokkos_draft_tree& tree) { tree.trial_order = order; });
  refused([&](tokkos_draft_tree& tree) { tree.count = 1; });
  row.request.draft_tree = nullptr;
  check_ok(row.process());
}

TEST_CASE("links of C that reach past all addresses are refused", "[interop]") {
  OneRow row;
  const std::int32_t number = -1;
  tokkos_tree_links links = tokkos_tree_links_default();
  links.draft_tokens = links.first_child = links.next_sibling = &number;
  tokkos_draft_tree tree = tokkos_draft_tree_default();
  tree.links = &links;
  row.request.draft_tree = &tree;
  for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX - 7}) {
    links.count = count;
    const Complaint said = row.complaint();
    CHECK(said.field == "requests[0].draft_tree.links.draft_tokens.size");
    CHECK(said.value == std::to_string(count));
  }
}

TEST_CASE("rows of a request of C are counted by 31 bits", "[interop]") {
  OneRow row;
  for (const std::int64_t rows : {std::int64_t{-1}, std::int64_t{1} << 31, most}) {
    row.request.rows = rows;
    const Complaint said = row.complaint();
    CHECK(said.field == "requests[0].rows");
    CHECK(said.value == std::to_string(rows));
  }
  row.request.rows = 1;
  check_ok(row.process());
}

TEST_CASE("a config of C has a stream number or none", "[interop]") {
  OneRow row;
  for (const int has : {-1, 2, 255}) {
    row.config.has_stream = has;
    const Complaint said = row.complaint();
    CHECK(said.field == "requests[0].config.has_stream");
    CHECK(said.value == std::to_string(has));
  }
  row.config.has_stream = 1;
  check_ok(row.process());
}

TEST_CASE("arrays whose last element no pointer reaches are refused", "[interop]") {
  OneRow row;
  const auto refused = [&](auto change) {
    const tokkos_array kept = row.logits;
    change(row.logits);
    row.request.rows = row.logits.shape[0];
    const Complaint said = row.complaint();
    CHECK(said.field == "logits.shape");
    CHECK(said.index == std::optional<std::int64_t>(0));
    row.logits = kept;
    row.request.rows = 1;
  };
  refused([](tokkos_array& logits) { logits.shape[0] = 3, logits.strides[0] = most; });
  refused([](tokkos_array& logits) { logits.strides[1] = most; });  // times 99
  refused([](tokkos_array& logits) {  // each of both fits, and not their sum
    logits.shape[0] = 2, logits.strides[0] = most - 5, logits.strides[1] = 1;
  });
  refused([](tokkos_array& logits) {  // nor one element more
    logits.shape[0] = 2, logits.strides[0] = most - 99, logits.strides[1] = 1;
  });
  refused([](tokkos_array& logits) { logits.shape[0] = 2, logits.strides[0] = most / 4; });
  check_ok(row.process());
}

TEST_CASE("arrays without memory are refused where they have elements", "[interop]") {
  OneRow row;
  row.logits.data = nullptr;
  Complaint said = row.complaint();
  CHECK(said.field == "logits.data");
  CHECK(said.value == "null");
  row.logits.shape[0] = 0;  // no rows: it is the request that has one
  CHECK(row.complaint().field == "the sum of requests[].rows");
  row.logits.shape[0] = 1;
  row.logits.shape[1] = 0;
  said = row.complaint();
  CHECK(said.field == "logits.shape");
  CHECK(said.index == std::optional<std::int64_t>(1));
}

}  // namespace tokkos::test
