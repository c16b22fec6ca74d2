// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>

#include <catch2/catch_session.hpp>

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  return Catch::Session().run(argc, argv);
}
