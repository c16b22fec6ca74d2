// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/command/option_set.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// The command line of `tokkos decode`.
/// @param arguments what stands after the subcommand
/// @throws Error for a wrong one
OptionSet parse_decode(std::span<const std::string> arguments);

/// `tokkos decode`: generates text from n-gram models of the text files on the command line. Call
/// it after Kokkos was initialized.
/// @param out gets the text and the table
/// @throws BadStatus after everything is written, if --strict was given and a row had a bad status
/// @throws Error for everything that ends in exit status 2; no file is written then
void run_decode(const OptionSet& options, std::ostream& out);

}  // namespace tokkos::tools
