// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "lm_head/head_on_device.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokkos::test;

template <class T, class Memory>
tokkos::Vector<T, Memory> shortened(const tokkos::Vector<T, Memory>& view) {
  return tokkos::vector_of<T, Memory>(view.data(), view.extent(0) - 1);
}

template <class T, class Memory>
tokkos::Vector<T, Memory> without_memory(const tokkos::Vector<T, Memory>& view) {
  return tokkos::vector_of<T, Memory>(nullptr, view.extent(0));
}

/// The same memory, in rows of other places.
template <class T, class Memory>
tokkos::Matrix<T, Memory> laid_out(const tokkos::Matrix<T, Memory>& view, std::size_t rows,
                                   std::size_t row_stride, std::size_t columns,
                                   std::size_t column_stride = 1) {
  const Kokkos::LayoutStride layout(rows, row_stride, columns, column_stride);
  return tokkos::Matrix<T, Memory>(view.data(), layout);
}

/// No rows of some columns, without memory.
template <class T, class Memory>
tokkos::Matrix<T, Memory> no_rows(std::size_t columns) {
  return tokkos::Matrix<T, Memory>(nullptr, Kokkos::LayoutStride(0, columns, columns, 1));
}

/// The length of a View without its last element, as text.
template <class View>
std::string one_less(const View& view) {
  return std::to_string(view.extent(0) - 1);
}

}  // namespace

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
  const auto given = device.outputs().given_tokens.extent(1);
  const auto top = device.outputs().top_tokens.extent(1);
  REQUIRE(given >= 2);
  REQUIRE(top >= 2);
  const Kokkos::View<tokkos::TokenId**, Kokkos::LayoutRight, Memory> wide("wide", 3, 129);

  std::vector<std::pair<Blame, Change>> changes = {
      {{"hidden.extent", 1, "7"},
       [](Inputs& in, Outputs&) {
         in.hidden = Kokkos::subview(in.hidden, Kokkos::ALL, std::pair<int, int>(0, 7));
       }},
      {{"hidden.extent", 1, "0"},
       [](Inputs& in, Outputs&) {
         const Kokkos::LayoutStride no_columns(in.hidden.extent(0), 0, 0, 1);
         in.hidden = tokkos::Matrix<const float, Memory>(nullptr, no_columns);
       }},
      {{"tokens.data", {}, "null"},
       [](Inputs&, Outputs& out) { out.tokens = without_memory(out.tokens); }},
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
      {{"top_tokens.extent", 0, "0"}, [](Inputs&, Outputs& out) { out.top_tokens = {}; }},
      {{"given_logprobs.extent", 0, "0"},
       [](Inputs&, Outputs& out) { out.given_logprobs = no_rows<float, Memory>(5); }},
      {{"given_tokens.extent", 0, "0"},
       [](Inputs&, Outputs& out) { out.given_tokens = no_rows<const tokkos::TokenId, Memory>(5); }},
      {{"top_logprobs.extent", 0, "0"},
       [=](Inputs&, Outputs& out) { out.top_logprobs = no_rows<float, Memory>(top); }},
      {{"top_tokens.extent", 0, "0"},
       [=](Inputs&, Outputs& out) { out.top_tokens = no_rows<tokkos::TokenId, Memory>(top); }},
      {{"token_logprobs", {}, "memory that overlaps log_sum_exp"},
       [](Inputs&, Outputs& out) { out.log_sum_exp = out.token_logprobs; }},
      {{"tokens", {}, "memory that overlaps row_status"},
       [](Inputs&, Outputs& out) { out.row_status = out.tokens; }},
      {{"top_tokens.data", {}, "null"},
       [](Inputs&, Outputs& out) {
         out.top_tokens = tokkos::Matrix<tokkos::TokenId, Memory>(nullptr, out.top_tokens.layout());
       }},
      {{"given_logprobs.data", {}, "null"},
       [](Inputs&, Outputs& out) {
         out.given_logprobs = tokkos::Matrix<float, Memory>(nullptr, out.given_logprobs.layout());
       }},
      {{"hidden.data", {}, "null"},
       [](Inputs& in, Outputs&) {
         in.hidden = tokkos::Matrix<const float, Memory>(nullptr, in.hidden.layout());
       }},
      {{"hidden.stride", 0, "7"},
       [](Inputs& in, Outputs&) { in.hidden = laid_out(in.hidden, 3, 7, 8); }},
      {{"hidden.stride", 1, "3"},
       [](Inputs& in, Outputs&) { in.hidden = laid_out(in.hidden, 3, 1, 8, 3); }},
      {{"bitmask.extent", 0, "1"},
       [](Inputs& in, Outputs&) {
         const auto width = in.bitmask.words.extent(1);
         in.bitmask = {laid_out(in.bitmask.words, 1, width, width), {}};
       }},
      {{"bitmask.stride", 0, "0"},
       [](Inputs& in, Outputs&) {
         in.bitmask.words = laid_out(in.bitmask.words, 2, 0, in.bitmask.words.extent(1));
       }},
      {{"given_tokens.extent", 0, "2"},
       [=](Inputs&, Outputs& out) {
         out.given_tokens = laid_out(out.given_tokens, 2, given, given);
       }},
      {{"given_logprobs.extent", 1, std::to_string(given - 1)},
       [=](Inputs&, Outputs& out) {
         out.given_logprobs = laid_out(out.given_logprobs, 3, given, given - 1);
       }},
      {{"given_logprobs.stride", 0, "1"},
       [=](Inputs&, Outputs& out) {
         out.given_logprobs = laid_out(out.given_logprobs, 3, 1, given);
       }},
      {{"top_tokens.stride", 1, "2"},
       [=](Inputs&, Outputs& out) {
         out.top_tokens = laid_out(out.top_tokens, 3, 2 * top, top, 2);
       }},
      {{"top_tokens.extent", 1, "129"}, [=](Inputs&, Outputs& out) { out.top_tokens = wide; }},
      {{"top_logprobs.extent", 1, std::to_string(top - 1)},
       [=](Inputs&, Outputs& out) {
         out.top_logprobs = laid_out(out.top_logprobs, 3, top, top - 1);
       }},
      {{"tokens", {}, "memory that overlaps given_tokens"},
       [](Inputs&, Outputs& out) {
         out.tokens = tokkos::vector_of<tokkos::TokenId, Memory>(
             const_cast<tokkos::TokenId*>(out.given_tokens.data()), 3);
       }},
  };
  for (const int ties : {-1, 2, 7}) {
    changes.push_back({{"ties", {}, std::to_string(ties)}, [=](Inputs&, Outputs& out) {
                         out.ties = static_cast<tokkos::GreedyTies>(ties);
                       }});
  }
  for (const auto& [blame, change] : changes) {
    Inputs inputs = device.inputs();
    Outputs outputs = device.outputs();
    change(inputs, outputs);
    expect_refusal(blame, [&] { made.process(inputs, outputs); });
    CHECK(device.results() == before);
  }
  const HeadCase larger = full_case(4, 5000, 8, 61);
  CHECK(error_of([&] {
          made.process(DeviceHead<OnSpace>(larger).inputs(), DeviceHead<OnSpace>(larger).outputs());
        }).field == "hidden.extent");
}

TEMPLATE_LIST_TEST_CASE("lists without rows and memory are left out, whatever their columns",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  const HeadCase head = full_case(3, 5000, 8, 62);
  const bool has_given = GENERATE(false, true), has_top = GENERATE(false, true);
  const auto results_with = [&](std::size_t columns) {
    const DeviceHead<OnSpace> device(head);
    tokkos::LmHeadOutputs<Memory> outputs = device.outputs();
    if (!has_given) {
      outputs.given_tokens = no_rows<const tokkos::TokenId, Memory>(columns);
      outputs.given_logprobs = no_rows<float, Memory>(columns);
    }
    if (!has_top) {
      outputs.top_tokens = no_rows<tokkos::TokenId, Memory>(columns);
      outputs.top_logprobs = no_rows<float, Memory>(columns);
    }
    device.head().process(device.inputs(), outputs);
    TestType().fence("tokkos::test::left_out");
    return device.results();
  };
  const HeadResults expected = results_with(0);
  CHECK(results_with(1) == expected);
  CHECK(results_with(5) == expected);
  CHECK(results_with(129) == expected);
}
