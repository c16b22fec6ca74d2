# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Compile with Kokkos's nvcc_wrapper: that of an installed Kokkos, or the one in the pinned archive.
# (CUDA as a CMake language needs CMake 3.25.2; the wrapper works with every CMake that Tokkos does.)

# CMake's own trials have the compiler from elsewhere.
get_property(in_try_compile GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT CMAKE_CXX_COMPILER AND NOT in_try_compile)
  find_program(TOKKOS_NVCC nvcc HINTS $ENV{CUDA_ROOT}/bin)
  if(NOT TOKKOS_NVCC)
    message(FATAL_ERROR "The preset cuda needs CUDA's nvcc: there is none on the PATH")
  endif()
  find_program(TOKKOS_NVCC_WRAPPER nvcc_wrapper HINTS ${Kokkos_ROOT}/bin $ENV{Kokkos_ROOT}/bin)
  if(NOT TOKKOS_NVCC_WRAPPER)
    list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/..")
    include(TokkosArchive)
    if(NOT TOKKOS_DEPENDENCY_MIRROR)
      set(TOKKOS_DEPENDENCY_MIRROR "$ENV{TOKKOS_DEPENDENCY_MIRROR}")
    endif()
    tokkos_obtain_archive(KOKKOS archive)
    set(folder "${CMAKE_BINARY_DIR}/_nvcc_wrapper")
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${folder}" PATTERNS "*/bin/nvcc_wrapper")
    file(GLOB TOKKOS_NVCC_WRAPPER "${folder}/*/bin/nvcc_wrapper")
    set(TOKKOS_NVCC_WRAPPER "${TOKKOS_NVCC_WRAPPER}" CACHE FILEPATH "nvcc_wrapper" FORCE)
  endif()
  set(CMAKE_CXX_COMPILER "${TOKKOS_NVCC_WRAPPER}" CACHE FILEPATH "C++ compiler")
endif()
