# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Third-party packages. TOKKOS_<NAME>_DEPENDENCY_POLICY is
#   AUTO       an existing target, else an installed package, else embedded (the default),
#   INSTALLED  an existing target or an installed package, else an error,
#   EMBEDDED   the pinned archive, built as a part of this project.
# An archive is looked for in TOKKOS_DEPENDENCY_MIRROR (a folder or URL), in the package mirror that
# the machine is configured for, then upstream; each is accepted only with its pinned hash.

include(FetchContent)
include(TokkosArchive)
include(TokkosKokkosKernels)

set(
  TOKKOS_DEPENDENCY_MIRROR
  "$ENV{TOKKOS_DEPENDENCY_MIRROR}"
  CACHE STRING
  "Folder or URL that holds the dependency archives (see README, offline builds)"
)

function(_tokkos_declare_policy name)
  set(
    TOKKOS_${name}_DEPENDENCY_POLICY
    AUTO
    CACHE STRING
    "How ${name} is obtained: AUTO, INSTALLED or EMBEDDED"
  )
  set_property(CACHE TOKKOS_${name}_DEPENDENCY_POLICY PROPERTY STRINGS AUTO INSTALLED EMBEDDED)
  if(NOT TOKKOS_${name}_DEPENDENCY_POLICY MATCHES "^(AUTO|INSTALLED|EMBEDDED)$")
    message(
      FATAL_ERROR
      "TOKKOS_${name}_DEPENDENCY_POLICY is \"${TOKKOS_${name}_DEPENDENCY_POLICY}\", "
      "expected AUTO, INSTALLED or EMBEDDED"
    )
  endif()
endfunction()

# After find_package: stop when only an installed package is acceptable.
function(_tokkos_check_installed name package versions found)
  if(NOT found AND TOKKOS_${name}_DEPENDENCY_POLICY STREQUAL "INSTALLED")
    message(
      FATAL_ERROR
      "${package} ${versions} is not installed and TOKKOS_${name}_DEPENDENCY_POLICY is INSTALLED. "
      "Give its location with -D${package}_ROOT=PREFIX, or set the policy to AUTO."
    )
  endif()
endfunction()

