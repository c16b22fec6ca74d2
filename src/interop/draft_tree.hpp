// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/request/draft_tree.hpp>

#include <cstdint>
#include <string>

namespace tokkos::interop {

/// Makes `tree` that of C, given by parents or by links; null: empty. Of links everything is
/// checked, of parents nothing. @throws Error
void assign_draft_tree(const std::string& name, const tokkos_draft_tree* tree_of_c,
                       std::int64_t vocabulary, DraftTree& tree);

}  // namespace tokkos::interop
