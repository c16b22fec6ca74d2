// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "lm_head/head_on_device.hpp"
#include "request/error_of.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokkos::test;
using tokkos::LmHeadOptions;

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T, class Memory>
tokkos::Vector<T, Memory> shortened(const tokkos::Vector<T, Memory>& view) {
  return tokkos::vector_of<T, Memory>(view.data(), view.extent(0) - 1);
}

template <class T, class Memory>
tokkos::Vector<T, Memory> without_memory(const tokkos::Vector<T, Memory>& view) {
  return tokkos::vector_of<T, Memory>(nullptr, view.extent(0));
}

/// The length of a View without its last element, as text.
template <class View>
std::string one_less(const View& view) {
  return std::to_string(view.extent(0) - 1);
}

/// What an Error has to say, to the letter.
struct Blame {
  std::string field;
  std::optional<std::int64_t> index;
  std::string value;
};

template <class Call>
void check_refused(const Blame& blame, Call call) {
  const Complaint complaint = error_of(call);
  CAPTURE(blame.field, complaint.message);
  CHECK(complaint.field == blame.field);
  CHECK(complaint.index == blame.index);
  CHECK(complaint.value == blame.value);
  CHECK(!complaint.expected.empty());
}

}  // namespace

TEST_CASE("an LM head refuses weights and options that are out of range", "[lm_head]") {
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Memory = Space::memory_space;
  using Weights = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
  const auto refuses = [](const Blame& blame, const Weights& weight, std::int64_t rows,
                          const LmHeadOptions& options) {
    check_refused(blame, [&] { tokkos::LmHead<Space, float>(Space(), weight, rows, options); });
  };
  const Weights weight("weight", 100, 8);
  refuses({"vocab_size", {}, "0"}, Weights("weight", 0, 8), 1, {});
  refuses({"weight.extent", 1, "0"}, Weights("weight", 100, 0), 1, {});
  refuses({"weight.data", {}, "null"}, Weights(nullptr, 100, 8), 1, {});
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

TEMPLATE_LIST_TEST_CASE("an LM head refuses what does not fit and writes nothing then", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  using Inputs = tokkos::LmHeadInputs<Memory>;
  using Outputs = tokkos::LmHeadOutputs<Memory>;
  using Change = std::function<void(Inputs&, Outputs&)>;
  const HeadCase head = full_case(3, 5000, 8, 61);
  const DeviceHead<OnSpace> device(head);
  const HeadResults before = device.results();
  const auto made = device.head();
  const auto biases = device.inputs().biases;
  const auto penalties = device.inputs().penalties;

  const std::vector<std::pair<Blame, Change>> changes = {
      {{"hidden.extent", 1, "7"},
       [](Inputs& in, Outputs&) {
         in.hidden = Kokkos::subview(in.hidden, Kokkos::ALL, std::pair<int, int>(0, 7));
       }},
      {{"temperature.extent", 0, "2"},
       [](Inputs& in, Outputs&) { in.temperature = shortened(in.temperature); }},
      {{"temperature.extent", 0, "0"}, [](Inputs& in, Outputs&) { in.temperature = {}; }},
      {{"temperature.data", {}, "null"},
       [](Inputs& in, Outputs&) { in.temperature = without_memory(in.temperature); }},
      {{"biases.pos2seq_id.extent", 0, one_less(biases.pos2seq_id)},
       [](Inputs& in, Outputs&) { in.biases.pos2seq_id = shortened(in.biases.pos2seq_id); }},
      {{"biases.logit_bias.extent", 0, one_less(biases.logit_bias)},
       [](Inputs& in, Outputs&) { in.biases.logit_bias = shortened(in.biases.logit_bias); }},
      {{"biases.token_ids.data", {}, "null"},
       [](Inputs& in, Outputs&) { in.biases.token_ids = without_memory(in.biases.token_ids); }},
      {{"penalties.token_cnt.extent", 0, one_less(penalties.token_cnt)},
       [](Inputs& in, Outputs&) { in.penalties.token_cnt = shortened(in.penalties.token_cnt); }},
      {{"penalties.token_ids.data", {}, "null"},
       [](Inputs& in, Outputs&) {
         in.penalties.token_ids = without_memory(in.penalties.token_ids);
       }},
      {{"penalties.policies.extent", 0, one_less(penalties.policies)},
       [](Inputs& in, Outputs&) { in.penalties.policies = shortened(in.penalties.policies); }},
      {{"penalties.seq_ids.data", {}, "null"},
       [](Inputs& in, Outputs&) { in.penalties.seq_ids = without_memory(in.penalties.seq_ids); }},
      {{"bitmask.extent", 1, "100"},
       [](Inputs& in, Outputs&) {
         in.bitmask.words =
             Kokkos::subview(in.bitmask.words, Kokkos::ALL, std::pair<int, int>(0, 100));
       }},
      {{"bitmask.extent", 1, "0"}, [](Inputs& in, Outputs&) { in.bitmask.words = {}; }},
      {{"bitmask.row_index.extent", 0, "2"},
       [](Inputs& in, Outputs&) { in.bitmask.row_index = shortened(in.bitmask.row_index); }},
      {{"uniforms", {}, "left out"}, [](Inputs&, Outputs& out) { out.uniforms = {}; }},
      {{"tokens", {}, "left out"}, [](Inputs&, Outputs& out) { out.tokens = {}; }},
      {{"tokens", {}, "left out"},
       [](Inputs&, Outputs& out) { out.tokens = {}, out.uniforms = {}; }},
      {{"uniforms.extent", 0, "2"},
       [](Inputs&, Outputs& out) { out.uniforms = shortened(out.uniforms); }},
      {{"tokens.extent", 0, "2"},
       [](Inputs&, Outputs& out) { out.tokens = shortened(out.tokens); }},
      {{"token_logprobs.extent", 0, "2"},
       [](Inputs&, Outputs& out) { out.token_logprobs = shortened(out.token_logprobs); }},
      {{"log_sum_exp.extent", 0, "2"},
       [](Inputs&, Outputs& out) { out.log_sum_exp = shortened(out.log_sum_exp); }},
      {{"row_status.extent", 0, "2"},
       [](Inputs&, Outputs& out) { out.row_status = shortened(out.row_status); }},
      {{"given_logprobs.extent", 0, "0"}, [](Inputs&, Outputs& out) { out.given_logprobs = {}; }},
      {{"given_tokens.extent", 0, "0"}, [](Inputs&, Outputs& out) { out.given_tokens = {}; }},
      {{"top_logprobs.extent", 0, "0"}, [](Inputs&, Outputs& out) { out.top_logprobs = {}; }},
      {{"token_logprobs", {}, "a View that overlaps log_sum_exp"},
       [](Inputs&, Outputs& out) { out.log_sum_exp = out.token_logprobs; }},
      {{"tokens", {}, "a View that overlaps row_status"},
       [](Inputs&, Outputs& out) { out.row_status = out.tokens; }},
  };
  for (const auto& [blame, change] : changes) {
    Inputs inputs = device.inputs();
    Outputs outputs = device.outputs();
    change(inputs, outputs);
    check_refused(blame, [&] { made.process(inputs, outputs); });
    CHECK(device.results() == before);
  }
  const HeadCase larger = full_case(4, 5000, 8, 61);
  CHECK(error_of([&] {
          made.process(DeviceHead<OnSpace>(larger).inputs(), DeviceHead<OnSpace>(larger).outputs());
        }).field == "hidden.extent");
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
