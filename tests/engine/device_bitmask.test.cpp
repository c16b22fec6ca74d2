// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Masks that lie on the device when LogitProcessor::process is called.
#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/device_masks.hpp"
#include "engine/random_step.hpp"
#include "engine/raw_step_views.hpp"
#include "engine/step_views.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = step_vocabulary;

/// Every third token, and in other rows every token but those of another third.
std::vector<std::optional<std::vector<bool>>> other_masks(std::size_t rows) {
  std::vector<std::optional<std::vector<bool>>> masks(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (i % 4 == 3) continue;
    masks[i].emplace(vocabulary);
    for (std::size_t v = 0; v < vocabulary; ++v) (*masks[i])[v] = (v % 3 == i % 3) == (i % 2 == 0);
  }
  return masks;
}

/// What both of two masks allow.
std::vector<std::optional<std::vector<bool>>> both_of(
    std::vector<std::optional<std::vector<bool>>> masks,
    const std::vector<std::optional<std::vector<bool>>>& others) {
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (!others[i]) continue;
    if (!masks[i]) masks[i].emplace(vocabulary, true);
    for (std::size_t v = 0; v < vocabulary; ++v) {
      (*masks[i])[v] = (*masks[i])[v] && (*others[i])[v];
    }
  }
  return masks;
}

