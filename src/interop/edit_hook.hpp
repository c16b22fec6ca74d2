// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/request/edit_hook.hpp>

namespace tokkos::interop {

/// The step's hook as a function of C++; empty if there is none.
/// @throws CallbackError, when it is called, where the callback fails
EditHook edit_hook_of(const tokkos_step& step);

}  // namespace tokkos::interop
