// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {

/// A step of one request on host memory, all of it right.
struct OneRow {
  static constexpr std::int64_t vocabulary = 100;
  std::vector<float> memory = std::vector<float>(vocabulary, 0.5f);
  std::array<std::int32_t, 1> drawn{-7};
  tokkos_array logits = tokkos_matrix(memory.data(), TOKKOS_FLOAT32, 1, vocabulary, 0);
  tokkos_array tokens = tokkos_vector(drawn.data(), TOKKOS_INT32, 1);
  tokkos_generation_config config = tokkos_generation_config_default();
  tokkos_request request = tokkos_request_default();
  tokkos_step step = tokkos_step_default();
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  tokkos_step_options options = tokkos_step_options_default();
  float uniform = 0.25f;
  Context context = context_on<Kokkos::Serial>();
  Processor processor = processor_on(context, limits_of(4, vocabulary));

  OneRow() {
    request.config = &config;
    step.requests = &request;
    step.request_count = 1;
    outputs.tokens = &tokens;
    options.uniforms = &uniform;
    options.uniform_count = 1;
  }
  OneRow(const OneRow&) = delete;
  OneRow& operator=(const OneRow&) = delete;

  tokkos_status process() {
    return tokkos_processor_process(processor.get(), &logits, &step, &outputs, &options, nullptr);
  }
  /// What processing says; logits and tokens must be as they were.
  Complaint complaint() {
    const Complaint said = complaint_of(process());
    CHECK(memory == std::vector<float>(vocabulary, 0.5f));
    CHECK(drawn[0] == -7);
    return said;
  }
};

}  // namespace tokkos::test
