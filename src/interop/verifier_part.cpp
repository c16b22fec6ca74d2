// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/draft_verifier.hpp>

#include "interop/array_view.hpp"
#include "interop/engine_parts.hpp"
#include "kernels/instantiate.hpp"

#include <optional>

namespace tokkos::interop {

namespace {

template <class ExecutionSpace>
class VerifierPartOf final : public VerifierPart {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  VerifierPartOf(const ExecutionSpace& space, const Limits& limits)
      : m_verifier(space, limits.max_rows, limits.vocabulary, limits.active_vocabulary) {}

  std::vector<VerifiedDraft> verify(const tokkos_array* model_probs,
                                    const tokkos_verify_options& options,
                                    std::span<const DraftTree> trees,
                                    const VerifyUniforms& uniforms) override {
    DraftProbabilities<Space> drafts;
    drafts.rows = matrix_of<const float, Space>("draft_probs", options.draft_probs);
    drafts.row_of_node = std::span(options.row_of_node, options.row_of_node_count);
    drafts.without_replacement = options.without_replacement != 0;
    return m_verifier.verify(
        matrix_of<const float, Space>("model_probs", &given_array("model_probs", model_probs)),
        drafts, trees, uniforms);
  }

  std::vector<VerifiedDraft> verify_greedy(const tokkos_array* logits,
                                           std::span<const DraftTree> trees) override {
    return with_logits<Space, false>("logits", logits, [&]<class Rows>(const Rows& rows) {
      return m_verifier.template verify_greedy<typename Rows::non_const_value_type>(rows, trees);
    });
  }

  const AcceptanceStatistics& statistics() const override { return m_verifier.statistics(); }
  void reset_statistics() override { m_verifier.reset_statistics(); }

 private:
  DraftVerifier<ExecutionSpace> m_verifier;
};

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<VerifierPart> make_verifier(const ExecutionSpace& space, const Limits& limits) {
  return std::make_unique<VerifierPartOf<ExecutionSpace>>(space, limits);
}

#define TOKKOS_INSTANTIATE(Space) \
  template std::unique_ptr<VerifierPart> make_verifier<Space>(const Space&, const Limits&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::interop
