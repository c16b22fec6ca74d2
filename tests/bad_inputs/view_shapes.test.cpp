// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Views that do not fit a step, or each other, and sizes that nothing can be made for.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/step_bench.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t rows = ThreeRequests::rows, columns = ThreeRequests::vocabulary;

template <class Memory>
Matrix<float, Memory> matrix_at(const Guarded<float, Memory>& memory, std::ptrdiff_t offset,
                                std::size_t height, std::size_t width, std::size_t stride,
                                std::size_t column_stride = 1) {
  return Matrix<float, Memory>(memory.vector().data() + offset,
                               Kokkos::LayoutStride(height, stride, width, column_stride));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("logits of another shape or stride are refused", "[row-56]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Views = BenchViews<Memory>;
  StepBench<TestType> bench;
  const Guarded<float, Memory> memory(4000);
  const auto refuses = [&](const Blame& blame, const Matrix<float, Memory>& logits) {
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.processor().inplace_update_logits(logits, r, v.status.vector());
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.processor().compute_probs_from_logits(logits, r, v.probabilities.matrix());
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.processor().process(logits, r, v.outputs());
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.sampler().sample_from_logits(logits, r, v.tokens.vector());
    });
  };
  for (const std::size_t width : {std::size_t{99}, std::size_t{101}, std::size_t{0}}) {
    refuses({"logits.extent", 1, std::to_string(width)}, matrix_at(memory, 0, rows, width, 200));
  }
  constexpr std::size_t far = std::size_t{1} << 60;  // rows that no memory holds
  for (const std::size_t stride :
       {std::size_t{99}, std::size_t{1}, std::size_t{0}, far, 2 * far, 4 * far}) {
    refuses({"logits.stride", 0, std::to_string(stride)},
            matrix_at(memory, 0, rows, columns, stride));
  }
  for (const std::size_t column_stride : {std::size_t{0}, std::size_t{2}, std::size_t{7}}) {
    refuses({"logits.stride", 1, std::to_string(column_stride)},
            matrix_at(memory, 0, rows, columns, 400, column_stride));
  }
  for (const std::size_t height : {std::size_t{6}, std::size_t{8}, std::size_t{0}}) {
    refuses({"cum_num_token", 3, "7"}, matrix_at(memory, 0, height, columns, 100));
  }
}

TEMPLATE_LIST_TEST_CASE("outputs of another shape or stride are refused", "[row-31][row-56]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Views = BenchViews<Memory>;
  StepBench<TestType> bench;
  const Guarded<float, Memory> memory(4000);
  const auto refuses = [&](const Blame& blame, const Matrix<float, Memory>& probabilities) {
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.processor().compute_probs_from_logits(v.logits.matrix(), r, probabilities);
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      StepOutputs<Memory> outputs = v.outputs();
      outputs.probabilities = probabilities;
      bench.processor().process(v.logits.matrix(), r, outputs);
    });
  };
  for (const std::size_t height : {std::size_t{1}, std::size_t{6}, std::size_t{8}}) {
    refuses({"probabilities.extent", 0, std::to_string(height)},
            matrix_at(memory, 0, height, columns, 100));
  }
  for (const std::size_t width : {std::size_t{1}, std::size_t{99}, std::size_t{101}}) {
    refuses({"probabilities.extent", 1, std::to_string(width)},
            matrix_at(memory, 0, rows, width, 200));
  }
  for (const std::size_t stride : {std::size_t{0}, std::size_t{50}, std::size_t{99}}) {
    refuses({"probabilities.stride", 0, std::to_string(stride)},
            matrix_at(memory, 0, rows, columns, stride));
  }
  for (const std::size_t length : {std::size_t{1}, std::size_t{6}, std::size_t{8}}) {
    const Guarded<std::int32_t, Memory> numbers(length);
    const Guarded<float, Memory> floats(length);
    const std::string value = std::to_string(length);
    const auto refuses_output = [&](const char* field, auto plant) {
      bench.refuses_call({std::string(field) + ".extent", 0, value},
                         [&](Views& v, const StepRequests& r) {
                           StepOutputs<Memory> outputs = v.outputs();
                           plant(outputs);
                           bench.processor().process(v.logits.matrix(), r, outputs);
                         });
    };
    refuses_output("tokens", [&](auto& o) { o.tokens = numbers.vector(); });
    refuses_output("logprobs", [&](auto& o) { o.logprobs = floats.vector(); });
    refuses_output("raw_logprobs", [&](auto& o) { o.raw_logprobs = floats.vector(); });
    refuses_output("log_sum_exp", [&](auto& o) { o.log_sum_exp = floats.vector(); });
    refuses_output("row_status", [&](auto& o) { o.row_status = numbers.vector(); });
    bench.refuses_call({"tokens.extent", 0, value}, [&](Views& v, const StepRequests& r) {
      bench.sampler().sample_from_logits(v.logits.matrix(), r, numbers.vector());
    });
    const std::vector<float> uniforms(length, 0.5f);
    bench.refuses_call({"uniforms.size", {}, value}, [&](Views& v, const StepRequests& r) {
      bench.processor().process(v.logits.matrix(), r, v.outputs(), {.uniforms = uniforms});
    });
  }
}

