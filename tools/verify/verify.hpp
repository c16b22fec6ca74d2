// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// `tokkos verify`: verifies recorded draft trees by the library.
/// @param arguments what stands after the subcommand
/// @param out gets what a user reads: help, bad trees
/// @throws BadStatus after everything is written, if trees have a bad status and --strict was given
/// @throws Error for everything that ends in exit status 2; no file is written then
void run_verify(std::span<const std::string> arguments, std::ostream& out);

}  // namespace tokkos::tools
