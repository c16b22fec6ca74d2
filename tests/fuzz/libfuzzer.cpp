// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What libFuzzer calls; TOKKOS_HARNESS is one of harnesses.hpp.
#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/harnesses.hpp"

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(2));
  std::atexit([] { Kokkos::finalize(); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tokkos::test::TOKKOS_HARNESS({data, size});
  return 0;
}