# Kokkos: a range, because its version file accepts any newer major version.
macro(tokkos_require_kokkos)
  _tokkos_declare_policy(KOKKOS)
  if(NOT TARGET Kokkos::kokkos)
    if(NOT TOKKOS_KOKKOS_DEPENDENCY_POLICY STREQUAL "EMBEDDED")
      find_package(Kokkos 5.0...<6 CONFIG QUIET GLOBAL)
      _tokkos_check_installed(KOKKOS Kokkos "5.0...<6" "${Kokkos_FOUND}")
    endif()
    if(NOT TARGET Kokkos::kokkos)
      tokkos_obtain_archive(KOKKOS kokkos_source)
      FetchContent_Declare(kokkos URL "${kokkos_source}")
      set(Kokkos_ENABLE_TESTS OFF)
      # What it would leave in the cache of the whole project: this, and a score of variables of CTest.
      if(NOT DEFINED BUILD_SHARED_LIBS)
        set(BUILD_SHARED_LIBS OFF)
      endif()
      set(_tokkos_testing "${BUILD_TESTING}")
      set(BUILD_TESTING OFF)
      if(NOT DEFINED Kokkos_ENABLE_SERIAL)
        set(Kokkos_ENABLE_SERIAL ON) # beside the others, not instead of them
      endif()
      if(NOT CMAKE_CXX_STANDARD MATCHES "^2[0-9]$") # an older one of the project's stays the project's
        set(CMAKE_CXX_STANDARD 20)
      endif()
      include(TokkosLanguage) # the language is that of a folder above Kokkos's
      if(DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
        set(_tokkos_pic "${CMAKE_POSITION_INDEPENDENT_CODE}")
      endif()
      set(CMAKE_POSITION_INDEPENDENT_CODE ${TOKKOS_POSITION_INDEPENDENT})
      FetchContent_MakeAvailable(kokkos)
      if(NOT TOKKOS_INSTALL)
        set_property(DIRECTORY "${kokkos_SOURCE_DIR}" PROPERTY EXCLUDE_FROM_ALL TRUE) # its install rules too
      endif()
      unset(CMAKE_POSITION_INDEPENDENT_CODE)
      if(DEFINED _tokkos_pic)
        set(CMAKE_POSITION_INDEPENDENT_CODE "${_tokkos_pic}")
      endif()
      unset(BUILD_TESTING)
      if(_tokkos_testing)
        set(BUILD_TESTING "${_tokkos_testing}")
      endif()
    endif()
  endif()
  include(TokkosBackends)
endmacro()

function(_tokkos_require name package versions target)
  _tokkos_declare_policy(${name})
  if(TARGET ${target})
    return()
  endif()
  if(NOT TOKKOS_${name}_DEPENDENCY_POLICY STREQUAL "EMBEDDED")
    find_package(${package} ${versions} CONFIG QUIET GLOBAL)
    _tokkos_check_installed(${name} ${package} "${versions}" "${${package}_FOUND}")
  endif()
  if(TARGET ${target})
    return()
  endif()
  string(TOLOWER ${name} content)
  tokkos_obtain_archive(${name} archive)
  FetchContent_Declare(${content} URL "${archive}")
  FetchContent_MakeAvailable(${content})
  set(${content}_SOURCE_DIR "${${content}_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

function(tokkos_require_catch2)
  _tokkos_require(CATCH2 Catch2 3.4 Catch2::Catch2)
  if(catch2_SOURCE_DIR)
    if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
      target_compile_options(Catch2 PRIVATE --host-only) # nothing in it is for a device
    endif()
    list(APPEND CMAKE_MODULE_PATH "${catch2_SOURCE_DIR}/extras")
  elseif(Catch2_DIR)
    list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
  endif()
  set(CMAKE_MODULE_PATH "${CMAKE_MODULE_PATH}" PARENT_SCOPE)
endfunction()

function(tokkos_require_benchmark)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_GTEST_TESTS OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  _tokkos_require(BENCHMARK benchmark 1.7.1 benchmark::benchmark)
endfunction()

function(tokkos_require_nlohmann_json)
  set(JSON_BuildTests OFF)
  set(JSON_Install OFF)
  _tokkos_require(NLOHMANN_JSON nlohmann_json 3.11 nlohmann_json::nlohmann_json)
endfunction()

# The mirror keeps cxxopts only as a binary package of one header: the archive's layout decides.
function(tokkos_require_cxxopts)
  _tokkos_declare_policy(CXXOPTS)
  if(TARGET cxxopts::cxxopts)
    return()
  endif()
  if(NOT TOKKOS_CXXOPTS_DEPENDENCY_POLICY STREQUAL "EMBEDDED")
    find_package(cxxopts 3.0 CONFIG QUIET GLOBAL)
    _tokkos_check_installed(CXXOPTS cxxopts 3.0 "${cxxopts_FOUND}")
  endif()
  if(TARGET cxxopts::cxxopts)
    return()
  endif()
  tokkos_obtain_archive(CXXOPTS archive)
  tokkos_extract_header(CXXOPTS "${archive}" cxxopts.hpp include_dir)
  add_library(tokkos_cxxopts INTERFACE)
  add_library(cxxopts::cxxopts ALIAS tokkos_cxxopts)
  target_include_directories(tokkos_cxxopts SYSTEM INTERFACE "${include_dir}")
endfunction()

# The major version that a dlpack/dlpack.h says it is; its package's own version says something else.
function(_tokkos_dlpack_version target result)
  set(${result} 0 PARENT_SCOPE)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  foreach(folder IN LISTS folders)
    string(REGEX REPLACE "^\\$<[A-Z_]+:(.*)>$" "\\1" folder "${folder}")
    if(EXISTS "${folder}/dlpack/dlpack.h")
      file(STRINGS "${folder}/dlpack/dlpack.h" line REGEX "define DLPACK_MAJOR_VERSION")
      string(REGEX MATCH "[0-9]+" version "${line}")
      set(${result} "${version}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# One header of plain C, as the target tokkos_dlpack_header.
function(tokkos_require_dlpack)
  _tokkos_declare_policy(DLPACK)
  if(TARGET tokkos_dlpack_header)
    return()
  endif()
  add_library(tokkos_dlpack_header INTERFACE)
  if(NOT TARGET dlpack::dlpack AND NOT TOKKOS_DLPACK_DEPENDENCY_POLICY STREQUAL "EMBEDDED")
    find_package(dlpack CONFIG QUIET GLOBAL)
  endif()
  set(version 0)
  if(TARGET dlpack::dlpack)
    _tokkos_dlpack_version(dlpack::dlpack version)
  endif()
  if(version GREATER_EQUAL 1)
    target_link_libraries(tokkos_dlpack_header INTERFACE dlpack::dlpack)
    return()
  endif()
  _tokkos_check_installed(DLPACK dlpack 1.0 FALSE)
  tokkos_obtain_archive(DLPACK archive)
  tokkos_extract_header(DLPACK "${archive}" dlpack/dlpack.h folder)
  get_filename_component(folder "${folder}" DIRECTORY)
  target_include_directories(tokkos_dlpack_header SYSTEM INTERFACE "$<BUILD_INTERFACE:${folder}>")
endfunction()
