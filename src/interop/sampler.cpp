// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/sampler.hpp>

#include "engine/uniforms.hpp"
#include "interop/array_view.hpp"
#include "interop/context.hpp"
#include "interop/handle.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"
#include "interop/step_arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

using namespace tokkos::interop;

struct tokkos_sampler : Object {
  tokkos_sampler(std::unique_ptr<SamplerPart> made, std::int64_t vocabulary)
      : part(std::move(made)), arguments(vocabulary) {}
  std::unique_ptr<SamplerPart> part;
  StepArguments arguments;
};

tokkos_status tokkos_sampler_create(const tokkos_context* context, const tokkos_limits* limits,
                                    tokkos_sampler** sampler) {
  return guarded([&] {
    checked_result("sampler", sampler) = nullptr;
    const tokkos_context& alive = live("context", context);
    const Limits given = Limits::of(limits);
    create(sampler, alive.backend->make_sampler(given), given.vocabulary);
  });
}

tokkos_status tokkos_sampler_destroy(tokkos_sampler* sampler) {
  return guarded([&] { destroy("sampler", sampler); });
}

tokkos_status tokkos_sampler_sample_logits(tokkos_sampler* sampler, const tokkos_array* logits,
                                           const tokkos_step* step, const tokkos_array* tokens,
                                           const tokkos_step_options* options,
                                           const tokkos_array* row_status) {
  return guarded([&] {
    tokkos_sampler& alive = live("sampler", sampler);
    const tokkos::StepOptions taken = step_options_of(options);
    alive.arguments.assign(step);
    alive.arguments.check_rows(row_count("logits", logits));
    alive.part->sample_logits(logits, alive.arguments.requests(), tokens, taken, row_status);
  });
}

tokkos_status tokkos_sampler_sample_probabilities(tokkos_sampler* sampler,
                                                  const tokkos_array* probabilities,
                                                  const float* uniforms, size_t uniform_count,
                                                  const tokkos_array* tokens,
                                                  const tokkos_array* row_status) {
  return guarded([&] {
    tokkos_sampler& alive = live("sampler", sampler);
    checked_array("uniforms", uniforms, uniform_count);
    alive.part->sample_probabilities(probabilities, std::span(uniforms, uniform_count), tokens,
                                     row_status);
  });
}

tokkos_status tokkos_step_uniforms(const tokkos_step* step, float* uniforms, size_t count) {
  return guarded([&] {
    checked_array("uniforms", uniforms, count);
    StepArguments arguments;
    arguments.assign(step);
    check_count("uniforms", count, static_cast<std::size_t>(arguments.rows()));
    const auto drawn = tokkos::step_uniforms(arguments.requests(), arguments.rows());
    std::ranges::copy(drawn, uniforms);
  });
}

tokkos_status tokkos_draft_uniform(const tokkos_request* request, uint32_t position, uint32_t node,
                                   float* uniform) {
  return guarded([&] {
    float& result = checked_result("uniform", uniform);
    tokkos_step step = tokkos_step_default();
    tokkos_request alone = tokkos_request_default();
    step.requests = request;
    step.request_count = 1;
    if (request != nullptr) {
      alone = read_struct("requests[0]", request, alone);
      alone.draft_tree = nullptr;  // nothing depends on it, and it would ask for a number per row
      alone.draft_nodes = nullptr;
      step.requests = &alone;
    }
    StepArguments arguments;
    arguments.assign(&step);
    const tokkos::StepRequests requests = arguments.requests();
    result = tokkos::philox_uniform(requests.generation_configs[0].seed, position, node,
                                    tokkos::Purpose::draft, tokkos::stream_of(requests, 0));
  });
}

tokkos_status tokkos_step_validate(const tokkos_step* step, int64_t vocabulary) {
  return guarded([&] {
    tokkos::require(vocabulary >= 1 && vocabulary <= tokkos::max_vocabulary, "vocabulary",
                    std::nullopt, vocabulary, "a number in [1, 2147483647]");
    StepArguments arguments(vocabulary);
    arguments.assign(step);
    tokkos::validate(arguments.requests(), arguments.rows(), vocabulary);
  });
}
