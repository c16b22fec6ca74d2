// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// `tokkos info`: versions, configuration, backends, devices and numerics, one "name  value" per
/// line or as JSON.
/// @throws Error for a wrong option
void run_info(std::span<const std::string> arguments, std::ostream& out);

}  // namespace tokkos::tools
