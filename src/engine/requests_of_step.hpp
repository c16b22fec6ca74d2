// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/edit_hook.hpp>
#include <tokkos/request/step_requests.hpp>
#include <tokkos/request/token_history.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

/// The history of a request; an empty one if it has none.
inline const TokenHistory& history_of(const StepRequests& requests, std::size_t request) {
  static const TokenHistory none;
  const TokenHistory* history = requests.sequence_states[request].history;
  return history != nullptr ? *history : none;
}

/// Calls `visit(place)` for each row of a request, in their order.
template <class Visit>
void for_each_row(const StepRequests& requests, std::size_t request, const Visit& visit) {
  const std::int64_t first = requests.first_row(request);
  for (std::int64_t row = first; row < requests.end_row(request); ++row) {
    visit(RowEdits::Place{request, row, requests.draft_node(request, row - first)});
  }
}

}  // namespace tokkos
