// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tokkos::tools {

/// Takes --threads N (or --threads=N) out of the arguments, before or after the subcommand: Kokkos
/// has to know it before any subcommand runs.
/// @throws Error if it is no integer in [1, 1024] or stands there twice
std::optional<int> take_threads(std::vector<std::string>& arguments);

}  // namespace tokkos::tools
