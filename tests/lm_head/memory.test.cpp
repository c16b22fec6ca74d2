// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "lm_head/head_on_device.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace {

using namespace tokkos::test;
using tokkos::LmHeadProduct;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step allocates nothing, and no memory has the size of whole logits",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, tokkos::bfloat16>;
  for (const auto product : {LmHeadProduct::fixed_order, LmHeadProduct::gemm}) {
    HeadCase head = plain_case(48, 9 * 4096, 4, 51);
    head.options.product = product;
    head.options.block_tokens = 4096;
    const DeviceHead<OnSpace> device(head);
    device.head().process(device.inputs(), device.outputs());  // room for the teams of gemm
    KokkosEvents events;
    const auto made = device.head();
    std::uint64_t allocated = 0;
    for (const auto& allocation : events.allocations()) allocated += allocation.bytes;
    CHECK(allocated >= made.device_bytes());
    CHECK(allocated <= made.device_bytes() + 1024);  // what Kokkos adds
    const std::size_t before = events.allocations().size();
    made.process(device.inputs(), device.outputs());
    CHECK(events.allocations().size() == before);
    const std::uint64_t logits = 48 * 9 * 4096 * sizeof(float);
    CHECK(events.largest_allocation() < logits / 3);
    for (const std::string& label : events.launches()) {
      const bool known =
          label.rfind("tokkos::lm_head::", 0) == 0 || label.rfind("KokkosBlas::", 0) == 0;
      CHECK((known ? "" : label) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the first step in a fixed order allocates nothing either", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, tokkos::bfloat16>;
  // Of 16 bits, and longer than any other test's: Kokkos has no room for its teams yet.
  const DeviceHead<OnSpace> device(plain_case(8, 4096, 6000, 53));
  const KokkosEvents events;
  const auto made = device.head();
  const std::size_t before = events.allocations().size();
  CHECK(before > 0);
  made.process(device.inputs(), device.outputs());
  CHECK(events.allocations().size() == before);
}

TEMPLATE_LIST_TEST_CASE("256 rows of 262144 tokens take 249 MiB less than their logits",
                        "[lm_head]", ExecutionSpaces) {
  using Memory = tokkos::MemoryOf<TestType>;
  constexpr std::int64_t rows = 256, vocabulary = 262144;
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> weight("weight", vocabulary, 1);
  const tokkos::LmHead<TestType, float> chosen(TestType(), weight, rows);
  const tokkos::LmHead<TestType, float> least(TestType(), weight, rows, {.block_tokens = 4096});
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  constexpr std::size_t logits = rows * vocabulary * sizeof(float);
  CHECK(logits == 256 * mebibyte);
  CHECK(chosen.block_tokens() == 8192);
  // A block of two chunks or one, and less than 2.3 MiB of pairs, masses and places.
  CHECK(chosen.device_bytes() <= 10 * mebibyte + 300 * 1024);
  CHECK(least.device_bytes() <= 6 * mebibyte + 300 * 1024);
  CHECK(logits - least.device_bytes() >= 249 * mebibyte);
}

TEMPLATE_LIST_TEST_CASE("the block size is chosen by rows and never longer than the vocabulary",
                        "[lm_head]", ExecutionSpaces) {
  using Memory = tokkos::MemoryOf<TestType>;
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> weight("weight", 20000, 1);
  const auto block = [&](std::int64_t rows, tokkos::LmHeadOptions options = {}) {
    return tokkos::LmHead<TestType, float>(TestType(), weight, rows, options).block_tokens();
  };
  CHECK(block(0) == 5 * 4096);
  CHECK(block(1) == 5 * 4096);
  CHECK(block(200) == 2 * 4096);
  CHECK(block(3000) == 4096);
  CHECK(block(1, {.block_tokens = 1 << 20}) == 5 * 4096);
  CHECK(block(1, {.block_tokens = 8192}) == 8192);
  CHECK(block(1, {.active_vocabulary = 4097}) == 8192);
}

TEMPLATE_LIST_TEST_CASE("a step in a fixed order never waits; one by gemm waits for its choice",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  for (const auto product : {LmHeadProduct::fixed_order, LmHeadProduct::gemm}) {
    HeadCase head = plain_case(4, 3 * 4096, 4, 52);
    head.options.product = product;
    head.options.block_tokens = 4096;
    const DeviceHead<OnSpace> device(head);
    const auto made = device.head();
    std::set<std::string> fences;
    {
      const KokkosEvents events;
      made.process(device.inputs(), device.outputs());
      for (const std::string& label : events.fences()) {
        if (label.rfind("Kokkos::Tools::", 0) != 0) fences.insert(label);
      }
    }
    if (product == LmHeadProduct::fixed_order) {
      CHECK(fences.empty());
    } else {
      CHECK(fences.contains("tokkos::lm_head::starts"));
    }
  }
}
