// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/request/token_history.hpp>

#include "interop/handle.hpp"

#include <utility>

struct tokkos_history : tokkos::interop::Object {
  explicit tokkos_history(tokkos::TokenHistory made) : tokens(std::move(made)) {}
  tokkos::TokenHistory tokens;
};