TEMPLATE_LIST_TEST_CASE("numbers of rows at distances that no memory has are refused", "[row-56]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Views = BenchViews<Memory>;
  StepBench<TestType> bench;
  const Guarded<std::int32_t, Memory> numbers(rows);
  const Guarded<float, Memory> floats(rows);
  // The last two are 0 bytes, modulo 2^64.
  for (const int exponent : {59, 61, 62, 63}) {
    const std::size_t stride = std::size_t{1} << exponent;
    const auto far = [&](const auto& view) {
      using Far = std::decay_t<decltype(view)>;
      return Far(view.data(), Kokkos::LayoutStride(rows, stride));
    };
    const auto refuses = [&](const char* field, auto plant) {
      const auto value = std::to_string(static_cast<std::int64_t>(stride));
      bench.refuses_call({std::string(field) + ".stride", 0, value},
                         [&](Views& v, const StepRequests& r) {
                           StepOutputs<Memory> outputs = v.outputs();
                           plant(outputs);
                           bench.processor().process(v.logits.matrix(), r, outputs);
                         });
    };
    refuses("tokens", [&](auto& o) { o.tokens = far(numbers.vector()); });
    refuses("logprobs", [&](auto& o) { o.logprobs = far(floats.vector()); });
    refuses("raw_logprobs", [&](auto& o) { o.raw_logprobs = far(floats.vector()); });
    refuses("log_sum_exp", [&](auto& o) { o.log_sum_exp = far(floats.vector()); });
    refuses("row_status", [&](auto& o) { o.row_status = far(numbers.vector()); });
  }
}

TEMPLATE_LIST_TEST_CASE("lists without memory, and ties that there are none of, are refused",
                        "[row-56]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Views = BenchViews<Memory>;
  StepBench<TestType> bench;
  const auto refuses = [&](const std::string& field, auto plant) {
    bench.refuses_call({field + ".data", {}, "null"}, [&](Views& v, const StepRequests& r) {
      StepOutputs<Memory> outputs = v.outputs();
      plant(outputs);
      bench.processor().process(v.logits.matrix(), r, outputs);
    });
  };
  const Kokkos::LayoutStride layout(rows, 4, 4, 1);
  const Matrix<std::int32_t, Memory> no_tokens(nullptr, layout);
  const Matrix<float, Memory> no_floats(nullptr, layout);
  refuses("top_tokens", [&](auto& o) { o.top_tokens = no_tokens; });
  refuses("top_logprobs", [&](auto& o) { o.top_logprobs = no_floats; });
  refuses("raw_top_tokens", [&](auto& o) { o.raw_top_tokens = no_tokens; });
  refuses("raw_top_logprobs", [&](auto& o) { o.raw_top_logprobs = no_floats; });
  refuses("top_tokens", [&](auto& o) {
    o.top_tokens = no_tokens;
    o.top_logprobs = no_floats;
  });
  // A list without columns is left out, and the other one is then a part of nothing.
  for (const std::size_t listed : {0, 1, 4}) {
    const Guarded<float, Memory> logprobs(rows, listed, 0, {});
    bench.refuses_call({listed == 0 ? "top_logprobs.extent" : "top_tokens.extent", 0, "0"},
                       [&](Views& v, const StepRequests& r) {
                         StepOutputs<Memory> outputs = v.outputs();
                         outputs.top_tokens = {};
                         if (listed == 0) outputs.top_tokens = v.top_tokens.matrix();
                         outputs.top_logprobs = {};
                         if (listed > 0) outputs.top_logprobs = logprobs.matrix();
                         bench.processor().process(v.logits.matrix(), r, outputs);
                       });
  }
  for (const int ties : {-1, 2, 77}) {
    const Blame blame{"ties", {}, std::to_string(ties)};
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.processor().process(v.logits.matrix(), r, v.outputs(),
                                {.ties = static_cast<GreedyTies>(ties)});
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.sampler().sample_from_logits(v.logits.matrix(), r, v.tokens.vector(), {},
                                         v.status.vector(), static_cast<GreedyTies>(ties));
    });
  }
}

TEMPLATE_LIST_TEST_CASE("more than what can be listed of a row is refused with the limit",
                        "[row-08]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  StepBench<TestType> bench;
  for (const std::size_t listed : {std::size_t{129}, std::size_t{130}, std::size_t{1000}}) {
    const Guarded<std::int32_t, Memory> tokens(rows, listed, 0, {});
    const Guarded<float, Memory> logprobs(rows, listed, 0, {});
    const auto call = [&](BenchViews<Memory>& v, const StepRequests& r) {
      StepOutputs<Memory> outputs = v.outputs();
      outputs.top_tokens = tokens.matrix();
      outputs.top_logprobs = logprobs.matrix();
      bench.processor().process(v.logits.matrix(), r, outputs);
    };
    bench.refuses_call({"top_tokens.extent", 1, std::to_string(listed)}, call);
    const ThreeRequests good;
    BenchViews<Memory> views(good.logits());
    CHECK(error_of([&] { call(views, good.step.requests()); }).expected == "at most 128");
  }
}

