// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "lm_head/head_on_device.hpp"

#include <KokkosBlas3_gemm.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace {

using namespace tokkos::test;

template <class T>
T dense(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  const T matrix("matrix", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const auto host = Kokkos::create_mirror_view(matrix);
  for (std::size_t i = 0; i < values.size(); ++i) host.data()[i] = values[i];
  Kokkos::deep_copy(matrix, host);
  return matrix;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("logits by gemm have the bits of KokkosBlas::gemm", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight, typename TestType::device_type>;
  for (const std::int64_t rows : {1, 2, 7, 30}) {
    for (const std::int64_t size : {1, 16, 129}) {
      HeadCase head = plain_case(rows, 5001, size, 51);
      head.options.product = tokkos::LmHeadProduct::gemm;
      const Rows hidden = dense<Rows>(head.hidden, rows, size);
      const Rows weight = dense<Rows>(head.weight, head.vocabulary, size);
      const Rows logits("logits", hidden.extent(0), weight.extent(0));
      KokkosBlas::gemm(TestType(), "N", "T", 1.0f, hidden, weight, 0.0f, logits);
      TestType().fence("tokkos::test::gemm");
      const std::vector<float> expected = on_host(logits);
      const std::vector<float> own = DeviceHead<OnSpace>(head).logits();
      int wrong = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const bool is_same =
            std::bit_cast<std::uint32_t>(own[i]) == std::bit_cast<std::uint32_t>(expected[i]);
        wrong += is_same ? 0 : 1;
      }
      CAPTURE(rows, size);
      CHECK(own.size() == expected.size());
      CHECK(wrong == 0);
    }
  }
}
