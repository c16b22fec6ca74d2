// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/kokkos_runtime.hpp"

#include <tokkos/core/error.hpp>

#include "interop/kokkos_environment.hpp"

#include <Kokkos_Core.hpp>

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace tokkos::interop {

namespace {

// Recursive, because Kokkos calls others while it starts and ends: tools and finalize hooks, which
// may call this library.
std::recursive_mutex runtime_mutex;
bool starting = false;
bool started = false;
bool broken = false;  // an initialization failed half way
std::int64_t calls_in_flight = 0;
std::atomic<bool> forked = false;
bool watches_forks = false;

/// Once there may be a Kokkos that a child would have in name only.
void watch_forks() {
  if (watches_forks) return;
  const int failure = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  if (failure != 0) throw std::bad_alloc();  // its only failure
  watches_forks = true;
}

/// Kokkos ends the program where it is initialized inside a parallel region.
void check_outside_of_parallel_regions() {
#ifdef _OPENMP
  if (omp_get_level() == 0) return;
  throw Error("Kokkos", std::nullopt, "initialized inside a parallel region",
              "a first context outside of OpenMP's parallel regions");
#endif
}

void check_device(std::int32_t device) {
  const int devices = Kokkos::num_devices();  // -1: no backend has any
  if (devices == -1) {
    require(device == -1, "device", std::nullopt, device, "-1: host backends have no devices");
    return;
  }
  if (devices == 0) throw Error("Kokkos", std::nullopt, "without a device", "a GPU to run on");
  if (device >= devices) {
    throw Error("device", std::nullopt, to_text(device), "below " + std::to_string(devices));
  }
}

void finalize_at_exit() {
  if (forked) return;
  try {
    finalize_kokkos(0);
  } catch (...) {  // the process ends anyway
  }
}

void start(std::int32_t device, std::int32_t num_threads) {
  if (broken) {
    throw Error("Kokkos", std::nullopt, "not usable", "an initialization that did not fail");
  }
  if (starting) {
    throw Error("Kokkos", std::nullopt, "being initialized", "a call behind its initialization");
  }
  check_environment();
  check_outside_of_parallel_regions();
  check_device(device);
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (device >= 0) settings.set_device_id(device);
  const int threads = num_threads > 0 ? num_threads : threads_of_environment();
  if (threads > 0) settings.set_num_threads(threads);
  try {
    starting = true;
    Kokkos::initialize(settings);
    starting = false;
  } catch (const std::exception& error) {
    starting = false;
    broken = true;
    throw Error("Kokkos", std::nullopt, std::string("not initialized: ") + error.what(),
                "an initialization that does not fail");
  }
  started = true;
  // Runs also where the library is unloaded; before the runtimes that Kokkos has loaded end.
  static_cast<void>(std::atexit(finalize_at_exit));
}

}  // namespace

void ensure_kokkos(std::int32_t device, std::int32_t num_threads) {
  require(device >= -1, "device", std::nullopt, device, "-1 or the number of a device");
  require(num_threads >= 0 && num_threads <= most_threads, "num_threads", std::nullopt, num_threads,
          "a number in [0, 512]");
  const std::lock_guard lock(runtime_mutex);
  watch_forks();
  if (Kokkos::is_finalized()) {
    throw Error("Kokkos", std::nullopt, "finalized",
                "a process in which it was not: it starts once");
  }
  if (!Kokkos::is_initialized()) {
    start(device, num_threads);
  } else if (device >= 0 && device != Kokkos::device_id()) {
    const int has = Kokkos::device_id();
    throw Error("device", std::nullopt, to_text(device),
                has < 0 ? "-1: Kokkos runs without a device"
                        : "-1 or " + std::to_string(has) + ", which Kokkos has");
  }
}

void check_kokkos_runs() {
  if (Kokkos::is_initialized() && !Kokkos::is_finalized()) return;
  throw Error("Kokkos", std::nullopt, Kokkos::is_finalized() ? "finalized" : "not initialized",
              "a call between the first context and the end of Kokkos");
}

void check_not_forked() {
  if (!forked) return;
  throw Error("Kokkos", std::nullopt, "that of the process that this one was forked from",
              "a fork before the first context");
}

bool started_kokkos() noexcept {
  if (forked) return false;
  const std::lock_guard lock(runtime_mutex);
  return started && Kokkos::is_initialized();
}

CallInFlight::CallInFlight() noexcept {
  const std::lock_guard lock(runtime_mutex);
  ++calls_in_flight;
}

CallInFlight::~CallInFlight() {
  const std::lock_guard lock(runtime_mutex);
  --calls_in_flight;
}

void finalize_kokkos(std::int64_t own_calls) {
  const std::lock_guard lock(runtime_mutex);  // no call begins before this one ends
  if (!started) return;
  if (calls_in_flight > own_calls) {
    throw Error("tokkos_finalize", std::nullopt, "called by a callback, or beside another thread",
                "a call while no other function of this library runs");
  }
  check_outside_of_parallel_regions();
  started = false;
  if (Kokkos::is_initialized() && !Kokkos::is_finalized()) Kokkos::finalize();
}

}  // namespace tokkos::interop
