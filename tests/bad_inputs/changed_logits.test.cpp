// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Measures that are not those of the logits: what is made of them is of no use, but lies within the
// arrays, and a token is one that exists or -1 with a status.
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/truncate.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/row_batch.hpp"

namespace tokkos::test {

TEMPLATE_LIST_TEST_CASE("logits that change behind their measures end within their arrays", "",
                        Backends) {
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  std::mt19937_64 random(7);
  const Space space;
  constexpr std::int64_t rows = 4;
  for (int number = 0; number < 120; ++number) {
    CAPTURE(number);
    RowBatch batch;
    batch.vocabulary = number % 3 == 0 ? 100 : 9000;
    for (std::int64_t i = 0; i < rows * batch.vocabulary; ++i) {
      batch.logits.push_back(static_cast<float>(random() % 160) / 8 - 10);
    }
    batch.logits = stored_values<typename TestType::logit>(batch.logits);
    DeviceRows<TestType> device(batch);
    measure(space, device.rows, device.measures, device.status);
    // Larger by 100, smaller by as much, raw, masked, or NaN: every row in its own way.
    RowBatch other = batch;
    for (std::size_t i = 0; i < other.logits.size(); ++i) {
      const std::size_t way = (i / static_cast<std::size_t>(batch.vocabulary) + number) % 5;
      constexpr float infinity = std::numeric_limits<float>::infinity();
      float& x = other.logits[i];
      if (way < 2) x += way == 0 ? 100.0f : -100.0f;
      if (way == 2) x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (way > 2) x = way == 3 ? -infinity : std::numeric_limits<float>::quiet_NaN();
    }
    other.logits = stored_values<typename TestType::logit>(other.logits);
    const DeviceRows<TestType> changed(other);
    device.rows.logits = changed.rows.logits;
    Truncation<Memory> truncation;
    const auto top_k = on_device<Memory>(std::vector<std::int32_t>{0, 5, 0, 3000});
    const auto top_p = on_device<Memory>(std::vector<float>{0.5f, 0.9f, 1.0f, 0.7f});
    const auto min_p = on_device<Memory>(std::vector<float>{0.0f, 0.1f, 0.01f, 0.0f});
    const auto u = on_device<Memory>(std::vector<float>{0.0f, 0.3f, 0.6f, 0x1.fffffep-1f});
    truncation.top_k = top_k;
    truncation.top_p = top_p;
    truncation.min_p = min_p;
    const CutsWorkspace<Memory> workspace(rows);
    const auto cuts = workspace.cuts(rows);
    Guarded<std::int32_t, Memory> drawn(rows), several(rows, 2, 1, {});
    const Kokkos::View<float**, Kokkos::LayoutRight, Memory> uniforms("uniforms", rows, 2);
    Kokkos::deep_copy(uniforms, 0.5f);
    Guarded<std::int32_t, Memory> by_draw(rows), by_cut(rows), by_draws(rows);
    draw(space, device.rows, device.measures, Vector<const float, Memory>(u), drawn.vector(),
         by_draw.vector());
    truncate(space, device.rows, device.measures, truncation, cuts, by_cut.vector());
    draw_tokens(space, device.rows, device.measures, Matrix<const float, Memory>(uniforms),
                several.matrix(), cuts, by_draws.vector());
    normalize(space, device.rows, device.measures, device.probabilities);
    space.fence("tokkos::test::changed");
    CHECK(on_host(device.status) == std::vector<std::int32_t>(rows));  // when they were measured
    const auto check_token = [&](TokenId token, std::int32_t status) {
      CHECK(token >= -1);
      CHECK(token < batch.vocabulary);
      if (token == -1) CHECK(status != 0);
    };
    const auto tokens = drawn.values(), more = several.values();
    const auto counts = on_host(cuts.count);
    for (std::size_t i = 0; i < rows; ++i) {
      check_token(tokens[i], by_draw.values()[i]);
      check_token(more[2 * i], by_draws.values()[i]);
      check_token(more[2 * i + 1], by_draws.values()[i]);
      if (counts[i] == 0) CHECK(by_cut.values()[i] != 0);
    }
    for (auto* array : {&drawn, &several, &by_draw, &by_cut, &by_draws}) {
      array->values();
      CHECK(array->guards_intact());
    }
  }
}

}  // namespace tokkos::test
