// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>

TEST_CASE("the status bits have the numbers of the contract") {
  using tokkos::RowStatus;
  CHECK(RowStatus::ok == 0);
  CHECK(RowStatus::nan_logit == 1);
  CHECK(RowStatus::positive_infinity == 2);
  CHECK(RowStatus::empty == 4);
  CHECK(RowStatus::zero_residual == 8);
  CHECK(RowStatus::invalid_draft == 16);
  CHECK(RowStatus::broken_tree == 32);
  CHECK(RowStatus::invalid_edit == 64);
  CHECK(RowStatus::invalid_parameter == 128);
  CHECK(RowStatus::invalid_probability == 256);
}

TEST_CASE("a row is unusable with bits 1, 2, 4, 128 and 256 only") {
  CHECK(tokkos::unusable_row == 1 + 2 + 4 + 128 + 256);
}

TEST_CASE("status names are joined in the order of their bits") {
  CHECK(tokkos::row_status_names(0) == "ok");
  CHECK(tokkos::row_status_names(1) == "nan_logit");
  CHECK(tokkos::row_status_names(4 + 1) == "nan_logit+empty");
  CHECK(tokkos::row_status_names(511) ==
        "nan_logit+positive_infinity+empty+zero_residual+invalid_draft+broken_tree+invalid_edit+"
        "invalid_parameter+invalid_probability");
  CHECK(tokkos::row_status_names(1 << 20) == "unknown");
  CHECK(tokkos::row_status_names(-1).ends_with("invalid_probability+unknown"));
  CHECK(tokkos::row_status_names(512 + 2) == "positive_infinity+unknown");
}
