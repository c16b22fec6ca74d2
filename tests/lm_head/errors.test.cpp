// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "lm_head/head_on_device.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokkos::test;
using tokkos::LmHeadOptions;

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("an LM head refuses weights and options that are out of range", "[lm_head]") {
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Memory = Space::memory_space;
  using Weights = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
  const auto refuses = [](const Blame& blame, const Weights& weight, std::int64_t rows,
                          const LmHeadOptions& options) {
    expect_refusal(blame, [&] { tokkos::LmHead<Space, float>(Space(), weight, rows, options); });
  };
  const Weights weight("weight", 100, 8);
  refuses({"vocab_size", {}, "0"}, Weights("weight", 0, 8), 1, {});
  refuses({"weight.extent", 1, "0"}, Weights("weight", 100, 0), 1, {});
  refuses({"weight.data", {}, "null"}, Weights(nullptr, 100, 8), 1, {});
  const Kokkos::View<float, Memory> one("one");
  for (const std::int64_t size : {(std::int64_t{1} << 24) + 1, std::int64_t{1} << 60}) {
    const auto extent = static_cast<std::size_t>(size);
    const tokkos::Matrix<const float, Memory> wide(one.data(),
                                                   Kokkos::LayoutStride(1, extent, extent, 1));
    expect_refusal({"weight.extent", 1, std::to_string(size)},
                   [&] { tokkos::LmHead<Space, float>(Space(), wide, 16); });
  }
  refuses({"active_vocabulary", {}, "524288"}, Weights("weight", 1 << 19, 1), 1, {});
  for (const std::int64_t rows : {std::int64_t{-1}, std::int64_t{-100}, std::int64_t{1} << 31}) {
    refuses({"max_rows", {}, std::to_string(rows)}, weight, rows, {});
  }
  for (const std::int64_t block : {1, 100, 4095, -4096}) {
    refuses({"block_tokens", {}, std::to_string(block)}, weight, 1, {.block_tokens = block});
  }
  for (const std::int64_t active : {-1, 101, 1 << 20}) {
    refuses({"active_vocabulary", {}, std::to_string(active)}, weight, 1,
            {.active_vocabulary = active});
  }
  for (const float scale : {0.0f, -1.0f, infinity, std::nanf("")}) {
    refuses({"scale", {}, tokkos::to_text(scale)}, weight, 1, {.scale = scale});
  }
  for (const float cap : {-1.0f, infinity, std::nanf("")}) {
    refuses({"soft_cap", {}, tokkos::to_text(cap)}, weight, 1, {.soft_cap = cap});
  }
  for (const int product : {-1, 2, 7}) {
    refuses({"product", {}, std::to_string(product)}, weight, 1,
            {.product = static_cast<tokkos::LmHeadProduct>(product)});
  }
  CHECK(tokkos::LmHead<Space, float>(Space(), Weights("weight", 1 << 19, 1), 1,
                                     {.active_vocabulary = 1000})
            .active_vocabulary() == 1000);
}

TEMPLATE_LIST_TEST_CASE("outputs of an LM head are refused in its weights and hidden states",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  const DeviceHead<OnSpace> device(plain_case(3, 5000, 8, 62));
  const auto made = device.head();
  auto outputs = device.outputs();
  for (const float* inside : {device.weight().data(), device.hidden().data()}) {
    outputs.log_sum_exp = tokkos::vector_of<float, Memory>(const_cast<float*>(inside), 3);
    CHECK(error_of([&] { made.process(device.inputs(), outputs); }).field == "log_sum_exp");
  }
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logits("logits", 3, 5000);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> narrow("narrow", 3, 4999);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> hidden("hidden", 3, 7);
  const tokkos::Matrix<float, Memory> inside(const_cast<float*>(device.weight().data()),
                                             Kokkos::LayoutStride(3, 5000, 5000, 1));
  const Complaint overlap = error_of([&] { made.logits(device.hidden(), inside); });
  CHECK(overlap.field == "logits");
  CHECK(overlap.value == "memory that overlaps weight");
  CHECK(error_of([&] { made.logits(device.hidden(), narrow); }).field == "logits.extent");
  CHECK(error_of([&] { made.logits(hidden, logits); }).field == "hidden.extent");
}

TEMPLATE_LIST_TEST_CASE("a step of no rows does nothing, one that is asked for nothing only flags",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  HeadCase head = plain_case(2, 5000, 8, 63);
  head.hidden[3] = std::nanf("");
  const DeviceHead<OnSpace> device(head);
  const auto made = device.head();
  tokkos::LmHeadInputs<Memory> none;
  none.hidden = Kokkos::View<float**, Kokkos::LayoutRight, Memory>("none", 0, 8);
  none.temperature = device.inputs().temperature;
  made.process(none, {});
  none.temperature = {};
  made.process(none, {});
  tokkos::LmHeadOutputs<Memory> status;
  status.row_status = device.outputs().row_status;
  made.process(device.inputs(), status);
  CHECK(device.results().status == std::vector<std::int32_t>{1, 0});
  CHECK(device.results().tokens == std::vector<tokkos::TokenId>{0, 0});
}

TEMPLATE_LIST_TEST_CASE(
    "an LM head that was moved from refuses to work, one for no rows multiplies", "[lm_head]",
    ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  HeadCase head = plain_case(2, 300, 8, 64);
  const DeviceHead<OnSpace> device(head);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logits("logits", 2, 300);
  for (const auto product : {tokkos::LmHeadProduct::fixed_order, tokkos::LmHeadProduct::gemm}) {
    head.options.product = product;
    tokkos::LmHead<TestType, float> first(TestType(), device.weight(), 2, head.options);
    const auto second = std::move(first);
    CHECK(error_of([&] { first.logits(device.hidden(), logits); }).field == "Kokkos");
    CHECK(error_of([&] { first.process(device.inputs(), device.outputs()); }).field == "Kokkos");
    second.process(device.inputs(), device.outputs());
  }
  const tokkos::LmHead<TestType, float> none(TestType(), device.weight(), 0);
  none.logits(device.hidden(), logits);
  TestType().fence("tokkos::test::multiplied");
  CHECK(on_host(logits) == device.logits());
}
