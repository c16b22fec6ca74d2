// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/command/option_set.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// The command line of `tokkos verify`.
/// @param arguments what stands after the subcommand
/// @throws Error for a wrong one
OptionSet parse_verify(std::span<const std::string> arguments);

/// `tokkos verify`: verifies recorded draft trees by the library. Call it after Kokkos was
/// initialized.
/// @param out gets what a user reads: bad trees
/// @throws BadStatus after everything is written, if trees have a bad status and --strict was given
/// @throws Error for everything that ends in exit status 2; no file is written then
void run_verify(const OptionSet& options, std::ostream& out);

}  // namespace tokkos::tools
