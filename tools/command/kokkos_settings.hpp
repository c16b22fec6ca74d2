// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <optional>

namespace tokkos::tools {

/// How the command initializes Kokkos: its warnings are off, and it
/// prints no configuration among the results. Checks the environment variables that
/// Kokkos reads first, because Kokkos ends the program where one of them is wrong.
/// @param threads of OpenMP; none: as the environment says
/// @throws Error that names the variable, its value and what was expected
Kokkos::InitializationSettings kokkos_settings(std::optional<int> threads);

}  // namespace tokkos::tools
