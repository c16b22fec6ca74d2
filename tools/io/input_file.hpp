// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace tokkos::tools {

/// Opens a file for reading and returns its size in bytes.
/// @throws Error that names the file and says why, if it is missing, no regular file, or not
/// readable
std::uint64_t open_input_file(const std::string& file, std::ifstream& stream);

/// The whole file. @throws Error as open_input_file
std::string read_input_file(const std::string& file);

}  // namespace tokkos::tools
