# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# What a project that takes Tokkos may expect of it. Each consumer says remember_project() before Tokkos
# comes in, and the others after it.

# Names that say whose they are: Tokkos, Kokkos and the packages that it looks for; and what CMake's own
# commands leave behind. CMAKE_CXX_STANDARD_DEFAULT is Kokkos's, for CUDA.
set(
  owned_names
  "^_*(Tokkos_|TOKKOS_|Kokkos|KOKKOS|OpenMP|OPENMP|CUDA|Threads_)|^(FETCHCONTENT_|FIND_PACKAGE_MESSAGE_|PACKAGE_PREFIX_DIR$|CMAKE_MATCH_|__cmake_|_GNUInstallDirs_|CMAKE_INSTALL_[A-Z]+DIR$|GIT_EXECUTABLE$|tokkos_(SOURCE_DIR|BINARY_DIR|POPULATED)$|CMAKE_CXX_STANDARD_DEFAULT$|remembered_)"
)
set(
  directory_properties
  COMPILE_OPTIONS
  COMPILE_DEFINITIONS
  INCLUDE_DIRECTORIES
  LINK_OPTIONS
  LINK_LIBRARIES
)

macro(remember_project)
  get_cmake_property(remembered_names VARIABLES)
  foreach(remembered_name IN LISTS remembered_names)
    set(remembered_value_${remembered_name} "${${remembered_name}}")
  endforeach()
  foreach(remembered_name IN LISTS directory_properties)
    get_directory_property(remembered_property_${remembered_name} ${remembered_name})
  endforeach()
endmacro()

# No variable of the project has another value, none is new but those that say whose they are, and the
# folder has no flag that it did not have. A device's toolkit, which Kokkos looks for, leaves variables of
# its own: there only the flags are compared.
function(expect_no_leak)
  get_cmake_property(names VARIABLES)
  if("${Kokkos_DEVICES}" MATCHES "CUDA|HIP")
    set(names)
  endif()
  foreach(name IN LISTS names)
    if(name MATCHES "${owned_names}|^ARG[CNV]|^CMAKE_CURRENT_FUNCTION|^names?$")
      continue()
    endif()
    if(NOT name IN_LIST remembered_names)
      message(SEND_ERROR "the variable ${name} = \"${${name}}\" leaks")
    elseif(NOT "${${name}}" STREQUAL "${remembered_value_${name}}")
      message(SEND_ERROR "${name} was \"${remembered_value_${name}}\" and is \"${${name}}\"")
    endif()
  endforeach()
  foreach(name IN LISTS directory_properties)
    get_directory_property(value ${name})
    if(NOT "${value}" STREQUAL "${remembered_property_${name}}")
      message(SEND_ERROR "the folder's ${name} are \"${value}\"")
    endif()
  endforeach()
endfunction()

# Of all the targets that Tokkos may define under its own names, exactly these exist.
function(expect_targets)
  foreach(
    target
    IN
    ITEMS Tokkos::tokkos Tokkos::dlpack Tokkos::c Tokkos::lm_head Kokkos::kokkos
  )
    if(target IN_LIST ARGN AND NOT TARGET ${target})
      message(SEND_ERROR "there is no target ${target}")
    elseif(TARGET ${target} AND NOT target IN_LIST ARGN)
      message(SEND_ERROR "there is a target ${target}")
    endif()
  endforeach()
endfunction()

# Neither tests nor programs nor what they need came along.
function(expect_library_alone)
  foreach(
    target
    IN
    ITEMS
      tokkos_command
      tokkos_tools
      tokkos-bench
      tokkos_test_main
      demo
      Catch2::Catch2
      cxxopts::cxxopts
      nlohmann_json::nlohmann_json
      benchmark::benchmark
  )
    if(TARGET ${target})
      message(SEND_ERROR "there is a target ${target}")
    endif()
  endforeach()
endfunction()

# The libraries can be linked into a shared one, as those of an engine or a module of Python are. Not
# asked of a Kokkos that somebody else built, which may be unfit for it.
option(CONSUMER_IS_PLUGIN "Link the program's parts into a plugin, too" OFF)
function(expect_plugin target)
  if(NOT CONSUMER_IS_PLUGIN)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  add_library(${target}_plugin MODULE ${sources})
  target_link_libraries(${target}_plugin PRIVATE ${libraries})
endfunction()

# The library's own flags (processor, bit-exact arithmetic, warnings) stay with its objects.
function(expect_no_exported_flags)
  foreach(
    property
    IN
    ITEMS INTERFACE_COMPILE_OPTIONS INTERFACE_COMPILE_DEFINITIONS INTERFACE_LINK_OPTIONS
  )
    get_target_property(value Tokkos::tokkos ${property})
    if(value)
      message(SEND_ERROR "Tokkos::tokkos has ${property} \"${value}\"")
    endif()
  endforeach()
endfunction()
