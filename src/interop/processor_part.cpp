// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>

#include "interop/array_view.hpp"
#include "interop/engine_parts.hpp"
#include "interop/last_error.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::interop {

namespace {

template <class Space>
StepOutputs<Space> outputs_of(const tokkos_step_outputs& given) {
  StepOutputs<Space> outputs;
  outputs.probabilities = matrix_of<float, Space>("probabilities", given.probabilities);
  outputs.tokens = vector_of_array<TokenId, Space>("tokens", given.tokens);
  outputs.truncated_probabilities =
      matrix_of<float, Space>("truncated_probabilities", given.truncated_probabilities);
  outputs.logprobs = vector_of_array<float, Space>("logprobs", given.logprobs);
  outputs.top_tokens = matrix_of<TokenId, Space>("top_tokens", given.top_tokens);
  outputs.top_logprobs = matrix_of<float, Space>("top_logprobs", given.top_logprobs);
  outputs.raw_logprobs = vector_of_array<float, Space>("raw_logprobs", given.raw_logprobs);
  outputs.raw_top_tokens = matrix_of<TokenId, Space>("raw_top_tokens", given.raw_top_tokens);
  outputs.raw_top_logprobs = matrix_of<float, Space>("raw_top_logprobs", given.raw_top_logprobs);
  outputs.log_sum_exp = vector_of_array<float, Space>("log_sum_exp", given.log_sum_exp);
  outputs.row_status = vector_of_array<std::int32_t, Space>("row_status", given.row_status);
  check_masks_given(given.bitmask, given.bitmask_row_index);
  outputs.bitmask.words = matrix_of<const std::int32_t, Space>("bitmask", given.bitmask);
  outputs.bitmask.row_index =
      vector_of_array<const std::int32_t, Space>("bitmask_row_index", given.bitmask_row_index);
  return outputs;
}

/// The caller's hook for logits of one type; empty if there is none.
template <class ExecutionSpace, LogitType Logit>
LogitHook<ExecutionSpace, Logit> hook_of(const tokkos_logit_hook& hook) {
  if (hook.call == nullptr) return {};
  return [hook](const ExecutionSpace& space, const Matrix<Logit, MemoryOf<ExecutionSpace>>& rows) {
    tokkos_array logits{};
    logits.data = rows.data();
    logits.type = type_number<Logit>();
    logits.ndim = 2;
    for (int i = 0; i < 2; ++i) {
      logits.shape[i] = static_cast<std::int64_t>(rows.extent(static_cast<std::size_t>(i)));
      logits.strides[i] = static_cast<std::int64_t>(rows.stride(static_cast<std::size_t>(i)));
    }
    called_to_do("hook.call", [&] { return hook.call(hook.user, stream_of(space), &logits); });
  };
}

template <class View>
using LogitOf = typename View::non_const_value_type;

template <class ExecutionSpace>
class ProcessorPartOf final : public ProcessorPart {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  ProcessorPartOf(const ExecutionSpace& space, const Limits& limits)
      : m_processor(space, limits.max_rows, limits.vocabulary, limits.active_vocabulary) {
    if (limits.max_edits != 0) m_processor.set_max_edits(limits.max_edits);
  }

  void update_logits(const tokkos_array* logits, const StepRequests& requests,
                     const tokkos_array* row_status) override {
    const auto status = vector_of_array<std::int32_t, Space>("row_status", row_status);
    with_logits<Space, true>("logits", logits, [&](const auto& rows) {
      m_processor.inplace_update_logits(rows, requests, status);
    });
  }

  void compute_probabilities(const tokkos_array* logits, const StepRequests& requests,
                             const tokkos_array* probabilities,
                             const tokkos_array* row_status) override {
    const auto written =
        matrix_of<float, Space>("probabilities", &given_array("probabilities", probabilities));
    const auto status = vector_of_array<std::int32_t, Space>("row_status", row_status);
    tokkos_array read = given_array("logits", logits);
    read.flags &= ~TOKKOS_ARRAY_READ_ONLY;  // the class takes what it only reads as writable
    with_logits<Space, true>("logits", &read, [&](const auto& rows) {
      m_processor.compute_probs_from_logits(rows, requests, written, status);
    });
  }

  void process(const tokkos_array* logits, const StepRequests& requests,
               const tokkos_step_outputs& given, const StepOptions& options,
               const tokkos_logit_hook& hook) override {
    const StepOutputs<Space> outputs = outputs_of<Space>(given);
    with_logits<Space, true>("logits", logits, [&]<class Rows>(const Rows& rows) {
      m_processor.process(rows, requests, outputs, options,
                          hook_of<ExecutionSpace, LogitOf<Rows>>(hook));
    });
  }

  void prepare(std::int64_t rows, const StepRequests& requests,
               const StepOptions& options) override {
    m_processor.prepare(rows, requests, options);
  }

  void drop_prepared() noexcept override {
    try {
      m_processor.prepare(-1, {});  // refused, which drops what was prepared
    } catch (...) {
    }
  }

  void process_prepared(const tokkos_array* logits, const tokkos_step_outputs& given,
                        const tokkos_logit_hook& hook) override {
    const StepOutputs<Space> outputs = outputs_of<Space>(given);
    with_logits<Space, true>("logits", logits, [&]<class Rows>(const Rows& rows) {
      m_processor.process(rows, outputs, hook_of<ExecutionSpace, LogitOf<Rows>>(hook));
    });
  }

 private:
  LogitProcessor<ExecutionSpace> m_processor;
};

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<ProcessorPart> make_processor(const ExecutionSpace& space, const Limits& limits) {
  return std::make_unique<ProcessorPartOf<ExecutionSpace>>(space, limits);
}

#define TOKKOS_INSTANTIATE(Space) \
  template std::unique_ptr<ProcessorPart> make_processor<Space>(const Space&, const Limits&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::interop