TEMPLATE_LIST_TEST_CASE("Views that overlap other than in place are refused", "[row-53]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Views = BenchViews<Memory>;
  StepBench<TestType> bench;
  const Blame overlaps_logits{"probabilities", {}, "memory that overlaps the logits"};
  struct Place {
    std::ptrdiff_t offset;
    std::size_t stride;
  };
  // The logits have rows of 103 numbers: 100 and three of padding.
  for (const Place place : {Place{1, 103}, Place{103, 103}, Place{0, 104}, Place{-5, 103}}) {
    const auto inside = [&](Views& v) {
      return Matrix<float, Memory>(v.logits.matrix().data() + place.offset,
                                   Kokkos::LayoutStride(rows, place.stride, columns, 1));
    };
    bench.refuses_call(overlaps_logits, [&](Views& v, const StepRequests& r) {
      bench.processor().compute_probs_from_logits(v.logits.matrix(), r, inside(v));
    });
    bench.refuses_call(overlaps_logits, [&](Views& v, const StepRequests& r) {
      StepOutputs<Memory> outputs = v.outputs();
      outputs.probabilities = inside(v);
      bench.processor().process(v.logits.matrix(), r, outputs);
    });
  }
  const auto refuses_output = [&](const char* field, const std::string& other, auto plant) {
    bench.refuses_call({field, {}, "memory that overlaps " + other},
                       [&](Views& v, const StepRequests& r) {
                         StepOutputs<Memory> outputs = v.outputs();
                         plant(outputs, v);
                         bench.processor().process(v.logits.matrix(), r, outputs);
                       });
  };
  // The first number of the logits' padding is their 101st.
  for (const std::ptrdiff_t place : {90, 99, 206}) {
    const auto inside = [=](Views& v) { return v.logits.matrix().data() + place; };
    refuses_output("tokens", "the logits", [=](auto& o, Views& v) {
      o.tokens = vector_of<TokenId, Memory>(reinterpret_cast<TokenId*>(inside(v)), rows);
    });
    refuses_output("log_sum_exp", "the logits", [=](auto& o, Views& v) {
      o.log_sum_exp = vector_of<float, Memory>(inside(v), rows);
    });
  }
  for (const std::ptrdiff_t place : {0, 99, 105}) {
    refuses_output("row_status", "probabilities", [=](auto& o, Views& v) {
      auto* memory = reinterpret_cast<std::int32_t*>(v.probabilities.matrix().data());
      o.row_status = vector_of<std::int32_t, Memory>(memory + place, rows);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("sizes that nothing can be made for are refused", "[row-51]",
                        ExecutionSpaces) {
  const TestType space;
  constexpr std::int64_t sharded = std::int64_t{1} << 19, too_large = std::int64_t{1} << 31;
  using Active = std::optional<std::int64_t>;
  const auto refuses = [&](const char* field, std::int64_t value, std::int64_t n, std::int64_t v,
                           const Active& active) {
    const Blame blame{field, {}, std::to_string(value)};
    expect_refusal(blame, [&] { LogitProcessor<TestType>(space, n, v, active); });
    expect_refusal(blame, [&] { Sampler<TestType>(space, n, v, active); });
  };
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{-1}, too_large}) {
    refuses("vocab_size", v, 4, v, {});
    refuses("vocab_size", v, 4, v, 100);
    expect_refusal({"vocabulary", {}, std::to_string(v)}, [&] { workspace_bytes(4, v); });
    expect_refusal({"vocabulary", {}, std::to_string(v)},
                   [&] { Workspace<MemoryOf<TestType>>(4, v); });
    expect_refusal({"vocab_size", {}, std::to_string(v)},
                   [&] { DraftVerifier<TestType>(space, 4, v); });
  }
  for (const std::int64_t v : {sharded, sharded + 1, std::int64_t{1} << 20}) {
    refuses("vocab_size", v, 4, v, {});
    refuses("active_vocabulary", v, 4, too_large - 1, v);
    expect_refusal({"vocab_size", {}, std::to_string(v)},
                   [&] { DraftVerifier<TestType>(space, 4, v); });
  }
  for (const std::int64_t active : {0, -1, 101, 1000}) {
    refuses("active_vocabulary", active, 4, 100, active);
  }
  for (const std::int64_t n : {std::int64_t{-1}, std::int64_t{-100}, too_large}) {
    refuses("max_num_token", n, n, 100, {});
    expect_refusal({"max_num_node", {}, std::to_string(n)},
                   [&] { DraftVerifier<TestType>(space, n, 100); });
  }
}

}  // namespace tokkos::test
