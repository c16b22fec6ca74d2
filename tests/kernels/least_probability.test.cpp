// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/numerics/portable_exp.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace tokkos::test;

/// Rows of one chunk: token 0 has weight 1, so that its probability is the row's factor; some more
/// weights make that factor differ from row to row; all others end about FLT_MIN.
RowBatch rows_at_the_least(std::int64_t vocabulary) {
  RowBatch batch;
  batch.vocabulary = vocabulary;
  for (int row = 0; row < 200; ++row) {
    const auto heavy = static_cast<std::size_t>(row % 7 + 1);
    std::vector<float> logits(static_cast<std::size_t>(vocabulary), 0.0f);
    double sum = 1;
    for (std::size_t v = 1; v <= heavy; ++v) {
      logits[v] = -static_cast<float>(row) / 64.0f;
      sum += std::exp(static_cast<double>(logits[v]));
    }
    float x = static_cast<float>(std::log(static_cast<double>(FLT_MIN) * sum));
    for (int step = 0; step < vocabulary / 2; ++step) x = std::nextafter(x, -1000.0f);
    for (std::size_t v = heavy + 1; v < logits.size(); ++v) {
      logits[v] = x;
      x = std::nextafter(x, 0.0f);
    }
    batch.logits.insert(batch.logits.end(), logits.begin(), logits.end());
  }
  return batch;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("probabilities are cut off at FLT_MIN exactly, neither above nor below", "",
                        ExecutionSpaces) {
  const RowBatch batch = rows_at_the_least(200);
  const DeviceRows<Backend<TestType, float>> device(batch);
  const TestType space;
  tokkos::softmax(space, device.rows, device.measures, device.probabilities, device.status);
  space.fence("tokkos::test::done");
  RowResults results;
  device.read_probabilities(results);
  int wrong = 0, just_above = 0, just_below = 0;
  for (std::int64_t i = 0; i < batch.rows(); ++i) {
    const float* logits = batch.logits.data() + i * batch.vocabulary;
    const float* p = results.probabilities.data() + i * batch.vocabulary;
    const float factor = p[0];
    for (std::int64_t v = 1; v < batch.vocabulary; ++v) {
      const float product = tokkos::portable_exp(logits[v]) * factor;
      wrong += p[v] != (product < FLT_MIN ? 0.0f : product);
      just_above += product >= FLT_MIN && product < FLT_MIN * (1 + 0x1p-20f);
      just_below += product < FLT_MIN && product > FLT_MIN * (1 - 0x1p-20f);
    }
  }
  CHECK(wrong == 0);
  CHECK(just_above > 4);
  CHECK(just_below > 4);
}
