// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tokkos::tools {

/// A number of threads, in [1, 512]: Kokkos's OpenMP backend has room for no more.
/// @param name what it is called in errors
/// @throws Error if it is none
int parse_threads(const std::string& name, const std::string& text);

/// Takes --threads N (or --threads=N) from the front of the arguments, where it stands before the
/// subcommand.
/// @throws Error if N is missing or out of range, or if the option stands there twice
std::optional<int> take_threads(std::vector<std::string>& arguments);

}  // namespace tokkos::tools
