// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>

#include "kernels/check_edits.hpp"
#include "kernels/check_views.hpp"
#include "kernels/edit_functors.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"
#include "kernels/log_probability.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

/// The logit that an edit changes.
struct EditedPlace {
  std::int64_t row = -1;  ///< -1: the edit changes none
  std::int64_t token = -1;
};

/// Where the entries of two lists of edits stand, biases first.
template <class Space>
struct EditedPlaces {
  LogitBiasEdits<Space> biases;
  PenaltyEdits<Space> penalties;
  std::int64_t rows;
  std::int64_t vocabulary;

  KOKKOS_FUNCTION EditedPlace operator()(std::int64_t i) const {
    const auto first = static_cast<std::int64_t>(biases.token_ids.extent(0));
    EditedPlace place;
    if (i < first) {
      place = {biases.pos2seq_id(i), biases.token_ids(i)};
    } else {
      const std::int64_t c = penalties.pos2seq_id(i - first);
      if (c < 0 || c >= static_cast<std::int64_t>(penalties.seq_ids.extent(0))) return {};
      place = {penalties.seq_ids(c), penalties.token_ids(i - first)};
    }
    const bool exists =
        place.row >= 0 && place.row < rows && place.token >= 0 && place.token < vocabulary;
    return exists ? place : EditedPlace{};
  }
};

template <class ExecutionSpace, LogitType Logit>
struct SaveLogits {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<const Logit, Space> logits;
  EditedPlaces<Space> places;
  Vector<float, Space> saved;

  /// Asks for the logit of an edit that comes soon.
  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t i) const {
    const EditedPlace place = places(i);
    detail::fetch_logit(logits, place.row, place.token);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const EditedPlace place = places(i);
    saved(i) = place.row < 0 ? negative_infinity : widen(logits(place.row, place.token));
  }
};

/// Scores the tokens whose logits were edited.
template <class ExecutionSpace, LogitType Logit>
struct ScoreEdited {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  EditedPlaces<Space> places;
  Vector<const float, Space> saved;
  Vector<const TokenId, Space> tokens;
  Vector<float, Space> result;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const EditedPlace place = places(i);
    if (place.row < 0 || place.token != tokens(place.row) || place.token >= rows.active()) return;
    const InverseTemperature inverse = RowTemperature::of(rows, place.row).inverse;
    RowCut whole;
    whole.count = -1;
    const RowLogarithm logarithm = RowLogarithm::of(measures, whole, inverse, place.row);
    const float x = saved(i);
    const bool is_scored = logarithm.usable && x > masked_logit;
    result(place.row) = is_scored ? logarithm.of_logit(x) : negative_infinity;
  }
};

/// Throws unless the lists fit; returns how many edits they have.
template <class T, class Space>
std::int64_t check_saved(const LogitBiasEdits<Space>& biases, const PenaltyEdits<Space>& penalties,
                         const Vector<T, Space>& saved) {
  const std::int64_t edits = check_edit_lists(biases, penalties);
  check_vector("saved", saved, edits);
  return edits;
}

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void save_edited_logits(const ExecutionSpace& space,
                        const Matrix<const Logit, MemoryOf<ExecutionSpace>>& logits,
                        const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                        const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                        const Vector<float, MemoryOf<ExecutionSpace>>& saved) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
  check_matrix("logits", logits, rows, vocabulary);
  const std::int64_t edits = check_saved(biases, penalties, saved);
  check_apart(
      std::array{NamedRange::of("saved", saved)},
      {std::array{NamedRange::of("the logits", logits)}, ranges_of(biases), ranges_of(penalties)});
  launch_entries(
      "tokkos::raw_log_probabilities::save", space, edits,
      SaveLogits<ExecutionSpace, Logit>{logits, {biases, penalties, rows, vocabulary}, saved});
}

template <class ExecutionSpace, LogitType Logit>
void raw_log_probabilities(const ExecutionSpace& space,
                           const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                           const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                           const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                           const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                           const Vector<const float, MemoryOf<ExecutionSpace>>& saved,
                           const Vector<const TokenId, MemoryOf<ExecutionSpace>>& tokens,
                           const Vector<float, MemoryOf<ExecutionSpace>>& result) {
  if (rows.row_index.data() != nullptr) {
    throw Error("row_index", std::nullopt, "given", "none: edits name rows of the logits");
  }
  if (rows.bitmask.words.data() != nullptr) {
    throw Error("bitmask", std::nullopt, "given", "none: raw logits are not masked");
  }
  const std::int64_t edits = check_saved(biases, penalties, saved);
  const std::array kept{NamedRange::of("saved", saved)};
  check_apart(std::array{NamedRange::of("result", result)},
              {kept, ranges_of(biases), ranges_of(penalties)});
  log_probabilities(space, rows, measures, tokens, result);
  launch_entries(
      "tokkos::raw_log_probabilities::edited", space, edits,
      ScoreEdited<ExecutionSpace, Logit>{rows,
                                         measures,
                                         {biases, penalties, rows.rows(), rows.vocabulary()},
                                         saved,
                                         tokens,
                                         result});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void save_edited_logits<Space, Logit>(                                                  \
      const Space&, const Matrix<const Logit, MemoryOf<Space>>&,                                   \
      const LogitBiasEdits<MemoryOf<Space>>&, const PenaltyEdits<MemoryOf<Space>>&,                \
      const Vector<float, MemoryOf<Space>>&);                                                      \
  template void raw_log_probabilities<Space, Logit>(                                               \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const LogitBiasEdits<MemoryOf<Space>>&, const PenaltyEdits<MemoryOf<Space>>&,                \
      const Vector<const float, MemoryOf<Space>>&, const Vector<const TokenId, MemoryOf<Space>>&,  \
      const Vector<float, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
