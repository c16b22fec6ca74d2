// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/engine/acceptance_statistics.hpp>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/engine/verified_draft.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tokkos::interop {

/// What processors, samplers, scorers and verifiers are made with.
struct Limits {
  std::int64_t max_rows = 0;
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> active_vocabulary = {};
  std::int64_t max_edits = 0;  ///< 0: no limit

  /// @throws Error if the struct is null or not valid
  static Limits of(const tokkos_limits* limits);
};

/// A LogitProcessor, of whatever execution space, on arrays of C. All may throw Error.
class ProcessorPart {
 public:
  virtual ~ProcessorPart() = default;
  virtual void update_logits(const tokkos_array* logits, const StepRequests& requests,
                             const tokkos_array* row_status) = 0;
  virtual void compute_probabilities(const tokkos_array* logits, const StepRequests& requests,
                                     const tokkos_array* probabilities,
                                     const tokkos_array* row_status) = 0;
  virtual void process(const tokkos_array* logits, const StepRequests& requests,
                       const tokkos_step_outputs& outputs, const StepOptions& options,
                       const tokkos_logit_hook& hook) = 0;
  virtual void prepare(std::int64_t rows, const StepRequests& requests,
                       const StepOptions& options) = 0;
  virtual void drop_prepared() noexcept = 0;
  virtual void process_prepared(const tokkos_array* logits, const tokkos_step_outputs& outputs,
                                const tokkos_logit_hook& hook) = 0;
};

/// A Sampler, likewise.
class SamplerPart {
 public:
  virtual ~SamplerPart() = default;
  virtual void sample_logits(const tokkos_array* logits, const StepRequests& requests,
                             const tokkos_array* tokens, const StepOptions& options,
                             const tokkos_array* row_status) = 0;
  virtual void sample_probabilities(const tokkos_array* probabilities,
                                    std::span<const float> uniforms, const tokkos_array* tokens,
                                    const tokkos_array* row_status) = 0;
};

/// The kernels that read rows of logits as they are, likewise.
class ScorerPart {
 public:
  virtual ~ScorerPart() = default;
  virtual void score(const tokkos_array* logits, const tokkos_score& score) = 0;
};

/// A DraftVerifier, likewise.
class VerifierPart {
 public:
  virtual ~VerifierPart() = default;
  virtual std::vector<VerifiedDraft> verify(const tokkos_array* model_probs,
                                            const tokkos_verify_options& options,
                                            std::span<const DraftTree> trees,
                                            const VerifyUniforms& uniforms) = 0;
  virtual std::vector<VerifiedDraft> verify_greedy(const tokkos_array* logits,
                                                   std::span<const DraftTree> trees) = 0;
  virtual const AcceptanceStatistics& statistics() const = 0;
  virtual void reset_statistics() = 0;
};

template <class ExecutionSpace>
std::unique_ptr<ProcessorPart> make_processor(const ExecutionSpace& space, const Limits& limits);
template <class ExecutionSpace>
std::unique_ptr<SamplerPart> make_sampler(const ExecutionSpace& space, const Limits& limits);
template <class ExecutionSpace>
std::unique_ptr<ScorerPart> make_scorer(const ExecutionSpace& space, const Limits& limits);
template <class ExecutionSpace>
std::unique_ptr<VerifierPart> make_verifier(const ExecutionSpace& space, const Limits& limits);
template <class ExecutionSpace>
void apply_bitmask(const ExecutionSpace& space, const tokkos_array* logits,
                   const tokkos_row_masks& masks);
template <class ExecutionSpace>
void verify_seed_rule(const ExecutionSpace& space, const tokkos_seed_rule& arrays);

/// The stream of an instance; null on hosts.
template <class ExecutionSpace>
void* stream_of(const ExecutionSpace& space) {
  if constexpr (requires { space.cuda_stream(); }) {
    return space.cuda_stream();
  } else if constexpr (requires { space.hip_stream(); }) {
    return space.hip_stream();
  } else {
    return nullptr;
  }
}

}  // namespace tokkos::interop
