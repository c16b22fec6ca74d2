// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A step's outputs lie apart from its logits and from each other.
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

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
  const std::string in_logits = ": memory that overlaps the logits";
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
  outputs.truncated_probabilities = rows_at<float, Space>(logits + 1, vocabulary);
  CHECK(refused(outputs) == "truncated_probabilities" + in_logits);
  outputs.probabilities = outputs.truncated_probabilities;
  CHECK(refused(outputs) == "probabilities" + in_logits);
  outputs = given;
  outputs.logprobs = Vector<float, Space>(outputs.logprobs.data(), Kokkos::LayoutStride(rows, 0));
  CHECK(refused(outputs) == "logprobs.stride: 0");

  outputs = given;
  outputs.logprobs = outputs.raw_logprobs;
  CHECK(refused(outputs) == "logprobs: memory that overlaps raw_logprobs");
  outputs = given;
  outputs.row_status = outputs.tokens;
  CHECK(refused(outputs) == "tokens: memory that overlaps row_status");

  RawStepViews<Backend<TestType, float>> read = views;
  CHECK(read.logits.values() == values);
  CHECK_NOTHROW(processor.process(views.logits.matrix(), step.requests(), given));
}

TEMPLATE_LIST_TEST_CASE("tokens and status of the other calls lie apart too", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const auto values = stored_logits<float>(rows * vocabulary, 6, false);
  const OwnedStep step = edited_tokens();
  Guarded<float, Space> logits(rows, vocabulary, 0, values), probabilities(rows, vocabulary, 0, {});
  Guarded<TokenId, Space> tokens(rows), status(rows);
  const std::vector<float> uniforms(rows, 0.5f);
  const auto at_start = at<TokenId, Space>(logits.matrix().data());
  const auto at_end = at<std::int32_t, Space>(logits.matrix().data() + rows * vocabulary - 1);
  LogitProcessor<TestType> processor(TestType(), rows, vocabulary);
  Sampler<TestType> sampler(TestType(), rows, vocabulary);
  const auto refusal = [](const auto& call) {
    const Complaint error = error_of(call);
    return error.field + ": " + error.value;
  };
  const auto sample_into = [&](const auto& into, const auto& flags) {
    return refusal([&] {
      sampler.sample_from_logits(logits.matrix(), step.requests(), into, uniforms, flags);
    });
  };
  const auto choose_into = [&](const auto& into, const auto& flags) {
    return refusal(
        [&] { sampler.sample_from_probabilities(logits.matrix(), uniforms, into, flags); });
  };
  CHECK(sample_into(at_start, status.vector()) == "tokens: memory that overlaps the logits");
  CHECK(sample_into(tokens.vector(), at_end) == "row_status: memory that overlaps the logits");
  CHECK(sample_into(tokens.vector(), tokens.vector()) == "tokens: memory that overlaps row_status");
  CHECK(choose_into(at_end, status.vector()) == "tokens: memory that overlaps the probabilities");
  CHECK(choose_into(tokens.vector(), at_start) ==
        "row_status: memory that overlaps the probabilities");
  CHECK(choose_into(status.vector(), status.vector()) == "tokens: memory that overlaps row_status");
  CHECK(refusal([&] {
          processor.inplace_update_logits(logits.matrix(), step.requests(), at_start);
        }) == "row_status: memory that overlaps the logits");
  CHECK(refusal([&] {
          processor.compute_probs_from_logits(logits.matrix(), step.requests(),
                                              probabilities.matrix(), at_end);
        }) == "row_status: memory that overlaps the logits");

  Kokkos::fence("tokkos::test::refused");
  CHECK(logits.values() == values);
  CHECK(tokens.values() == std::vector<TokenId>(rows));
  CHECK(status.values() == std::vector<std::int32_t>(rows));
  CHECK(probabilities.values() == std::vector<float>(rows * vocabulary));
  CHECK((logits.guards_intact() && tokens.guards_intact() && status.guards_intact()));
  processor.inplace_update_logits(logits.matrix(), step.requests(), status.vector());
  sampler.sample_from_logits(logits.matrix(), step.requests(), tokens.vector(), uniforms);
  Kokkos::fence("tokkos::test::sampled");
  CHECK(logits.values() != values);
  CHECK(tokens.values()[3] == 4);  // the one that it allows
}

}  // namespace tokkos::test
