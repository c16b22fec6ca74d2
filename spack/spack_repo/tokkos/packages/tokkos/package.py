# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Tokkos(CMakePackage):
    """From logits to the next token, on every backend: logit processing, sampling and lossless
    verification of draft trees for language model inference, on Kokkos."""

    # The repository that this recipe lies in.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("openmp", default=True, description="OpenMP backend besides the serial one")
    variant("tools", default=True, description="Build the tokkos command")
    variant("benchmarks", default=False, description="Build tokkos-bench")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("kokkos@5.0:5 +serial cxxstd=20")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("nlohmann-json@3.11:", when="+tools")
    depends_on("cxxopts@3:", when="+tools")
    depends_on("benchmark@1.7.1:", when="+benchmarks")
    depends_on("catch2@3.4:", type="test")

    def cmake_args(self):
        names = ("KOKKOS", "NLOHMANN_JSON", "CXXOPTS", "CATCH2", "BENCHMARK")
        policies = [self.define(f"TOKKOS_{name}_DEPENDENCY_POLICY", "INSTALLED") for name in names]
        return policies + [
            self.define_from_variant("Kokkos_ENABLE_OPENMP", "openmp"),
            self.define_from_variant("TOKKOS_BUILD_TOOLS", "tools"),
            self.define_from_variant("TOKKOS_BUILD_BENCHMARKS", "benchmarks"),
            self.define("TOKKOS_BUILD_EXAMPLES", False),
            self.define("TOKKOS_BUILD_TESTS", self.run_tests),
        ]