/// What is made of the logits, which hold stored masks or do not.
template <class Space>
Bits results_of(const StepViews<Space>& views) {
  Bits all;
  for (auto* view : {&views.probabilities, &views.truncated, &views.logprobs, &views.top_logprobs,
                     &views.log_sum_exp}) {
    append(all, view->values());
  }
  for (auto* view : {&views.tokens, &views.top_tokens, &views.status}) append(all, view->values());
  return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("masks on the device give the bits of the requests' own", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const std::uint64_t seed = GENERATE(range(1, 6));
  const TestType space;
  const auto step = make_truncated_step(vocabulary, seed);
  const auto rows = static_cast<std::size_t>(step->rows);
  LogitProcessor<TestType> processor(space, 64, vocabulary);
  const StepViews<Space> expected(rows, seed);
  processor.process(expected.logits.matrix(), step->step.requests(), expected.outputs());
  space.fence("tokkos::test::process");

  DeviceMasks<Space> masks(masks_of(*step), vocabulary);
  REQUIRE(masks.count() > 1);
  step->step = without_masks(step->step);
  const StepViews<Space> at_once(rows, seed), in_halves(rows, seed), unmasked(rows, seed);
  StepOutputs<Space> outputs = at_once.outputs();
  outputs.bitmask = masks.view();
  processor.process(at_once.logits.matrix(), step->step.requests(), outputs);
  processor.prepare(step->rows, step->step.requests());
  StepOutputs<Space> half_outputs = in_halves.outputs();
  half_outputs.bitmask = masks.view();
  processor.process(in_halves.logits.matrix(), half_outputs);
  processor.process(unmasked.logits.matrix(), step->step.requests(), unmasked.outputs());
  space.fence("tokkos::test::process");
  CHECK((at_once == expected));
  CHECK((in_halves == expected));
  CHECK_FALSE((unmasked == expected));  // or nothing above would need the masks
  CHECK(masks.intact());
}

TEMPLATE_LIST_TEST_CASE("what a request forbids is forbidden beside a mask on the device",
                        "[engine]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const std::uint64_t seed = GENERATE(range(1, 6));
  const TestType space;
  const auto step = make_truncated_step(vocabulary, seed);
  const auto rows = static_cast<std::size_t>(step->rows);
  step->step.configs[0].allowed_token_ids = {3, 5, 7, 9, 4001, 4003};
  LogitProcessor<TestType> processor(space, 64, vocabulary);
  const auto own = masks_of(*step), others = other_masks(rows);
  const DeviceMasks<Space> on_device(others, vocabulary), both(both_of(own, others), vocabulary);
  const StepViews<Space> at_once(rows, seed), in_halves(rows, seed), expected(rows, seed);
  StepOutputs<Space> outputs = at_once.outputs();
  outputs.bitmask = on_device.view();
  processor.process(at_once.logits.matrix(), step->step.requests(), outputs);
  processor.prepare(step->rows, step->step.requests());
  outputs = in_halves.outputs();
  outputs.bitmask = on_device.view();
  processor.process(in_halves.logits.matrix(), outputs);
  const OwnedStep plain = without_masks(step->step);
  outputs = expected.outputs();
  outputs.bitmask = both.view();
  processor.process(expected.logits.matrix(), plain.requests(), outputs);
  space.fence("tokkos::test::process");
  CHECK((results_of(at_once) == results_of(expected)));
  CHECK((results_of(in_halves) == results_of(expected)));
}

TEMPLATE_LIST_TEST_CASE("a list of allowed tokens holds whatever a mask on the device allows",
                        "[engine]", Backends) {
  using Space = typename TestType::memory_space;
  using Logit = typename TestType::logit;
  using ExecutionSpace = typename TestType::execution_space;
  const ExecutionSpace space;
  constexpr std::size_t rows = 4, columns = 70;
  const std::vector<std::int32_t> words{-1, -1, -1, 1 << 9, 0, 0};  // all tokens; 9
  const std::vector<std::int32_t> index{0, -1, 1, 1};
  const std::vector<TokenId> expected{7, 7, 9, -1};
  const Guarded<std::int32_t, Space> memory(2, 3, 0, words), rows_of_masks(index);
  Guarded<Logit, Space> logits(rows, columns, 1, stored_logits<Logit>(rows * columns, 3, false));
  Guarded<TokenId, Space> tokens(rows);
  Guarded<std::int32_t, Space> status(rows);
  OwnedStep step;
  for (std::size_t i = 0; i < rows; ++i) step.add({.allowed_token_ids = {7}});
  step.configs[2].allowed_token_ids = {7, 9};
  LogitProcessor<ExecutionSpace> processor(space, rows, columns);
  StepOutputs<Space> outputs{.tokens = tokens.vector(), .row_status = status.vector()};
  outputs.bitmask = {memory.matrix(), rows_of_masks.vector()};
  processor.process(logits.matrix(), step.requests(), outputs);
  space.fence("tokkos::test::process");
  CHECK(tokens.values() == expected);
  CHECK(status.values() == std::vector<std::int32_t>{0, 0, 0, RowStatus::empty});
}

TEMPLATE_LIST_TEST_CASE("without an index row i of the words is row i's mask, for every type",
                        "[engine]", Backends) {
  using Space = typename TestType::memory_space;
  using Logit = typename TestType::logit;
  using ExecutionSpace = typename TestType::execution_space;
  const ExecutionSpace space;
  constexpr std::size_t rows = 3, columns = 70;
  // Bits past the vocabulary are set, and must not count.
  const std::vector<std::int32_t> words{1 << 5, 0, -64, 0, 1 << 30, -64, 0, 0, -64};
  const std::vector<TokenId> expected{5, 62, -1};
  const Guarded<std::int32_t, Space> memory(rows, 3, 2, words);
  Guarded<Logit, Space> logits(rows, columns, 1, stored_logits<Logit>(rows * columns, 3, false));
  Guarded<TokenId, Space> tokens(rows);
  Guarded<std::int32_t, Space> status(rows);
  OwnedStep step;
  for (std::size_t i = 0; i < rows; ++i) step.add({.logit_bias = {{5, 3.0}}});
  LogitProcessor<ExecutionSpace> processor(space, rows, columns);
  StepOutputs<Space> outputs{.tokens = tokens.vector(), .row_status = status.vector()};
  outputs.bitmask.words = memory.matrix();
  processor.process(logits.matrix(), step.requests(), outputs);
  space.fence("tokkos::test::process");
  CHECK(tokens.values() == expected);
  CHECK(status.values() == std::vector<std::int32_t>{0, 0, RowStatus::empty});
}

TEMPLATE_LIST_TEST_CASE("a mask row that there is not makes its row unusable, and no other",
                        "[engine]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  constexpr std::size_t rows = 5, columns = 70;
  const std::int32_t bad = GENERATE(2, 3, 1 << 30, 2147483647, -2, -2147483647 - 1);
  const std::vector<std::int32_t> words{-1, -1, -1, -1, -1, -1};
  const std::vector<std::int32_t> index{0, bad, -1, 1, bad};
  const Guarded<std::int32_t, Space> memory(2, 3, 0, words), rows_of_masks(index);
  Guarded<float, Space> logits(rows, columns, 1, stored_logits<float>(rows * columns, 4, false));
  Guarded<float, Space> probabilities(rows, columns, 2, {});
  Guarded<TokenId, Space> tokens(rows);
  Guarded<std::int32_t, Space> status(rows);
  OwnedStep step;
  for (std::size_t i = 0; i < rows; ++i) step.add({});
  LogitProcessor<TestType> processor(space, rows, columns);
  StepOutputs<Space> outputs{.probabilities = probabilities.matrix(),
                             .tokens = tokens.vector(),
                             .row_status = status.vector()};
  processor.process(logits.matrix(), step.requests(), outputs);
  space.fence("tokkos::test::process");
  std::vector<TokenId> expected = tokens.values();
  std::vector<float> expected_probabilities = probabilities.values();
  for (const std::size_t row : {std::size_t{1}, std::size_t{4}}) {
    expected[row] = -1;
    for (std::size_t v = 0; v < columns; ++v) expected_probabilities[row * columns + v] = 0.0f;
  }
  outputs.bitmask = {memory.matrix(), rows_of_masks.vector()};
  processor.process(logits.matrix(), step.requests(), outputs);
  space.fence("tokkos::test::process");
  CHECK(tokens.values() == expected);
  CHECK(probabilities.values() == expected_probabilities);
  const std::int32_t unusable = RowStatus::invalid_parameter;
  CHECK(status.values() == std::vector<std::int32_t>{0, unusable, 0, 0, unusable});
  CHECK(probabilities.guards_intact());
}

TEMPLATE_LIST_TEST_CASE("a bitmask that does not fit the step is refused", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  constexpr std::size_t rows = 3, columns = 70;
  const std::vector<float> values = stored_logits<float>(rows * columns, 6, false);
  Guarded<float, Space> logits(rows, columns, 0, values);
  Guarded<TokenId, Space> tokens(rows);
  Guarded<std::int32_t, Space> status(rows);
  const Guarded<std::int32_t, Space> memory(64);
  std::int32_t* const at = memory.vector().data();
  OwnedStep step;
  for (std::size_t i = 0; i < rows; ++i) step.add({});
  LogitProcessor<TestType> processor(space, rows, columns);
  const auto words = [&](std::size_t height, std::size_t width, std::size_t stride) {
    return Matrix<const std::int32_t, Space>(at, Kokkos::LayoutStride(height, stride, width, 1));
  };
  const auto outputs_with = [&](const VocabularyBitmask<Space>& bitmask) {
    StepOutputs<Space> outputs{.tokens = tokens.vector(), .row_status = status.vector()};
    outputs.bitmask = bitmask;
    return outputs;
  };
  const auto refused = [&](const StepOutputs<Space>& outputs, const StepOptions& options = {}) {
    const Complaint at_once =
        error_of([&] { processor.process(logits.matrix(), step.requests(), outputs, options); });
    processor.prepare(rows, step.requests(), options);
    const Complaint in_halves = error_of([&] { processor.process(logits.matrix(), outputs); });
    CHECK(at_once.message == in_halves.message);
    CHECK_NOTHROW(processor.process(logits.matrix(), outputs_with({})));  // is prepared still
    space.fence("tokkos::test::refused");
    return at_once;
  };
  const Complaint stored = refused(outputs_with({words(3, 3, 3), {}}), {.store_mask = true});
  CHECK(stored.field == "store_mask");
  CHECK(stored.value == "set");
  for (const std::size_t width : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    const Complaint narrow = refused(outputs_with({words(3, width, 3), {}}));
    CHECK(narrow.field == "bitmask.extent");
    CHECK(narrow.index == 1);
    CHECK(narrow.value == std::to_string(width));
  }
  for (const std::size_t height : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    const Complaint low = refused(outputs_with({words(height, 3, 3), {}}));
    CHECK(low.field == "bitmask.extent");
    CHECK(low.index == 0);
    CHECK(low.value == std::to_string(height));
  }
  for (const std::size_t count : {std::size_t{2}, std::size_t{4}, std::size_t{1}}) {
    const Complaint index =
        refused(outputs_with({words(1, 3, 3), vector_of<const std::int32_t, Space>(at, count)}));
    CHECK(index.field == "bitmask.row_index.extent");
    CHECK(index.value == std::to_string(count));
  }
  for (const std::size_t stride : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    const Complaint overlapping = refused(outputs_with({words(3, 3, stride), {}}));
    CHECK(overlapping.field == "bitmask.stride");
    CHECK(overlapping.value == std::to_string(stride));
  }
  const Complaint no_rows =
      refused(outputs_with({words(0, 3, 3), vector_of<const std::int32_t, Space>(at, rows)}));
  CHECK(no_rows.field == "bitmask.extent");
  CHECK(no_rows.index == 0);
  const VocabularyBitmask<Space> no_words{{}, vector_of<const std::int32_t, Space>(at, rows)};
  CHECK(refused(outputs_with(no_words)).field == "bitmask.extent");
}

TEMPLATE_LIST_TEST_CASE("nothing that is written may lie in a bitmask", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  constexpr std::size_t rows = 3, columns = 70;
  Guarded<float, Space> logits(rows, columns, 0, {});
  Guarded<std::int32_t, Space> memory(rows * columns);
  std::int32_t* const at = memory.vector().data();
  OwnedStep step;
  for (std::size_t i = 0; i < rows; ++i) step.add({.logit_bias = {{1, 5.0}}});
  LogitProcessor<TestType> processor(space, rows, columns);
  const VocabularyBitmask<Space> bitmask{
      Matrix<const std::int32_t, Space>(at, Kokkos::LayoutStride(rows, 3, 3, 1)),
      vector_of<const std::int32_t, Space>(at + 100, rows)};
  const Guarded<TokenId, Space> tokens(rows);
  const auto refused = [&](const Matrix<float, Space>& rows_of_logits, StepOutputs<Space> outputs) {
    outputs.bitmask = bitmask;
    return error_of([&] { processor.process(rows_of_logits, step.requests(), outputs); });
  };
  for (const std::size_t place : {std::size_t{0}, std::size_t{8}, std::size_t{100}}) {
    StepOutputs<Space> outputs{.tokens = vector_of<TokenId, Space>(at + place, rows)};
    const Complaint drawn = refused(logits.matrix(), outputs);
    CHECK(drawn.field == "tokens");
    CHECK(drawn.value.find("bitmask") != std::string::npos);
  }
  const Matrix<float, Space> inside(reinterpret_cast<float*>(at),
                                    Kokkos::LayoutStride(rows, columns, columns, 1));
  CHECK(refused(logits.matrix(), {.probabilities = inside}).field == "probabilities");
  CHECK(refused(inside, {.tokens = tokens.vector()}).field == "logits");
  space.fence("tokkos::test::refused");
  CHECK(logits.values() == std::vector<float>(rows * columns, 0.0f));  // not edited either
  CHECK(memory.values() == std::vector<std::int32_t>(rows * columns, 0));
}

}  // namespace tokkos::test
