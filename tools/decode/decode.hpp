// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tokkos::tools {

/// `tokkos decode`: generates text from n-gram models of the text files on the command line. Call
/// it after Kokkos was initialized.
/// @param argv argv[0] is "decode"
/// @returns exit status 0
/// @throws Error; BadStatus if --strict was given and a row had a bad status
int run_decode(int argc, char** argv);

}  // namespace tokkos::tools
