// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A step's outputs lie apart from its logits and from each other.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "engine/raw_step_views.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {

namespace {

constexpr std::size_t rows = 5;
constexpr std::size_t vocabulary = 8;

template <class T, class Space>
Vector<T, Space> at(void* memory) {
  return Vector<T, Space>(static_cast<T*>(memory), Kokkos::LayoutStride(rows, 1));
}

template <class T, class Space>
Matrix<T, Space> rows_at(void* memory, std::size_t columns) {
  return Matrix<T, Space>(static_cast<T*>(memory), Kokkos::LayoutStride(rows, columns, columns, 1));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("outputs inside the logits or inside each other are refused", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const auto values = stored_logits<float>(rows * vocabulary, 5, false);
  const OwnedStep step = edited_tokens();
  const RawStepViews<Backend<TestType, float>> views(rows, values);
  LogitProcessor<TestType> processor(TestType(), rows, vocabulary);
  const auto refused = [&](const StepOutputs<Space>& outputs) {
    const Complaint error =
        error_of([&] { processor.process(views.logits.matrix(), step.requests(), outputs); });
    return error.field + ": " + error.value;
  };
  const StepOutputs<Space> given = views.with_raw();
  const std::string in_logits = ": a View that overlaps the logits";
  float* const logits = views.logits.matrix().data();

  StepOutputs<Space> outputs = given;
  outputs.tokens = at<TokenId, Space>(logits + 35);
  CHECK(refused(outputs) == "tokens" + in_logits);
  outputs = given;
  outputs.logprobs = at<float, Space>(logits);
  CHECK(refused(outputs) == "logprobs" + in_logits);
  outputs = given;
  outputs.raw_logprobs = at<float, Space>(logits + 20);
  CHECK(refused(outputs) == "raw_logprobs" + in_logits);
  outputs = given;
  outputs.raw_top_logprobs = rows_at<float, Space>(logits + 3, given.raw_top_tokens.extent(1));
  CHECK(refused(outputs) == "raw_top_logprobs" + in_logits);
  outputs = given;
  outputs.log_sum_exp = at<float, Space>(logits + 1);
  CHECK(refused(outputs) == "log_sum_exp" + in_logits);
  outputs = given;
  outputs.row_status = at<std::int32_t, Space>(logits + 39);
  CHECK(refused(outputs) == "row_status" + in_logits);

  outputs = given;
  outputs.logprobs = outputs.raw_logprobs;
  CHECK(refused(outputs) == "logprobs: a View that overlaps raw_logprobs");
  outputs = given;
  outputs.row_status = outputs.tokens;
  CHECK(refused(outputs) == "tokens: a View that overlaps row_status");

  RawStepViews<Backend<TestType, float>> read = views;
  CHECK(read.logits.values() == values);
  CHECK_NOTHROW(processor.process(views.logits.matrix(), step.requests(), given));
}

}  // namespace tokkos::test
