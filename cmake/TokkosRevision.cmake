# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Writes revision.hpp, which holds the git revision that the library is built from.

set(revision unknown)
find_package(Git QUIET)
if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE revision
    ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  if(NOT revision)
    set(revision unknown)
  endif()
endif()
file(
  CONFIGURE
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/revision.hpp"
  CONTENT "#define TOKKOS_REVISION \"@revision@\"\n"
  @ONLY
)

# A new commit configures again.
if(EXISTS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
  set_property(
    DIRECTORY
    APPEND
    PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD"
  )
endif()
