// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "request/check_node_rows.hpp"

#include <tokkos/core/error.hpp>

#include <string>

namespace tokkos {

namespace {

void check_rows_of(const StepRequests& requests, std::size_t request) {
  const std::int64_t rows = requests.end_row(request) - requests.first_row(request);
  const bool has_drafts = requests.draft_trees.has_value();
  const std::size_t nodes = has_drafts ? (*requests.draft_trees)[request].size() : 0;
  const auto wanted = static_cast<std::int64_t>(nodes) + 1;
  if (rows == 1 && requests.draft_node(request, 0) == -1) return;
  const std::string field = "draft_token_indices[" + std::to_string(request) + "]";
  if (rows != wanted) {
    throw Error(field + ".size", std::nullopt, to_text(rows),
                to_text(wanted) + ": verification takes the root's row, then one for each node");
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int32_t node = requests.draft_node(request, row);
    if (node == row - 1) continue;
    throw Error(field, row, to_text(node),
                to_text(row - 1) + ": verification takes the rows in the order of the nodes");
  }
}

}  // namespace

void check_node_rows(const StepRequests& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) check_rows_of(requests, i);
}

}  // namespace tokkos
