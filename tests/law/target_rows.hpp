// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/law_draft.hpp"

#include <vector>

namespace tokkos::test {

/// Fills in the target's rows at every node of every draft: from the tables, or as a
/// caller gets them by LogitProcessor, with a request for each draft.
/// @throws std::runtime_error if a row that can be reached has a status
void fill_target_rows(const LawProblem& problem, const LawTables& tables,
                      std::vector<LawDraft>& drafts);

}  // namespace tokkos::test
