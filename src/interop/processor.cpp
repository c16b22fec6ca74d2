// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>

#include "interop/array_view.hpp"
#include "interop/context.hpp"
#include "interop/handle.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"
#include "interop/step_arguments.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

using namespace tokkos::interop;

struct tokkos_processor : Object {
  tokkos_processor(std::unique_ptr<ProcessorPart> made, std::int64_t vocabulary)
      : part(std::move(made)), arguments(vocabulary) {}
  std::unique_ptr<ProcessorPart> part;
  StepArguments arguments;
  bool is_in_call = false;
};

namespace {

/// One call of a processor, while it lives: its callbacks must not call the same processor.
class Call {
 public:
  explicit Call(tokkos_processor& processor) : m_processor(processor) {
    if (processor.is_in_call) {
      throw tokkos::Error("processor", std::nullopt, "called by a callback of its own call",
                          "a call after that one");
    }
    processor.is_in_call = true;
  }
  ~Call() { m_processor.is_in_call = false; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  tokkos_processor& m_processor;
};

tokkos_logit_hook hook_given(const tokkos_logit_hook* hook) {
  return hook == nullptr ? tokkos_logit_hook{} : read_struct("hook", hook, tokkos_logit_hook{});
}

}  // namespace

void tokkos_step_outputs_init(tokkos_step_outputs* outputs, size_t size) {
  initialize_struct(outputs, size, tokkos_step_outputs{});
}

void tokkos_logit_hook_init(tokkos_logit_hook* hook, size_t size) {
  initialize_struct(hook, size, tokkos_logit_hook{});
}

tokkos_status tokkos_processor_create(const tokkos_context* context, const tokkos_limits* limits,
                                      tokkos_processor** processor) {
  return guarded([&] {
    checked_result("processor", processor) = nullptr;
    const tokkos_context& alive = live("context", context);
    const Limits given = Limits::of(limits);
    create(processor, alive.backend->make_processor(given), given.vocabulary);
  });
}

tokkos_status tokkos_processor_destroy(tokkos_processor* processor) {
  return guarded([&] {
    if (processor != nullptr && live("processor", processor).is_in_call) {
      throw tokkos::Error("processor", std::nullopt, "destroyed by a callback of its own call",
                          "a call after that one");
    }
    destroy("processor", processor);
  });
}

tokkos_status tokkos_processor_process(tokkos_processor* processor, const tokkos_array* logits,
                                       const tokkos_step* step, const tokkos_step_outputs* outputs,
                                       const tokkos_step_options* options,
                                       const tokkos_logit_hook* hook) {
  return guarded([&] {
    tokkos_processor& alive = live("processor", processor);
    const Call call(alive);
    const auto written = read_struct("outputs", outputs, tokkos_step_outputs{});
    const tokkos::StepOptions taken = step_options_of(options);
    const tokkos_logit_hook called_between = hook_given(hook);
    alive.arguments.assign(step);
    alive.arguments.check_rows(row_count("logits", logits));
    alive.part->process(logits, alive.arguments.requests(), written, taken, called_between);
  });
}

tokkos_status tokkos_processor_prepare(tokkos_processor* processor, int64_t rows,
                                       const tokkos_step* step,
                                       const tokkos_step_options* options) {
  return guarded([&] {
    tokkos_processor& alive = live("processor", processor);
    const Call call(alive);
    try {
      const tokkos::StepOptions taken = step_options_of(options);
      alive.arguments.assign(step);
      alive.arguments.check_rows(rows);
      alive.part->prepare(rows, alive.arguments.requests(), taken);
    } catch (...) {
      alive.part->drop_prepared();  // an older step must not be taken for this one
      throw;
    }
  });
}

tokkos_status tokkos_processor_process_prepared(tokkos_processor* processor,
                                                const tokkos_array* logits,
                                                const tokkos_step_outputs* outputs,
                                                const tokkos_logit_hook* hook) {
  return guarded([&] {
    tokkos_processor& alive = live("processor", processor);
    const Call call(alive);
    const auto written = read_struct("outputs", outputs, tokkos_step_outputs{});
    alive.part->process_prepared(logits, written, hook_given(hook));
  });
}

tokkos_status tokkos_processor_update_logits(tokkos_processor* processor,
                                             const tokkos_array* logits, const tokkos_step* step,
                                             const tokkos_array* row_status) {
  return guarded([&] {
    tokkos_processor& alive = live("processor", processor);
    const Call call(alive);
    alive.arguments.assign(step);
    alive.arguments.check_rows(row_count("logits", logits));
    alive.part->update_logits(logits, alive.arguments.requests(), row_status);
  });
}

tokkos_status tokkos_processor_compute_probabilities(tokkos_processor* processor,
                                                     const tokkos_array* logits,
                                                     const tokkos_step* step,
                                                     const tokkos_array* probabilities,
                                                     const tokkos_array* row_status) {
  return guarded([&] {
    tokkos_processor& alive = live("processor", processor);
    const Call call(alive);
    alive.arguments.assign(step);
    alive.arguments.check_rows(row_count("logits", logits));
    alive.part->compute_probabilities(logits, alive.arguments.requests(), probabilities,
                                      row_status);
  });
}
