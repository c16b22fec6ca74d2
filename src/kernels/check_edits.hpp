// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "kernels/check_views.hpp"
#include "kernels/named_range.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace tokkos {

/// Throws unless the logits are rows that can be edited, with a status word each or none at all.
template <class Logit, class Space>
void check_edited_logits(const Matrix<Logit, Space>& logits,
                         const Vector<std::int32_t, Space>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_matrix("logits", logits, rows, static_cast<std::int64_t>(logits.extent(1)));
  check_optional_vector("row_status", row_status, rows);
}

template <class Space>
std::array<NamedRange, 3> ranges_of(const LogitBiasEdits<Space>& edits) {
  return {NamedRange::of("pos2seq_id", edits.pos2seq_id),
          NamedRange::of("token_ids", edits.token_ids),
          NamedRange::of("logit_bias", edits.logit_bias)};
}

template <class Space>
std::array<NamedRange, 7> ranges_of(const PenaltyEdits<Space>& edits) {
  return {
      NamedRange::of("seq_ids", edits.seq_ids),     NamedRange::of("pos2seq_id", edits.pos2seq_id),
      NamedRange::of("token_ids", edits.token_ids), NamedRange::of("token_cnt", edits.token_cnt),
      NamedRange::of("penalties", edits.penalties), NamedRange::of("biases", edits.biases),
      NamedRange::of("policies", edits.policies)};
}

/// Throws if logits and status share memory with each other or with what edits them.
template <class Logit, class Space, class... Edits>
void check_edits_apart(const Matrix<Logit, Space>& logits,
                       const Vector<std::int32_t, Space>& row_status, const Edits&... edits) {
  const std::array whole{NamedRange::of("the logits", logits)};
  check_apart(std::array{NamedRange::of("row_status", row_status)}, {whole, ranges_of(edits)...});
  check_apart(std::array{NamedRange::of("logits", logits)}, {ranges_of(edits)...});
}

/// Throws unless the arrays have one length; returns it.
template <class Space>
std::int64_t check_bias_edits(const LogitBiasEdits<Space>& edits) {
  const auto entries = static_cast<std::int64_t>(edits.token_ids.extent(0));
  check_vector("token_ids", edits.token_ids, entries);
  check_vector("pos2seq_id", edits.pos2seq_id, entries);
  check_vector("logit_bias", edits.logit_bias, entries);
  return entries;
}

/// Throws unless the arrays have one length, biases at most that, and each group its penalties;
/// returns that length.
template <class Space>
std::int64_t check_penalty_edits(const PenaltyEdits<Space>& edits) {
  const auto entries = static_cast<std::int64_t>(edits.token_ids.extent(0));
  check_vector("token_ids", edits.token_ids, entries);
  check_vector("pos2seq_id", edits.pos2seq_id, entries);
  check_vector("token_cnt", edits.token_cnt, entries);
  const auto biased = static_cast<std::int64_t>(edits.biases.extent(0));
  require(biased <= entries, "biases.extent", 0, biased, "at most one for each entry");
  check_vector("biases", edits.biases, biased);
  const auto groups = static_cast<std::int64_t>(edits.seq_ids.extent(0));
  check_vector("seq_ids", edits.seq_ids, groups);
  if (entries > 0) {
    check_matrix("penalties", edits.penalties, groups, 3);
    check_optional_vector("policies", edits.policies, groups);
  }
  return entries;
}

/// What `check` returns; fields that it complains about are members of `list`.
template <class Check>
std::int64_t check_member(const char* list, Check check) {
  try {
    return check();
  } catch (const Error& error) {
    throw Error(std::string(list) + "." + error.field(), error.index(), error.value(),
                error.expected());
  }
}

/// Checks both lists of one launch; returns their length together.
template <class Space>
std::int64_t check_edit_lists(const LogitBiasEdits<Space>& biases,
                              const PenaltyEdits<Space>& penalties) {
  const std::int64_t edits =
      check_member("biases", [&] { return check_bias_edits(biases); }) +
      check_member("penalties", [&] { return check_penalty_edits(penalties); });
  require(edits <= std::numeric_limits<std::int32_t>::max(), "edits", std::nullopt, edits,
          "at most 2147483647 in one launch");
  return edits;
}

}  // namespace tokkos
