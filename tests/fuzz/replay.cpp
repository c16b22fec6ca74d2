// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Runs a harness on every file of the given folders: tokkos-test-fuzz HARNESS FOLDER...
#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/harnesses.hpp"

namespace {

using Harness = void (*)(std::span<const std::uint8_t>);

Harness find_harness(const std::string& name) {
  if (name == "step") return tokkos::test::fuzz_step;
  if (name == "trees") return tokkos::test::fuzz_trees;
  if (name == "verifier") return tokkos::test::fuzz_verifier;
  if (name == "files") return tokkos::test::fuzz_files;
#ifdef TOKKOS_FUZZ_C_API
  if (name == "c_api") return tokkos::test::fuzz_c_api;
#endif
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_num_threads(2));
  const Harness harness = argc > 2 ? find_harness(argv[1]) : nullptr;
  if (harness == nullptr) {
    std::fprintf(stderr, "usage: tokkos-test-fuzz c_api|files|step|trees|verifier FOLDER...\n");
    return 2;
  }
  int files = 0;
  for (int i = 2; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);  // names the file, should the harness end the process
      harness({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
      ++files;
    }
  }
  std::printf("%d inputs replayed\n", files);
  return files > 0 ? 0 : 1;
}
