// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Arrays of a blob: each aligned, apart from the others, and within the room that was begun.
#include <tokkos/engine/staging.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends.hpp"
#include "kernels/logit_block.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {

TEMPLATE_LIST_TEST_CASE("staged arrays of odd lengths are aligned and keep what they hold", "",
                        ExecutionSpaces) {
  using Blob = Staging<TestType>;
  const TestType space;
  Blob blob;
  const std::size_t bytes = Blob::template room<char>(3) + Blob::template room<double>(9) +
                            Blob::template room<std::int32_t>(17) + Blob::template room<char>(64);
  blob.begin(space, bytes);
  const auto first = blob.template add<char>(3);
  const auto second = blob.template add<double>(9);
  const auto third = blob.template add<std::int32_t>(17);
  const auto fourth = blob.template add<char>(64);
  for (const std::size_t offset : {first.offset, second.offset, third.offset, fourth.offset}) {
    CHECK(offset % 64 == 0);
  }
  CHECK(blob.size() == bytes);
  std::ranges::fill(blob.host(first), 'a');
  std::ranges::fill(blob.host(second), 2.5);
  std::ranges::fill(blob.host(third), 3);
  std::ranges::fill(blob.host(fourth), 'd');
  blob.upload(space);
  space.fence("tokkos::test::uploaded");
  CHECK(on_host(blob.on_device(first)) == std::vector<char>(3, 'a'));
  CHECK(on_host(blob.on_device(second)) == std::vector<double>(9, 2.5));
  CHECK(on_host(blob.on_device(third)) == std::vector<std::int32_t>(17, 3));
  CHECK(on_host(blob.on_device(fourth)) == std::vector<char>(64, 'd'));
  blob.end(space);
}

TEMPLATE_LIST_TEST_CASE("an array that does not fit what was begun is refused", "",
                        ExecutionSpaces) {
  const TestType space;
  Staging<TestType> blob;
  blob.begin(space, 100);
  const auto held = blob.template add<char>(100);
  const std::size_t size = blob.size();
  const std::size_t room = staging_room(100);
  const Complaint complaint = error_of([&] { blob.template add<char>(room); });
  CHECK(complaint.field == "staging");
  CHECK(complaint.value == std::to_string(size + room) + " bytes");
  CHECK(blob.size() == size);
  CHECK(blob.host(held).size() == 100);
  blob.end(space);
}

}  // namespace tokkos::test
