// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "lm_head/head_on_device.hpp"
#include "lm_head/lane_sums.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace tokkos::test;
using tokkos::LmHeadProduct;

/// The product as it is defined, element by element.
float defined_product(const float* hidden, const float* weight, std::int64_t size) {
  float sums[16] = {};
  for (std::int64_t k = 0; k < size; ++k) {
    sums[k % 16] = std::fma(hidden[k], weight[k], sums[k % 16]);
  }
  for (int half = 8; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

template <class Weight>
std::vector<float> as_stored(std::vector<float> values) {
  for (float& value : values) value = tokkos::widen(tokkos::narrow<Weight>(value));
  return values;
}

/// How many logits have other bits than `expected(row, token)`.
template <class Expected>
int differing(const HeadCase& head, const std::vector<float>& logits, const Expected& expected) {
  int wrong = 0;
  for (std::int64_t i = 0; i < head.rows; ++i) {
    for (std::int64_t v = 0; v < head.vocabulary; ++v) {
      const float value = logits[i * head.vocabulary + v];
      wrong += std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(expected(i, v))
                   ? 0
                   : 1;
    }
  }
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("products in a fixed order are what their definition says", "[lm_head]",
                        Backends) {
  for (const std::int64_t size : {1, 7, 15, 16, 17, 31, 64, 100, 257}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 9}) {
      const HeadCase head = plain_case(rows, 131, size, 1000 + size * 10 + rows);
      const auto weight = as_stored<typename TestType::logit>(head.weight);
      const auto expected = [&](std::int64_t i, std::int64_t v) {
        return defined_product(&head.hidden[i * size], &weight[v * size], size);
      };
      CAPTURE(size, rows);
      CHECK(differing(head, DeviceHead<TestType>(head).logits(), expected) == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("products of both kinds are near the exact ones", "[lm_head]", Backends) {
  for (const auto product : {LmHeadProduct::fixed_order, LmHeadProduct::gemm}) {
    HeadCase head = plain_case(5, 300, 200, 21);
    head.options.product = product;
    const auto weight = as_stored<typename TestType::logit>(head.weight);
    const std::vector<float> logits = DeviceHead<TestType>(head).logits();
    double worst = 0.0;
    for (std::int64_t i = 0; i < head.rows; ++i) {
      for (std::int64_t v = 0; v < head.vocabulary; ++v) {
        double exact = 0.0, magnitude = 0.0;
        for (std::int64_t k = 0; k < head.size; ++k) {
          const double term = static_cast<double>(head.hidden[i * head.size + k]) *
                              static_cast<double>(weight[v * head.size + k]);
          exact += term;
          magnitude += std::fabs(term);
        }
        const double error = std::fabs(static_cast<double>(logits[i * 300 + v]) - exact);
        worst = std::max(worst, error / magnitude);
      }
    }
    // Every sum of a few numbers loses half a unit of 2^-23 at each addition, at most.
    CHECK(worst <= 200 * 0x1p-24);
  }
}

TEMPLATE_LIST_TEST_CASE("scale comes before the cap, and the cap is c tanh of x over c",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = plain_case(3, 500, 40, 22);
  const std::vector<float> plain = DeviceHead<OnSpace>(head).logits();
  head.options.scale = 0.3f;
  const std::vector<float> scaled = DeviceHead<OnSpace>(head).logits();
  head.options.soft_cap = 2.5f;
  const std::vector<float> capped = DeviceHead<OnSpace>(head).logits();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    REQUIRE(scaled[i] == plain[i] * 0.3f);
    const double exact = 2.5 * std::tanh(static_cast<double>(scaled[i] / 2.5f));
    REQUIRE(std::fabs(static_cast<double>(capped[i]) - exact) <= 2.5 * 0x1p-23);
  }
}

TEST_CASE("a device's way of adding 16 sums gives the bits of a host's", "[lm_head]") {
  // A team of one thread does here what 256 threads of a device do.
  using Policy = Kokkos::TeamPolicy<Kokkos::Serial>;
  for (const std::int64_t size : {5, 16, 77}) {
    for (const int rows : {1, 3, 4}) {
      for (const std::int64_t count : {1, 4, 30, 64}) {
        RandomValues random(31);
        const auto hidden = random.logits(rows * size);
        const auto weight = random.logits(count * size);
        std::vector<float> logits(static_cast<std::size_t>(rows * count), -7.0f);
        tokkos::RowGroup group;
        for (int r = 0; r < rows; ++r) group.add(&hidden[r * size], &logits[r * count]);
        const tokkos::WeightRows<float> weights{weight.data(), size, size};
        Policy policy(Kokkos::Serial(), 1, 1);
        policy.set_scratch_size(0, Kokkos::PerTeam(tokkos::product_scratch));
        Kokkos::parallel_for("tokkos::test::lanes", policy, [&](const Policy::member_type& team) {
          auto* scratch =
              static_cast<float*>(team.team_scratch(0).get_shmem(tokkos::product_scratch));
          tokkos::multiply_by_lanes(team, group, weights, count, scratch);
        });
        int wrong = 0;
        for (int r = 0; r < rows; ++r) {
          for (std::int64_t v = 0; v < count; ++v) {
            const float expected = defined_product(&hidden[r * size], &weight[v * size], size);
            wrong += logits[r * count + v] == expected ? 0 : 1;
          }
        }
        CAPTURE(size, rows, count);
        CHECK(wrong == 0);
      }
    }
  }
}
