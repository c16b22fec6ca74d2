// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/tokkos.h>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {

TEST_CASE("contexts say which backend and device they can have", "[interop]") {
  tokkos_context* context = nullptr;
  tokkos_context_options options = tokkos_context_options_default();
  options.backend = 9;
  CHECK(complaint_of(tokkos_context_create(&options, &context)).field == "backend");
  options.backend = TOKKOS_BACKEND_SERIAL;
  for (const std::int32_t neither : {2, -1, std::numeric_limits<std::int32_t>::max()}) {
    options.has_stream = neither;
    const Complaint said = complaint_of(tokkos_context_create(&options, &context));
    CHECK(said.field == "has_stream");
    CHECK(said.value == std::to_string(neither));
    CHECK(said.expected == "0 or 1");
  }
  options.has_stream = 1;
  CHECK(complaint_of(tokkos_context_create(&options, &context)).field == "has_stream");
  options.has_stream = 0;
  options.stream = &options;
  CHECK(complaint_of(tokkos_context_create(&options, &context)).field == "has_stream");
  options.stream = nullptr;
  options.device = 1000;
  CHECK(complaint_of(tokkos_context_create(&options, &context)).field == "device");
  options.device = -2;
  CHECK(complaint_of(tokkos_context_create(&options, &context)).field == "device");
  options.device = -1;
  options.num_threads = -1;
  CHECK(complaint_of(tokkos_context_create(&options, &context)).field == "num_threads");
  CHECK(context == nullptr);
}

TEST_CASE("a backend that was left out is said to be", "[interop]") {
  int left_out = 0;
  for (std::int32_t backend = TOKKOS_BACKEND_SERIAL; backend <= TOKKOS_BACKEND_HIP; ++backend) {
    tokkos_context_options options = tokkos_context_options_default();
    options.backend = backend;
    tokkos_context* context = nullptr;
    const tokkos_status status = tokkos_context_create(&options, &context);
    if (status == TOKKOS_OK) {
      std::int32_t made = 0;
      check_ok(tokkos_context_backend(context, &made));
      CHECK(made == backend);
      check_ok(tokkos_context_destroy(context));
      continue;
    }
    CHECK(status == TOKKOS_ERROR_UNSUPPORTED);
    CHECK(std::string(tokkos_last_error()).find("built without the backend") != std::string::npos);
    ++left_out;
  }
  CHECK(left_out >= 1);  // CUDA and HIP are never together
}

}  // namespace tokkos::test
