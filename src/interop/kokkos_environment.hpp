// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tokkos::interop {

/// The most threads that Kokkos's OpenMP backend has room for; it does not check.
inline constexpr long most_threads = 512;

/// Checks the environment variables for which Kokkos would end the program that initializes it.
/// @throws Error that names the variable
void check_environment();

/// Number of threads to ask Kokkos for where the caller leaves it open; 0: Kokkos decides.
int threads_of_environment();

}  // namespace tokkos::interop
