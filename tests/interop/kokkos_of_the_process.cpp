// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A program that has a Kokkos of its own beside the C library: with the argument `before` it
// initializes it first, with `after` never. What they share depends on how the library was built.
// Exits with the number of broken promises.
#include <tokkos/tokkos.h>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

int broken = 0;

void check(bool holds, const char* promise) {
  if (holds) return;
  std::printf("broken: %s (last error: %s)\n", promise, tokkos_last_error());
  ++broken;
}

tokkos_context* kept = nullptr;

/// Ends a context where programs of Kokkos let go of what they have: in a finalize hook.
void end_with_kokkos() {
  tokkos_context_options options = tokkos_context_options_default();
  options.backend = TOKKOS_BACKEND_SERIAL;
  check(tokkos_context_create(&options, &kept) == TOKKOS_OK, "a context that is kept");
  Kokkos::push_finalize_hook([] {
    check(tokkos_context_destroy(kept) == TOKKOS_OK, "a context ends in a finalize hook");
    kept = nullptr;
  });
}

bool makes_context() {
  tokkos_context_options options = tokkos_context_options_default();
  options.backend = TOKKOS_BACKEND_SERIAL;
  tokkos_context* context = nullptr;
  const tokkos_status status = tokkos_context_create(&options, &context);
  return status == TOKKOS_OK && tokkos_context_destroy(context) == TOKKOS_OK;
}

/// One row of the program's own memory through the library.
void process_own_view() {
  tokkos_context_options options = tokkos_context_options_default();
  options.backend = TOKKOS_BACKEND_SERIAL;
  tokkos_context* context = nullptr;
  tokkos_limits limits = tokkos_limits_default();
  limits.max_rows = 1;
  limits.vocabulary = 1000;
  tokkos_processor* processor = nullptr;
  check(tokkos_context_create(&options, &context) == TOKKOS_OK, "a context");
  check(tokkos_processor_create(context, &limits, &processor) == TOKKOS_OK, "a processor");
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> view("logits", 1, 1000);
  Kokkos::parallel_for(Kokkos::RangePolicy<Host>(0, 1000),
                       [=](int v) { view(0, v) = v == 321 ? 50.0f : 0.0f; });
  std::int32_t token = -1;
  const float uniform = 0.5f;
  const tokkos_array logits = tokkos_matrix(view.data(), TOKKOS_FLOAT32, 1, 1000, 0);
  const tokkos_array tokens = tokkos_vector(&token, TOKKOS_INT32, 1);
  const tokkos_request request = tokkos_request_default();
  tokkos_step step = tokkos_step_default();
  step.requests = &request;
  step.request_count = 1;
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  outputs.tokens = &tokens;
  tokkos_step_options draws = tokkos_step_options_default();
  draws.uniforms = &uniform;
  draws.uniform_count = 1;
  check(tokkos_processor_process(processor, &logits, &step, &outputs, &draws, nullptr) == TOKKOS_OK,
        "a step");
  check(token == 321, "its token");
  check(tokkos_processor_destroy(processor) == TOKKOS_OK, "the processor ends");
  check(tokkos_context_destroy(context) == TOKKOS_OK, "the context ends");
}

}  // namespace

int main(int argc, char* argv[]) {
  const bool before = argc > 1 && std::string_view(argv[1]) == "before";
  const bool shares = tokkos_carries_kokkos() == 0;
  std::printf("the library %s\n", shares ? "shares this Kokkos" : "carries its own Kokkos");
  if (before) Kokkos::initialize();
  check(makes_context(), "a context can be made");
  check((tokkos_started_kokkos() == 1) == !(before && shares), "who started Kokkos is known");
  check(Kokkos::is_initialized() == (before || shares), "a Kokkos that is shared runs for both");
  const bool runs = Kokkos::is_initialized();
  if (runs) process_own_view();
  if (runs) end_with_kokkos();
  check(tokkos_finalize() == TOKKOS_OK, "what was started is finalized");
  check(Kokkos::is_initialized() == before, "a Kokkos of others is left alone");
  if (before) Kokkos::finalize();
  check(kept == nullptr, "the finalize hook has run");
  check(!makes_context(), "no context after the library's Kokkos");
  std::printf("%d promises broken\n", broken);
  return broken;
}
