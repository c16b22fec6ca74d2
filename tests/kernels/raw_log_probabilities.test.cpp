// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/row_batch.hpp"
#include "reference/log_probability_reference.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Edits of every row: tokens 0, 3, 6, ... are biased, 1, 4, ... penalized, and each second of
/// these biased as well. Some bad entries, which change nothing, stand among them.
struct Edits {
  std::vector<std::int32_t> bias_row, bias_token, group, position, token, count;
  std::vector<float> bias, penalties, penalty_bias;

  Edits(std::int64_t rows, std::int64_t vocabulary) {
    for (std::int32_t i = 0; i < rows; ++i) {
      for (std::int32_t v = 0; v < vocabulary; ++v) {
        if (v % 3 == 0) add_bias(i, v, v % 2 == 0 ? -infinity : 3.5f);
        if (v % 3 == 1) add_penalty(i, v, v % 2 == 0 ? 7.0f : __builtin_nanf(""));
      }
      group.push_back(i);
      penalties.insert(penalties.end(), {0.5f, 1.5f, 1.25f});
    }
    const auto n = static_cast<std::int32_t>(rows);
    const auto v = static_cast<std::int32_t>(vocabulary);
    add_bias(n, 0, 1.0f), add_bias(-1, 0, 1.0f), add_bias(0, v, 1.0f), add_bias(0, -1, 1.0f);
    add_penalty(n, 0, 1.0f), add_penalty(-1, 0, 1.0f), add_penalty(0, v, 1.0f);
  }

  void add_bias(std::int32_t row, std::int32_t v, float x) {
    bias_row.push_back(row), bias_token.push_back(v), bias.push_back(x);
  }
  void add_penalty(std::int32_t row, std::int32_t v, float x) {
    position.push_back(row), token.push_back(v), count.push_back(2), penalty_bias.push_back(x);
  }
  std::size_t size() const { return bias.size() + token.size(); }
};

/// The edits in device memory, with room for the logits that they change.
template <class Memory>
struct DeviceEdits {
  Kokkos::View<std::int32_t*, Memory> bias_row, bias_token, group, position, token, count;
  Kokkos::View<float*, Memory> bias, penalty_bias;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> penalties;
  Guarded<float, Memory> saved;

  explicit DeviceEdits(const Edits& edits)
      : bias_row(on_device<Memory>(edits.bias_row)),
        bias_token(on_device<Memory>(edits.bias_token)),
        group(on_device<Memory>(edits.group)),
        position(on_device<Memory>(edits.position)),
        token(on_device<Memory>(edits.token)),
        count(on_device<Memory>(edits.count)),
        bias(on_device<Memory>(edits.bias)),
        penalty_bias(on_device<Memory>(edits.penalty_bias)),
        penalties(on_device<Memory>(edits.penalties, 3, 0, 0.0f)),
        saved(edits.size()) {}

  tokkos::LogitBiasEdits<Memory> biases() const { return {bias_row, bias_token, bias}; }
  tokkos::PenaltyEdits<Memory> penalized() const {
    return {group, position, token, count, penalties, penalty_bias};
  }
};

RowBatch raw_batch(std::int64_t rows, std::int64_t vocabulary) {
  RandomValues random(31);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = vocabulary - 1;
  batch.logits = random.logits(rows * vocabulary, 2.0f);
  return batch;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("edited tokens are scored by the logits that they had before", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  for (const std::int64_t vocabulary : {5, 4100}) {
    auto batch = raw_batch(4, vocabulary);
    batch.logits[3 * vocabulary + 1] = -infinity;
    batch.logits[3 * vocabulary + 3] = -FLT_MAX;
    batch.logits = stored_values<typename TestType::logit>(batch.logits);
    const DeviceRows<TestType> device(batch);
    const DeviceEdits<Memory> edits(Edits(4, vocabulary));
    const Kokkos::View<std::int32_t*, Memory> tokens("tokens", 4);
    Guarded<float, Memory> result(4);
    tokkos::measure(space, device.rows, device.measures, device.status);
    tokkos::save_edited_logits(space, device.rows.logits, edits.biases(), edits.penalized(),
                               edits.saved.vector());
    tokkos::apply_edits(space, device.block().logits(), edits.biases(), edits.penalized());
    std::vector<std::int32_t> asked{-1, static_cast<std::int32_t>(vocabulary - 1)};
    for (std::int32_t v = 0; v<vocabulary; v += vocabulary> 100 ? 199 : 1) asked.push_back(v);
    int wrong = 0;
    for (const std::int32_t v : asked) {
      Kokkos::deep_copy(tokens, v);
      tokkos::raw_log_probabilities(
          space, device.rows, device.measures, edits.biases(), edits.penalized(),
          tokkos::Vector<const float, Memory>(edits.saved.vector()),
          tokkos::Vector<const std::int32_t, Memory>(tokens), result.vector());
      space.fence("tokkos::test::scored");
      const auto values = result.values();
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto expected = reference_log_probabilities(batch.reference_row(i));
        const bool right = v < 0 ? values[i] == -infinity : is_close(expected, v, values[i]);
        wrong += right ? 0 : 1;
      }
    }
    CAPTURE(vocabulary);
    CHECK(wrong == 0);
    auto saved = edits.saved;
    saved.values();
    CHECK((result.guards_intact() && saved.guards_intact()));
    CHECK(device.block().padding_is_untouched());
  }
}

