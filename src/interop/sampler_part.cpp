// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/sampler.hpp>

#include "interop/array_view.hpp"
#include "interop/engine_parts.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::interop {

namespace {

template <class ExecutionSpace>
class SamplerPartOf final : public SamplerPart {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  SamplerPartOf(const ExecutionSpace& space, const Limits& limits)
      : m_sampler(space, limits.max_rows, limits.vocabulary, limits.active_vocabulary) {}

  void sample_logits(const tokkos_array* logits, const StepRequests& requests,
                     const tokkos_array* tokens, const StepOptions& options,
                     const tokkos_array* row_status) override {
    const auto drawn = vector_of_array<TokenId, Space>("tokens", &given_array("tokens", tokens));
    const auto status = vector_of_array<std::int32_t, Space>("row_status", row_status);
    with_logits<Space, false>("logits", logits, [&](const auto& rows) {
      m_sampler.sample_from_logits(rows, requests, drawn, options.uniforms, status, options.ties);
    });
  }

  void sample_probabilities(const tokkos_array* probabilities, std::span<const float> uniforms,
                            const tokkos_array* tokens, const tokkos_array* row_status) override {
    m_sampler.sample_from_probabilities(
        matrix_of<const float, Space>("probabilities",
                                      &given_array("probabilities", probabilities)),
        uniforms, vector_of_array<TokenId, Space>("tokens", &given_array("tokens", tokens)),
        vector_of_array<std::int32_t, Space>("row_status", row_status));
  }

 private:
  Sampler<ExecutionSpace> m_sampler;
};

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<SamplerPart> make_sampler(const ExecutionSpace& space, const Limits& limits) {
  return std::make_unique<SamplerPartOf<ExecutionSpace>>(space, limits);
}

#define TOKKOS_INSTANTIATE(Space) \
  template std::unique_ptr<SamplerPart> make_sampler<Space>(const Space&, const Limits&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::interop
