# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

import configparser
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


def _origin():
    """Where this recipe came from: the address that its repository was cloned from, or the clone."""
    clone = Path(__file__).resolve().parents[5]
    config = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        config.read(clone / ".git" / "config")
    except configparser.Error:
        pass
    return config.get('remote "origin"', "url", fallback=clone.as_uri())


class Tokkos(CMakePackage, CudaPackage, ROCmPackage):
    """From logits to the next token, on every backend: logit processing, sampling and lossless
    verification of draft trees for language model inference, on Kokkos."""

    git = _origin()

    test_requires_compiler = True

    license("Apache-2.0")

    version("main", branch="main")

    # Tokkos has the backends of its Kokkos, so the variants choose the Kokkos.
    variant("serial", default=True, description="Backend Serial")
    variant("openmp", default=True, description="Backend OpenMP")
    # As Kokkos does: one architecture.
    variant(
        "cuda_arch",
        default="none",
        values=("none",) + CudaPackage.cuda_arch_values,
        multi=False,
        sticky=True,
        description="Architecture of the GPU",
        when="+cuda",
    )
    variant(
        "amdgpu_target",
        default="none",
        values=("none",) + ROCmPackage.amdgpu_targets,
        multi=False,
        sticky=True,
        description="Architecture of the GPU",
        when="+rocm",
    )
    variant("shared", default=True, description="Shared libraries")
    variant("pic", default=False, description="Position independent static libraries", when="~shared")
    variant("capi", default=False, description="C library, and DLPack for C++")
    variant("lm_head", default=False, description="Streaming LM head, on Kokkos Kernels")
    variant("tools", default=True, description="The tokkos command")
    variant("benchmarks", default=False, description="tokkos-bench")

    depends_on("cxx", type="build")
    depends_on("c", type="build", when="+capi")
    depends_on("cmake@3.25:", type=("build", "test"))

    depends_on("kokkos@5.0:5")
    for backend in ("serial", "openmp", "cuda", "rocm"):
        depends_on(f"kokkos +{backend}", when=f"+{backend}")
        depends_on(f"kokkos ~{backend}", when=f"~{backend}")
    # Kokkos without its wrapper takes only clang for CUDA.
    depends_on("kokkos +wrapper", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")
    depends_on("rocthrust", when="+rocm")
    depends_on("kokkos +pic", when="+shared")
    depends_on("kokkos +pic", when="+pic")
    # The C library shares the process's Kokkos.
    depends_on("kokkos +shared +pic", when="+capi")
    depends_on("dlpack@1:", when="+capi")
    depends_on("kokkos-kernels@5.0:5 scalars=float layouts=right", when="+lm_head")
    depends_on("nlohmann-json@3.11:", when="+tools")
    depends_on("cxxopts@3:", when="+tools")
    depends_on("benchmark@1.7.1:", when="+benchmarks")
    # The tests build the command too, and run it.
    depends_on("catch2@3.4:", type="test")
    depends_on("nlohmann-json@3.11:", type="test")
    depends_on("cxxopts@3:", type="test")

    conflicts("~serial", when="~openmp", msg="Tokkos needs a backend of the host: +openmp or +serial")
    conflicts("+cuda", when="+rocm", msg="Kokkos has one kind of GPU at a time: +cuda or +rocm")
    conflicts("cuda_arch=none", when="+cuda", msg="+cuda needs the GPU's architecture: cuda_arch=90 is Hopper")
    conflicts(
        "amdgpu_target=none", when="+rocm", msg="+rocm needs the GPU's architecture: amdgpu_target=gfx90a is MI200"
    )
    conflicts("%gcc@:10", msg="Tokkos needs C++20 with std::to_chars of floats: GCC 11 or newer")
    for backend, instead in (
        ("threads", "+openmp"),
        ("hpx", "+openmp"),
        ("sycl", "+cuda or +rocm"),
        ("openmptarget", "+cuda or +rocm"),
    ):
        conflicts(f"^kokkos +{backend}", msg=f"Tokkos has no kernels for Kokkos's {backend}: use {instead}")

    def _compiler(self):
        """The compiler that takes Kokkos's headers, where it is not the usual one."""
        if self.spec.satisfies("+cuda"):
            return [self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx)]
        if self.spec.satisfies("+rocm"):
            return [self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc)]
        return []

    def cmake_args(self):
        names = ("KOKKOS", "KOKKOS_KERNELS", "NLOHMANN_JSON", "CXXOPTS", "CATCH2", "BENCHMARK", "DLPACK")
        policies = [self.define(f"TOKKOS_{name}_DEPENDENCY_POLICY", "INSTALLED") for name in names]
        # No TOKKOS_ARCHITECTURE: Spack's compiler wrapper says what the target's processor is.
        args = policies + [
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("CMAKE_POSITION_INDEPENDENT_CODE", "pic"),
            self.define_from_variant("TOKKOS_BUILD_C_API", "capi"),
            self.define_from_variant("TOKKOS_BUILD_DLPACK", "capi"),
            self.define_from_variant("TOKKOS_BUILD_LM_HEAD", "lm_head"),
            self.define_from_variant("TOKKOS_BUILD_TOOLS", "tools"),
            self.define_from_variant("TOKKOS_BUILD_BENCHMARKS", "benchmarks"),
            self.define("TOKKOS_BENCH_WITH_LIBTORCH", False),
            self.define("TOKKOS_BUILD_TESTS", self.run_tests),
            self.define("TOKKOS_BUILD_EXAMPLES", self.run_tests),
        ]
        for option, backend in (("SERIAL", "serial"), ("OPENMP", "openmp"), ("CUDA", "cuda"), ("HIP", "rocm")):
            args.append(self.define_from_variant(f"Kokkos_ENABLE_{option}", backend))
        if self.spec.satisfies("+capi"):
            args.append(self.define("TOKKOS_C_KOKKOS", "SHARED"))
        return [arg for arg in args + self._compiler() if arg]

    def check(self):
        """The quick tests; those of `spack install --test=root` that need a GPU find it or fail."""
        with working_dir(self.build_directory):
            ctest = Executable(self.spec["cmake"].prefix.bin.ctest)
            ctest("--output-on-failure", "--label-exclude", "^slow$")

    @run_after("install")
    def keep_consumer(self):
        cache_extra_test_sources(self, join_path("tests", "install"))

    def _build_and_run(self, project, *programs):
        """Builds a project of tests/install outside of Tokkos's build and runs what it has of the programs."""
        tests = join_path(self.test_suite.current_test_cache_dir, "tests", "install")
        found = [name for name in ("kokkos", "kokkos-kernels", "dlpack") if name in self.spec]
        prefixes = [self.prefix, *(self.spec[name].prefix for name in found)]
        cmake = self.spec["cmake"].command
        source = join_path(tests, project)
        cmake("-S", source, "-B", project, self.define("CMAKE_PREFIX_PATH", prefixes), *self._compiler())
        cmake("--build", project)
        for program in programs:
            path = join_path(project, program)
            if Path(path).exists():
                check_outputs("token 4242", Executable(path)(output=str.split, error=str.split))

    def test_consumer(self):
        """programs in C++ find it, build and run"""
        self._build_and_run("find_package", "consumer", "lm_head_consumer")

    def test_plain_c(self):
        """a program in C finds it, builds and runs"""
        if self.spec.satisfies("+capi"):
            self._build_and_run("plain_c", "consumer")
