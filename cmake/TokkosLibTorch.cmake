# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# TOKKOS_BENCH_LIBTORCH: whether LibTorch is there to be measured beside the library, on hosts. Its
# folder (of the Python package torch, or of an unpacked LibTorch) is -DTorch_ROOT=FOLDER; Torch's own
# TorchConfig.cmake is not used, because it ends the configuration of a whole project where a CUDA that
# it was built with is missing.

set(TOKKOS_BENCH_LIBTORCH OFF)
option(TOKKOS_BENCH_WITH_LIBTORCH "Measure LibTorch beside the library, where it is found" ON)
if(NOT TOKKOS_BENCH_WITH_LIBTORCH OR TOKKOS_BACKENDS MATCHES "CUDA|HIP")
  return()
endif()
find_library(TOKKOS_LIBTORCH_CPU torch_cpu HINTS "${Torch_ROOT}" PATH_SUFFIXES lib)
find_library(TOKKOS_LIBTORCH_C10 c10 HINTS "${Torch_ROOT}" PATH_SUFFIXES lib)
find_path(TOKKOS_LIBTORCH_INCLUDE ATen/ATen.h HINTS "${Torch_ROOT}" PATH_SUFFIXES include)
mark_as_advanced(TOKKOS_LIBTORCH_CPU TOKKOS_LIBTORCH_C10 TOKKOS_LIBTORCH_INCLUDE)
if(NOT TOKKOS_LIBTORCH_CPU OR NOT TOKKOS_LIBTORCH_C10 OR NOT TOKKOS_LIBTORCH_INCLUDE)
  return()
endif()
set(
  TOKKOS_LIBTORCH_INCLUDE_DIRS
  "${TOKKOS_LIBTORCH_INCLUDE}"
  "${TOKKOS_LIBTORCH_INCLUDE}/torch/csrc/api/include"
)
set(TOKKOS_LIBTORCH_LIBRARIES "${TOKKOS_LIBTORCH_CPU}" "${TOKKOS_LIBTORCH_C10}")

# A version that the compiler cannot take, or that does not link, is left out.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${TOKKOS_LIBTORCH_INCLUDE_DIRS})
set(CMAKE_REQUIRED_LIBRARIES ${TOKKOS_LIBTORCH_LIBRARIES})
set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX20_STANDARD_COMPILE_OPTION}")
check_cxx_source_compiles(
  "#include <ATen/ATen.h>
  int main() { return at::softmax(at::zeros({1, 2}), 1).numel() == 2 ? 0 : 1; }"
  TOKKOS_LIBTORCH_LINKS
)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
set(TOKKOS_BENCH_LIBTORCH ${TOKKOS_LIBTORCH_LINKS})
