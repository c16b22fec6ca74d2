// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/numerics/philox.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Where a request's random numbers come from: its number, or its id, names the stream, its history
// the position.

namespace tokkos {

/// The request's own random stream.
inline std::uint32_t stream_of(const StepRequests& requests, std::size_t request) {
  const GenerationConfig& config = requests.generation_configs[request];
  if (config.stream) return *config.stream;
  if (requests.request_ids.size() == requests.size()) {
    return request_stream(requests.request_ids[request]);
  }
  throw Error("request_ids.size", std::nullopt, std::to_string(requests.request_ids.size()),
              "one id for each request (Philox streams are named by them), or "
              "generation_configs[" +
                  std::to_string(request) + "].stream");
}

/// Number of tokens that a request has generated.
inline std::size_t generated_tokens(const StepRequests& requests, std::size_t request) {
  const TokenHistory* history = requests.sequence_states[request].history;
  if (history != nullptr) return history->generated().size();
  throw Error("sequence_states[" + std::to_string(request) + "].history", std::nullopt, "null",
              "a history (its length is the place in the random stream), or uniforms");
}

/// step_uniforms of a step that was validated.
std::vector<float> uniforms_of_valid_step(const StepRequests& requests, std::int64_t rows,
                                          Purpose purpose);

}  // namespace tokkos
