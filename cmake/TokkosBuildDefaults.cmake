# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Where built programs go and what a build without CMAKE_BUILD_TYPE means, where Tokkos is built for
# itself; and the flags of its own objects.

include(CheckCXXCompilerFlag)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
elseif(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(WARNING "Tokkos: CMAKE_BUILD_TYPE is not set, so it is compiled without optimization")
endif()

# Flags under which every backend computes the same bits: no contraction, no fast-math; and with them
# those that let host loops vectorize without OpenMP too. They belong to Tokkos's own objects (library,
# tests, tools) and never reach a consumer. Kokkos's compiler wrapper for CUDA takes the host compiler's
# flags as they are.
function(tokkos_set_bit_exact_flags target)
  target_compile_options(
    ${target}
    PRIVATE -ffp-contract=off -fno-trapping-math -fno-math-errno -fopenmp-simd
  )
  if("CUDA" IN_LIST TOKKOS_BACKENDS)
    target_compile_options(
      ${target}
      PRIVATE --fmad=false --ftz=false --prec-div=true --prec-sqrt=true
    )
  endif()
  if(TOKKOS_ARCHITECTURE)
    target_compile_options(${target} PRIVATE -march=${TOKKOS_ARCHITECTURE})
    # Where there are 512-bit registers the hot loops gain from them, which compilers do not assume.
    check_cxx_compiler_flag(-mprefer-vector-width=512 TOKKOS_HAS_VECTOR_WIDTH_FLAG)
    if(TOKKOS_HAS_VECTOR_WIDTH_FLAG)
      target_compile_options(${target} PRIVATE -mprefer-vector-width=512)
    endif()
  endif()
endfunction()

function(tokkos_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wpedantic)
  if(TOKKOS_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
    if("CUDA" IN_LIST TOKKOS_BACKENDS)
      target_compile_options(${target} PRIVATE -Werror=all-warnings)
    endif()
  endif()
endfunction()
