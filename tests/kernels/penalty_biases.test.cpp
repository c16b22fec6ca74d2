// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Biases of penalized tokens may be given for the first penalties alone.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/apply_edits.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {

TEMPLATE_LIST_TEST_CASE("the first penalties may have biases, the others then have none",
                        "[kernels]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  const TestType space;
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr std::size_t entries = 600;
  std::vector<TokenId> tokens(entries);
  for (std::size_t i = 0; i < entries; ++i) tokens[i] = static_cast<TokenId>(entries - i);
  const std::vector<std::int32_t> zeros(entries, 0), ones(entries, 1);
  const std::vector<float> values{0.5f, 0.0f, 1.0f};
  const Guarded<std::int32_t, Memory> rows(1), positions(zeros), counts(ones), ids(tokens);
  const Guarded<float, Memory> penalties(1, 3, 0, values);
  const auto apply = [&](const std::vector<float>& biases) {
    Guarded<float, Memory> logits(1, entries + 1, 0, {});
    const Guarded<float, Memory> given(biases);
    apply_edits(space, logits.matrix(), {},
                {rows.vector(), positions.vector(), ids.vector(), counts.vector(),
                 penalties.matrix(), given.vector()});
    space.fence("tokkos::test::apply");
    return logits.values();
  };
  for (const std::size_t biased : {std::size_t{0}, std::size_t{1}, std::size_t{300}, entries}) {
    std::vector<float> biases(biased);
    for (std::size_t i = 0; i < biased; ++i) {
      biases[i] = i % 3 == 1 ? none : static_cast<float>(i + 1);
    }
    std::vector<float> expected(entries + 1);
    for (std::size_t i = 0; i < entries; ++i) {
      const bool has_bias = i < biased && i % 3 != 1;
      expected[entries - i] = (has_bias ? static_cast<float>(i + 1) : 0.0f) - 0.5f;
    }
    CHECK(apply(biases) == expected);
  }
  const Complaint complaint = error_of([&] { apply(std::vector<float>(entries + 1)); });
  CHECK(complaint.field == "penalties.biases.extent");
}

TEMPLATE_LIST_TEST_CASE("a bias of plus infinity leaves its edit out and flags its row",
                        "[kernels]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  const TestType space;
  const std::vector<std::int32_t> two{0, 1}, ones{1, 1, 1};
  const std::vector<float> values{0.5f, 0.0f, 1.0f, 0.5f, 0.0f, 1.0f};
  const std::vector<float> given{std::numeric_limits<float>::infinity(), 2.0f, 3.0f};
  const Guarded<std::int32_t, Memory> rows(two), positions(std::vector<std::int32_t>{0, 0, 1}),
      counts(ones), ids(std::vector<TokenId>{2, 3, 2});
  const Guarded<float, Memory> penalties(2, 3, 0, values), biases(given);
  Guarded<float, Memory> logits(2, 4, 0, {});
  Guarded<std::int32_t, Memory> status(2);
  apply_edits(space, logits.matrix(), {},
              {rows.vector(), positions.vector(), ids.vector(), counts.vector(), penalties.matrix(),
               biases.vector()},
              status.vector());
  space.fence("tokkos::test::apply");
  CHECK(logits.values() == std::vector<float>{0.0f, 0.0f, 0.0f, 1.5f, 0.0f, 0.0f, 2.5f, 0.0f});
  CHECK(status.values() == std::vector<std::int32_t>{RowStatus::invalid_edit, 0});
}

TEMPLATE_LIST_TEST_CASE("more edits than a launch has indices are refused", "[kernels]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  // Nothing of this is read.
  const std::size_t half = std::size_t{1} << 30;
  Guarded<float, Memory> logits(1, 3, 0, {}), penalties(1, 3, 0, {});
  Guarded<std::int32_t, Memory> number(1);
  const Vector<const std::int32_t, Memory> many(number.vector().data(),
                                                Kokkos::LayoutStride(half, 1));
  const Vector<const float, Memory> biases(penalties.matrix().data(),
                                           Kokkos::LayoutStride(half, 1));
  const Complaint complaint = error_of([&] {
    apply_edits(TestType(), logits.matrix(), {many, many, biases},
                {number.vector(), many, many, many, penalties.matrix()});
  });
  CHECK(complaint.field == "edits");
  CHECK(complaint.value == std::to_string(2 * half));
}

}  // namespace tokkos::test
