// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::interop {

/// Initializes Kokkos if nobody has. Safe to call from several threads.
/// @param device -1: Kokkos decides
/// @param num_threads 0: Kokkos decides
/// @throws Error if Kokkos is finalized, or would end the program
void ensure_kokkos(std::int32_t device, std::int32_t num_threads);

/// Throws Error unless Kokkos is initialized and not finalized.
void check_kokkos_runs();

/// Whether Kokkos runs because ensure_kokkos initialized it.
bool started_kokkos() noexcept;

/// Finalizes Kokkos if ensure_kokkos initialized it.
void finalize_kokkos();

}  // namespace tokkos::interop
