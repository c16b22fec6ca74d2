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
list(FILTER names INCLUDE REGEX "^_TOKKOS_[A-Z0-9_]+_VERSION$")
list(TRANSFORM names REPLACE "^_TOKKOS_(.*)_VERSION$" "\\1")
set(count 0)
foreach(name IN LISTS names)
  if(_TOKKOS_${name}_UPSTREAM)
    tokkos_obtain_archive(${name} archive)
  else() # what it is for can be left out
    _tokkos_find_archive(${name} archive tried)
    if(NOT archive)
      message(
        WARNING
        "${name} ${_TOKKOS_${name}_VERSION} is nowhere, and is optional; asked:${tried}"
      )
      continue()
    endif()
  endif()
  file(SHA256 "${archive}" actual)
  if(NOT actual IN_LIST _TOKKOS_${name}_UPSTREAM AND NOT actual IN_LIST _TOKKOS_${name}_POOL)
    message(FATAL_ERROR "${archive} has SHA-256 ${actual}, which is not the pinned one: remove it")
  endif()
  message(STATUS "${archive}")
  math(EXPR count "${count} + 1")
endforeach()
message(STATUS "${count} archives in ${TOKKOS_ARCHIVE_FOLDER}")
