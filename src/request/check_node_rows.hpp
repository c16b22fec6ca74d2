// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/step_requests.hpp>

namespace tokkos {

/// Throws unless a step's rows are those of a verification: of each request the root's, then those
/// of its draft nodes in their order; or the root's alone, in a step that was not processed.
void check_node_rows(const StepRequests& requests);

}  // namespace tokkos
