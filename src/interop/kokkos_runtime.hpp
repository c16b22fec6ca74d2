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

/// Throws Error in a process that was forked from one in which ensure_kokkos was called: it has
/// none of the threads and nothing of the devices that Kokkos works with, and may wait for them
/// forever. Takes no lock.
void check_not_forked();

/// Whether Kokkos runs because ensure_kokkos initialized it.
bool started_kokkos() noexcept;

/// A call of a C function, for as long as it lives. Calls may be nested: by way of callbacks.
class CallInFlight {
 public:
  CallInFlight() noexcept;
  ~CallInFlight();
  CallInFlight(const CallInFlight&) = delete;
  CallInFlight& operator=(const CallInFlight&) = delete;
};

/// Finalizes Kokkos if ensure_kokkos initialized it.
/// @param own_calls calls in flight that do not need Kokkos: that of tokkos_finalize
/// @throws Error if there are others
void finalize_kokkos(std::int64_t own_calls);

}  // namespace tokkos::interop
