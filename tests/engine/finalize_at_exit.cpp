// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A program may finalize Kokkos at its exit, where destructors of statics have run already, and
// objects may outlive even that. Kokkos ends a program that frees a View too late.
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <Kokkos_Core.hpp>

#include <cstdlib>
#include <optional>

namespace {

using Space = Kokkos::DefaultExecutionSpace;

// Destroyed after everything that main registers for the exit.
std::optional<tokkos::Workspace<tokkos::MemoryOf<Space>>> workspace;

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::initialize(argc, argv);
  std::atexit([] { Kokkos::finalize(); });
  workspace.emplace(4, 100);
  const auto measures = workspace->measures(2);
  static_cast<void>(measures);
  return 0;
}
