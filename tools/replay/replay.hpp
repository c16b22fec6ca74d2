// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/command/option_set.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// The command line of `tokkos replay`.
/// @param arguments what stands after the subcommand
/// @throws Error for a wrong one
OptionSet parse_replay(std::span<const std::string> arguments);

/// `tokkos replay`: runs recorded logits through the library. Call it after Kokkos was initialized.
/// @param out gets what a user reads: comparison, timings, bad rows
/// @throws BadStatus after everything is written, if rows have a bad status and --strict was given
/// @throws Error for everything that ends in exit status 2; no file is written then
void run_replay(const OptionSet& options, std::ostream& out);

}  // namespace tokkos::tools
