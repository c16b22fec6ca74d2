// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/engine/verified_draft.hpp>

#include "interop/handle.hpp"

#include <vector>

/// The results of the latest verification that was asked to fill it.
struct tokkos_verified : tokkos::interop::Object {
  std::vector<tokkos::VerifiedDraft> drafts;
};
