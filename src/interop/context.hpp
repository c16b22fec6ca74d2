// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include "interop/backend.hpp"
#include "interop/handle.hpp"

#include <memory>
#include <utility>

/// Where work is done. What is made from a context shares its backend, and may outlive it.
struct tokkos_context : tokkos::interop::Object {
  explicit tokkos_context(std::shared_ptr<const tokkos::interop::Backend> made)
      : backend(std::move(made)) {}
  std::shared_ptr<const tokkos::interop::Backend> backend;
};