TEMPLATE_LIST_TEST_CASE("raw log-probabilities have the bits of log_probabilities before edits", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  auto batch = raw_batch(60, 300);
  batch.temperature.assign(60, 0.75f);
  batch.temperature[7] = 0.0f;
  std::vector<std::int32_t> drawn;
  for (std::int32_t i = 0; i < 60; ++i) drawn.push_back(5 * i % 299);
  const DeviceRows<TestType> device(batch);
  const DeviceEdits<Memory> edits(Edits(60, 300));
  const auto tokens = on_device<Memory>(drawn);
  const Kokkos::View<float*, Memory> before("before", 60), after("after", 60);
  tokkos::measure(space, device.rows, device.measures, device.status);
  tokkos::log_probabilities(space, device.rows, device.measures,
                            tokkos::Vector<const std::int32_t, Memory>(tokens),
                            tokkos::Vector<float, Memory>(before));
  tokkos::save_edited_logits(space, device.rows.logits, edits.biases(), edits.penalized(),
                             edits.saved.vector());
  tokkos::apply_edits(space, device.block().logits(), edits.biases(), edits.penalized());
  tokkos::raw_log_probabilities(
      space, device.rows, device.measures, edits.biases(), edits.penalized(),
      tokkos::Vector<const float, Memory>(edits.saved.vector()),
      tokkos::Vector<const std::int32_t, Memory>(tokens), tokkos::Vector<float, Memory>(after));
  space.fence("tokkos::test::scored");
  CHECK(on_host(after) == on_host(before));
}

TEMPLATE_LIST_TEST_CASE("raw_log_probabilities names what does not fit and writes nothing", "",
                        ExecutionSpaces) {
  using Float = tokkos::test::Backend<TestType, float>;
  using Memory = typename TestType::memory_space;
  const TestType space;
  const auto batch = raw_batch(3, 9);
  const DeviceRows<Float> device(batch);
  const DeviceEdits<Memory> edits(Edits(3, 9));
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", 3), index("index", 3);
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> words("words", 3, 1);
  const Kokkos::View<float*, Memory> result("result", 3), fewer("fewer", 2);
  Kokkos::deep_copy(result, -7.0f);
  const auto field_of = [&](const auto& rows, const auto& saved, const auto& out) {
    const auto error = thrown_by([&] {
      tokkos::raw_log_probabilities(space, rows, device.measures, edits.biases(), edits.penalized(),
                                    tokkos::Vector<const float, Memory>(saved),
                                    tokkos::Vector<const std::int32_t, Memory>(tokens),
                                    tokkos::Vector<float, Memory>(out));
    });
    return error ? error->field() : std::string("none");
  };
  auto indexed = device.rows;
  indexed.row_index = index;
  auto masked = device.rows;
  masked.bitmask.words = words;
  CHECK(field_of(indexed, edits.saved.vector(), result) == "row_index");
  CHECK(field_of(masked, edits.saved.vector(), result) == "bitmask");
  CHECK(field_of(device.rows, fewer, result) == "saved.extent");
  CHECK(field_of(device.rows, edits.saved.vector(), fewer) == "result.extent");
  const auto error = thrown_by([&] {
    tokkos::save_edited_logits(space, device.rows.logits, edits.biases(), edits.penalized(),
                               tokkos::Vector<float, Memory>(fewer));
  });
  CHECK((error && error->field() == "saved.extent"));
  space.fence("tokkos::test::refused");
  CHECK(on_host(result) == std::vector<float>(3, -7.0f));
}
