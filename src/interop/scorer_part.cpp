// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/owned_view.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "engine/check_engine.hpp"
#include "interop/array_view.hpp"
#include "interop/check_score.hpp"
#include "interop/engine_parts.hpp"
#include "interop/score_arrays.hpp"
#include "interop/step_arguments.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::interop {

namespace {

template <class ExecutionSpace>
class ScorerPartOf final : public ScorerPart {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  ScorerPartOf(const ExecutionSpace& space, const Limits& limits)
      : m_space(space),
        m_max_rows(limits.max_rows),
        m_vocabulary(limits.vocabulary),
        m_active_vocabulary(checked_active_vocabulary(limits.max_rows, limits.vocabulary,
                                                      limits.active_vocabulary)),
        m_workspace(limits.max_rows, limits.vocabulary),
        m_cuts(limits.max_rows),
        m_one(One(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::scorer::one"), 1)) {
    Kokkos::deep_copy(m_space, m_one.get(), 1.0f);
  }

  void score(const tokkos_array* logits, const tokkos_score& score) override {
    const auto arrays = ScoreArrays<Space>::of(score);
    const GreedyTies ties = greedy_ties_of("ties", score.ties);
    with_logits<Space, false>("logits", logits, [&]<class Logits>(const Logits& view) {
      const auto rows = rows_of_score<typename Logits::non_const_value_type>(view, arrays);
      check_score(rows, arrays);
      if (rows.rows() > 0) launch(rows, arrays, ties);
    });
  }

 private:
  using One = Kokkos::View<float*, Space>;

  /// The rows that are read; not checked beyond their number and length.
  template <LogitType Logit>
  LogitRows<Logit, Space> rows_of_score(const Matrix<const Logit, Space>& logits,
                                        const ScoreArrays<Space>& arrays) const {
    const bool is_listed = arrays.row_index.given != nullptr;
    const auto n =
        static_cast<std::int64_t>(is_listed ? arrays.row_index.view.extent(0) : logits.extent(0));
    if (is_listed) check_call(n, m_vocabulary, m_max_rows, m_vocabulary, arrays.row_index.name);
    check_call(n, static_cast<std::int64_t>(logits.extent(1)), m_max_rows, m_vocabulary);
    LogitRows<Logit, Space> rows;
    rows.logits = n > 0 ? logits : no_rows<Logit>();
    rows.row_index = arrays.row_index.view;
    rows.temperature = m_one.get();
    if (arrays.temperature.given != nullptr) rows.temperature = arrays.temperature.view;
    rows.bitmask = {arrays.bitmask.view, arrays.bitmask_row_index.view};
    rows.active_vocabulary = m_active_vocabulary;
    return rows;
  }

  /// No rows of V logits, whatever an array without rows says of their length.
  template <LogitType Logit>
  Matrix<const Logit, Space> no_rows() const {
    const auto columns = static_cast<std::size_t>(m_vocabulary);
    return Matrix<const Logit, Space>(nullptr, Kokkos::LayoutStride(0, columns, columns, 1));
  }

  /// One read of the logits, and then what is asked for. Draws come last: a NaN among their
  /// uniforms ends the use of a row's measures.
  template <LogitType Logit>
  void launch(const LogitRows<Logit, Space>& rows, const ScoreArrays<Space>& arrays,
              GreedyTies ties) const {
    const auto measures = m_workspace.measures(rows.rows());
    const auto& status = arrays.row_status.view;
    measure(m_space, rows, measures, status);
    RowCuts<Space> cuts;
    if (arrays.truncates()) {
      cuts = m_cuts.cuts(rows.rows());
      truncate(m_space, rows, measures, arrays.truncation(), cuts, status);
    }
    if (arrays.given_tokens.given != nullptr) {
      log_probabilities(m_space, rows, measures, arrays.given_tokens.view,
                        arrays.given_logprobs.view, cuts, status);
    }
    if (arrays.top_tokens.given != nullptr) {
      top_log_probabilities(m_space, rows, measures, arrays.top_tokens.view,
                            arrays.top_logprobs.view, cuts);
    }
    if (arrays.log_sum_exp.given != nullptr) {
      log_sum_exp(m_space, rows, measures, arrays.log_sum_exp.view);
    }
    if (arrays.tokens.given != nullptr) {
      draw_tokens(m_space, rows, measures, arrays.uniforms.view, arrays.tokens.view, cuts, status,
                  ties);
    }
  }

  ExecutionSpace m_space;
  std::int64_t m_max_rows;
  std::int64_t m_vocabulary;
  std::int64_t m_active_vocabulary;
  Workspace<Space> m_workspace;
  CutsWorkspace<Space> m_cuts;
  OwnedView<One> m_one;  // the temperature of scores without
};

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<ScorerPart> make_scorer(const ExecutionSpace& space, const Limits& limits) {
  return std::make_unique<ScorerPartOf<ExecutionSpace>>(space, limits);
}

#define TOKKOS_INSTANTIATE(Space) \
  template std::unique_ptr<ScorerPart> make_scorer<Space>(const Space&, const Limits&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::interop
