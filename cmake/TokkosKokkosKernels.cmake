# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Kokkos Kernels for the component Tokkos::lm_head: optional, so that its absence is a message where
# TOKKOS_BUILD_LM_HEAD is AUTO, and an error where it is ON.

# The version that the headers of a target say, as 50002, or nothing: the packaged one of Debian has no
# version file for CMake.
function(_tokkos_kokkos_kernels_version target result)
  set(${result} "" PARENT_SCOPE)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  set(pending ${target})
  set(seen)
  while(pending)
    list(POP_FRONT pending one)
    if(one IN_LIST seen OR NOT TARGET "${one}")
      continue()
    endif()
    list(APPEND seen ${one})
    get_target_property(linked ${one} INTERFACE_LINK_LIBRARIES)
    if(linked)
      list(APPEND pending ${linked})
    endif()
    get_target_property(folders ${one} INTERFACE_INCLUDE_DIRECTORIES)
    foreach(folder IN LISTS folders)
      string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
      if(EXISTS "${folder}/KokkosKernels_config.h")
        file(
          STRINGS "${folder}/KokkosKernels_config.h"
          line
          REGEX "^#define KOKKOSKERNELS_VERSION +[0-9]+"
        )
        string(REGEX MATCH "[0-9]+$" version "${line}")
        set(${result} "${version}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endwhile()
endfunction()

# The headers of the pinned package against the Kokkos at hand: no library, so nothing is instantiated
# and no other library is called. Its own configuration says what Debian built, so it is replaced.
function(_tokkos_embed_kokkos_kernels archive)
  tokkos_extract_header(KOKKOS_KERNELS "${archive}" trilinos/KokkosBlas3_gemm.hpp headers)
  configure_file(
    "${PROJECT_SOURCE_DIR}/cmake/KokkosKernels_config.h"
    "${headers}/KokkosKernels_config.h"
    COPYONLY
  )
  add_library(tokkos_kokkos_kernels INTERFACE)
  add_library(Kokkos::kokkoskernels ALIAS tokkos_kokkos_kernels)
  target_include_directories(tokkos_kokkos_kernels SYSTEM INTERFACE "${headers}")
  target_link_libraries(tokkos_kokkos_kernels INTERFACE Kokkos::kokkos)
endfunction()

# Sets `why` to what is missing, or to nothing where there is a target Kokkos::kokkoskernels.
function(_tokkos_provide_kokkos_kernels why)
  set(${why} "" PARENT_SCOPE)
  if(
    NOT TARGET Kokkos::kokkoskernels
    AND NOT TOKKOS_KOKKOS_KERNELS_DEPENDENCY_POLICY STREQUAL "EMBEDDED"
  )
    find_package(KokkosKernels CONFIG QUIET GLOBAL)
  endif()
  if(TARGET Kokkos::kokkoskernels)
    _tokkos_kokkos_kernels_version(Kokkos::kokkoskernels version)
    if(NOT version MATCHES "^5[0-9][0-9][0-9][0-9]$")
      set(
        ${why}
        "Kokkos Kernels is of version \"${version}\", expected 5 (50000 to 59999; TOKKOS_KOKKOS_KERNELS_DEPENDENCY_POLICY=EMBEDDED brings one)"
        PARENT_SCOPE
      )
    endif()
    return()
  endif()
  if(TOKKOS_KOKKOS_KERNELS_DEPENDENCY_POLICY STREQUAL "INSTALLED")
    string(
      CONCAT text
      "Kokkos Kernels 5 is not installed and TOKKOS_KOKKOS_KERNELS_DEPENDENCY_POLICY is INSTALLED. "
      "Give its place with -DKokkosKernels_ROOT=PREFIX, or set the policy to AUTO."
    )
    set(${why} "${text}" PARENT_SCOPE)
    return()
  endif()
  _tokkos_find_archive(KOKKOS_KERNELS archive tried)
  if(archive)
    _tokkos_embed_kokkos_kernels("${archive}")
    return()
  endif()
  list(GET _TOKKOS_KOKKOS_KERNELS_POOL 0 file)
  list(GET _TOKKOS_KOKKOS_KERNELS_POOL 1 hash)
  get_filename_component(file "${file}" NAME)
  string(
    CONCAT text
    "Kokkos Kernels 5 is not installed, and none of these places has its headers:${tried}\n"
    "  Give them in one of two ways: install it and pass -DCMAKE_PREFIX_PATH=PREFIX, or put\n"
    "  ${file} (SHA-256 ${hash})\n"
    "  into a folder and pass -DTOKKOS_DEPENDENCY_MIRROR=FOLDER"
  )
  set(${why} "${text}" PARENT_SCOPE)
endfunction()

# Sets TOKKOS_HAS_LM_HEAD.
function(tokkos_find_kokkos_kernels)
  if(NOT TOKKOS_BUILD_LM_HEAD MATCHES "^(AUTO|ON|OFF)$")
    message(
      FATAL_ERROR
      "TOKKOS_BUILD_LM_HEAD is \"${TOKKOS_BUILD_LM_HEAD}\", expected AUTO, ON or OFF"
    )
  endif()
  _tokkos_declare_policy(KOKKOS_KERNELS)
  set(TOKKOS_HAS_LM_HEAD OFF PARENT_SCOPE)
  if(TOKKOS_BUILD_LM_HEAD STREQUAL "OFF")
    return()
  endif()
  _tokkos_provide_kokkos_kernels(missing)
  if(NOT missing)
    set(TOKKOS_HAS_LM_HEAD ON PARENT_SCOPE)
  elseif(TOKKOS_BUILD_LM_HEAD STREQUAL "ON")
    message(
      FATAL_ERROR
      "Tokkos::lm_head (TOKKOS_BUILD_LM_HEAD is ON) cannot be built: ${missing}\n"
    )
  else()
    message(STATUS "Tokkos: no Tokkos::lm_head, and everything else as ever: ${missing}")
  endif()
endfunction()
