// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "flush_to_zero.hpp"

#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr std::int64_t vocabulary = 9000;

/// Rows whose logits, differences, scaled differences, factors or probabilities are subnormal.
RowBatch subnormal_batch() {
  RandomValues random(95);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.temperature = {1.0f, 0.0f, 0.3f, 0.0f, FLT_MAX, 1.0f, 1e-5f};
  for (const float scale : {25.0f, 1e-39f, 1e-38f, 1e-45f, 3e38f, 9.0f, 1e-40f}) {
    const auto row = random.logits(vocabulary, scale);
    batch.logits.insert(batch.logits.end(), row.begin(), row.end());
  }
  // Row 5: one chunk whose factor g_c is next to FLT_MIN.
  for (std::int64_t v = 0; v < 4096; ++v) batch.logits[5 * vocabulary + v] -= 87.0f + 30.0f;
  return batch;
}

template <class Backend>
std::vector<std::uint32_t> edited_patterns() {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const LogitBlock<Backend> block({1e-39f, -1e-39f, 3e-45f, 1e-38f, 0.0f, 1e-40f, -2e-38f, 0.0f},
                                  8);
  const auto rows = on_device<Memory>(std::vector<std::int32_t>(6, 0));
  const auto tokens = on_device<Memory>(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  const auto biases =
      on_device<Memory>(std::vector<float>{1e-39f, -1e-45f, 1e-45f, -9e-39f, 1e-41f, 0.0f});
  tokkos::apply_logit_bias_inplace(space, block.logits(), rows, tokens, biases);
  const auto row = on_device<Memory>(std::vector<std::int32_t>{0});
  const auto position = on_device<Memory>(std::vector<std::int32_t>(4, 0));
  const auto penalized = on_device<Memory>(std::vector<std::int32_t>{4, 5, 6, 7});
  const auto count = on_device<Memory>(std::vector<std::int32_t>{1, 2, 3, 4});
  const auto penalties = on_device<Memory>(std::vector<float>{1e-40f, 1e-41f, 0.5f}, 3, 0, 0.0f);
  tokkos::apply_penalty_inplace(space, block.logits(), row, position, penalized, count,
                                without_padding<const float>(penalties, 3));
  space.fence("tokkos::test::edited");
  return block.patterns();
}

template <class Backend>
std::vector<float> staged_probabilities(const RowBatch& batch) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const DeviceRows<Backend> device(batch);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> sum("sum", batch.rows(), 3);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> max("max", batch.rows(), 3);
  tokkos::chunk_lse(space, device.rows, sum, max);
  tokkos::softmax_with_chunked_sum(space, device.rows, sum, max, device.probabilities);
  space.fence("tokkos::test::staged");
  RowResults results;
  device.read_probabilities(results);
  return results.probabilities;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("checked penalties may be subnormal where a caller flushes to zero", "",
                        ExecutionSpaces) {
  if (flush_bits == 0) SKIP("no such mode is known for this processor");
  using Memory = typename TestType::memory_space;
  const LogitBlock<Backend<TestType, float>> block({1.0f, -1.0f}, 2);
  const auto zero = on_device<Memory>(std::vector<std::int32_t>{0});
  const auto one = on_device<Memory>(std::vector<std::int32_t>{1});
  const auto penalize = [&](float repetition) {
    const auto penalties =
        on_device<Memory>(std::vector<float>{0.0f, 0.0f, repetition}, 3, 0, 0.0f);
    const FlushToZero mode;
    return thrown_by([&] {
      tokkos::apply_penalty_inplace_checked(TestType(), block.logits(), zero, zero, one, one,
                                            without_padding<const float>(penalties, 3));
      TestType().fence("tokkos::test::penalized");
    });
  };
  CHECK(penalize(-1e-40f).has_value());
  CHECK(block.patterns()[1] == std::bit_cast<std::uint32_t>(-1.0f));
  CHECK(!penalize(1e-40f).has_value());
  CHECK(block.patterns()[1] == std::bit_cast<std::uint32_t>(-1e-40f));
}

TEMPLATE_LIST_TEST_CASE("a caller that flushes to zero gets the same bits", "", Backends) {
  if (flush_bits == 0) SKIP("no such mode is known for this processor");
  auto batch = subnormal_batch();
  batch.logits = stored_values<typename TestType::logit>(batch.logits);
  const auto uniforms = RandomValues(96).uniforms(batch.rows());
  const auto expected = verbs_of<TestType>(batch, uniforms);
  const auto expected_fused = softmax_of<TestType>(batch);
  const auto expected_staged = staged_probabilities<TestType>(batch);
  const auto expected_edits = edited_patterns<TestType>();
  RowResults results;
  RowResults fused;
  std::vector<float> staged;
  std::vector<std::uint32_t> edits;
  float flushed = -1.0f;
  {
    const FlushToZero mode;
    flushed = doubled_subnormal();
    results = verbs_of<TestType>(batch, uniforms);
    fused = softmax_of<TestType>(batch);
    staged = staged_probabilities<TestType>(batch);
    edits = edited_patterns<TestType>();
  }
  CHECK(flushed == 0.0f);
  CHECK(results.probabilities == expected.probabilities);
  CHECK(results.tokens == expected.tokens);
  CHECK(results.argmax == expected.argmax);
  CHECK(results.log_sum_exp == expected.log_sum_exp);
  CHECK(results.chunk_maximum == expected.chunk_maximum);
  CHECK(results.chunk_sum == expected.chunk_sum);
  CHECK(results.row_mass == expected.row_mass);
  CHECK(fused.probabilities == expected_fused.probabilities);
  CHECK(staged == expected_staged);
  CHECK(edits == expected_edits);
}
