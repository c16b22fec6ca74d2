// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/command/option_set.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// The command line of `tokkos info`.
/// @param arguments what stands after the subcommand
/// @throws Error for a wrong one
OptionSet parse_info(std::span<const std::string> arguments);

/// `tokkos info`: versions, configuration, backends, devices and numerics, one "name  value" per
/// line or as JSON. Call it after Kokkos was initialized.
void run_info(const OptionSet& options, std::ostream& out);

}  // namespace tokkos::tools
