# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Puts every pinned archive into TOKKOS_ARCHIVE_FOLDER: a script, run by ci/mirror.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/TokkosArchive.cmake")
if(NOT TOKKOS_DEPENDENCY_MIRROR)
  set(TOKKOS_DEPENDENCY_MIRROR "$ENV{TOKKOS_DEPENDENCY_MIRROR}")
endif()

get_cmake_property(variables VARIABLES)
set(names ${variables})
list(FILTER names INCLUDE REGEX "^_TOKKOS_[A-Z0-9_]+_UPSTREAM$")
list(TRANSFORM names REPLACE "^_TOKKOS_(.*)_UPSTREAM$" "\\1")
list(LENGTH names count)
foreach(name IN LISTS names)
  tokkos_obtain_archive(${name} archive)
  file(SHA256 "${archive}" actual)
  list(GET _TOKKOS_${name}_UPSTREAM 1 upstream_hash)
  list(GET _TOKKOS_${name}_POOL 1 pool_hash)
  if(NOT actual STREQUAL upstream_hash AND NOT actual STREQUAL pool_hash)
    message(FATAL_ERROR "${archive} has SHA-256 ${actual}, which is not the pinned one: remove it")
  endif()
  message(STATUS "${archive}")
endforeach()
message(STATUS "${count} archives in ${TOKKOS_ARCHIVE_FOLDER}")
