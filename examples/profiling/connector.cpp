// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A tiny connector for Kokkos Tools: prints every region and, inside of it, every launch with the
// execution space instance that it went to. It is loaded by KOKKOS_TOOLS_LIBS, and knows Kokkos's
// interface for tools alone.

#include <cstdint>
#include <cstdio>

// begin functions
namespace {

int depth = 0;

void print_launch(const char* name, std::uint32_t device, std::uint64_t* launch) {
  *launch = 0;  // the number that end_parallel_* gets, if there is one
  // Kokkos packs three numbers into one.
  const std::uint32_t backend = device >> 24, place = device >> 17 & 127,
                      instance = device & 131071;
  const char* const backends[] = {"Serial", "OpenMP", "Cuda", "HIP"};
  const char* const known = backend < 4 ? backends[backend] : "another backend";
  std::printf("%*slaunch %s on %s, device %u, instance %u\n", 2 * depth, "", name, known, place,
              instance);
}

}  // namespace

extern "C" {

void kokkosp_push_profile_region(const char* name) {
  std::printf("%*sregion %s\n", 2 * depth++, "", name);
}

void kokkosp_pop_profile_region() {
  --depth;
}

void kokkosp_begin_parallel_for(const char* name, std::uint32_t device, std::uint64_t* launch) {
  print_launch(name, device, launch);
}

void kokkosp_begin_parallel_reduce(const char* name, std::uint32_t device, std::uint64_t* launch) {
  print_launch(name, device, launch);
}

void kokkosp_begin_parallel_scan(const char* name, std::uint32_t device, std::uint64_t* launch) {
  print_launch(name, device, launch);
}

void kokkosp_finalize_library() {
  std::printf("connector: %d regions are open at the end\n", depth);
}

}  // extern "C"
// end functions
