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

# A library that may be linked into a shared one: an engine's, a plugin, a module of Python's. Where the project
# says CMAKE_POSITION_INDEPENDENT_CODE it is as that says; the C library needs it in any case.
if(TOKKOS_BUILD_C_API OR NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  set(TOKKOS_POSITION_INDEPENDENT ON)
else()
  set(TOKKOS_POSITION_INDEPENDENT ${CMAKE_POSITION_INDEPENDENT_CODE})
endif()

# Without interposition they are as fast as others.
function(tokkos_set_position_independent target)
  set_target_properties(
    ${target}
    PROPERTIES POSITION_INDEPENDENT_CODE ${TOKKOS_POSITION_INDEPENDENT}
  )
  check_cxx_compiler_flag(-fno-semantic-interposition TOKKOS_HAS_NO_INTERPOSITION_FLAG)
  if(TOKKOS_POSITION_INDEPENDENT AND TOKKOS_HAS_NO_INTERPOSITION_FLAG)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  endif()
endfunction()

# Private options of the host's compiler, whatever the language: nvcc takes them behind -Xcompiler, Kokkos's
# compiler wrapper as they are.
function(_tokkos_host_options target)
  foreach(option IN LISTS ARGN)
    target_compile_options(
      ${target}
      PRIVATE
        $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:${option}>
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${option}>
    )
  endforeach()
endfunction()

# Flags under which every backend computes the same bits: no contraction, no fast-math; and with them
# those that let host loops vectorize without OpenMP too. They belong to Tokkos's own objects (library,
# tests, tools) and never reach a consumer.
function(tokkos_set_bit_exact_flags target)
  _tokkos_host_options(${target} -ffp-contract=off -fno-trapping-math -fno-math-errno -fopenmp-simd)
  if("CUDA" IN_LIST TOKKOS_BACKENDS)
    target_compile_options(
      ${target}
      PRIVATE --fmad=false --ftz=false --prec-div=true --prec-sqrt=true
    )
  endif()
  if(TOKKOS_ARCHITECTURE)
    _tokkos_host_options(${target} -march=${TOKKOS_ARCHITECTURE})
    # Where there are 512-bit registers the hot loops gain from them, which compilers do not assume.
    check_cxx_compiler_flag(-mprefer-vector-width=512 TOKKOS_HAS_VECTOR_WIDTH_FLAG)
    if(TOKKOS_HAS_VECTOR_WIDTH_FLAG)
      _tokkos_host_options(${target} -mprefer-vector-width=512)
    endif()
  endif()
endfunction()

function(tokkos_set_warnings target)
  _tokkos_host_options(${target} -Wall -Wextra -Wshadow)
  if(NOT TOKKOS_LANGUAGE STREQUAL "CUDA") # what nvcc hands to the host's compiler is not pedantic
    target_compile_options(${target} PRIVATE -Wpedantic)
  endif()
  if(TOKKOS_WARNINGS_AS_ERRORS)
    _tokkos_host_options(${target} -Werror)
    if("CUDA" IN_LIST TOKKOS_BACKENDS)
      target_compile_options(${target} PRIVATE -Werror=all-warnings)
    endif()
  endif()
endfunction()

# Kokkos as a CMake language: every source of the targets of a folder, and of those below it, is compiled as
# that language. CMake goes by the ending otherwise. Third parties' folders are left as they are.
function(tokkos_set_language folder)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${folder}" ours)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${folder}" fetched)
  if(TOKKOS_LANGUAGE STREQUAL "CXX" OR NOT ours OR fetched)
    return()
  endif()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(source_dir ${target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${source_dir}")
      set_source_files_properties(
        "${source}"
        DIRECTORY "${source_dir}"
        PROPERTIES LANGUAGE ${TOKKOS_LANGUAGE}
      )
    endforeach()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    tokkos_set_language("${below}")
  endforeach()
endfunction()
