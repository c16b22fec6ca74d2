// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>

#include <array>
#include <utility>

namespace tokkos {

std::string row_status_names(std::int32_t status) {
  static constexpr std::array<std::pair<std::int32_t, const char*>, 9> names{
      {{RowStatus::nan_logit, "nan_logit"},
       {RowStatus::positive_infinity, "positive_infinity"},
       {RowStatus::empty, "empty"},
       {RowStatus::zero_residual, "zero_residual"},
       {RowStatus::invalid_draft, "invalid_draft"},
       {RowStatus::broken_tree, "broken_tree"},
       {RowStatus::invalid_edit, "invalid_edit"},
       {RowStatus::invalid_parameter, "invalid_parameter"},
       {RowStatus::invalid_probability, "invalid_probability"}}};
  std::string text;
  std::int32_t known = 0;
  const auto add = [&](const char* name) {
    if (!text.empty()) text += '+';
    text += name;
  };
  for (const auto& [bit, name] : names) {
    known |= bit;
    if ((status & bit) != 0) add(name);
  }
  if ((status & ~known) != 0) add("unknown");
  return text.empty() ? "ok" : text;
}

}  // namespace tokkos
