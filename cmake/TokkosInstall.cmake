# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# What `cmake --install` puts into a prefix: libraries, headers, programs, the packages for find_package
# and pkg-config, licence and documentation. Nothing in it names the prefix, so that it can be moved. A
# Kokkos that Tokkos brought comes along by its own rules: the prefix is whole.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Until 1.0 a minor version may change the interface.
set(compatibility SameMajorVersion)
set(soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
  set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(tokkos PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})

# Libraries and programs find each other in the prefix wherever it is, and others where they were linked.
file(RELATIVE_PATH libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(programs)
if(TOKKOS_BUILD_TOOLS)
  list(APPEND programs tokkos_command)
endif()
if(TOKKOS_BUILD_BENCHMARKS)
  list(APPEND programs tokkos-bench)
endif()
foreach(
  target
  IN
  ITEMS tokkos tokkos_dlpack tokkos_lm_head tokkos_c ${programs}
)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
    endif()
  endif()
endforeach()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Tokkos")
set(full_package_dir "${CMAKE_INSTALL_FULL_LIBDIR}/cmake/Tokkos")
set(package "${PROJECT_BINARY_DIR}/package")

install(TARGETS tokkos EXPORT TokkosTargets FILE_SET HEADERS)
install(EXPORT TokkosTargets NAMESPACE Tokkos:: DESTINATION "${package_dir}")

# DLPack for C++: its header comes along where it was embedded.
if(TARGET tokkos_dlpack)
  set_target_properties(
    tokkos_dlpack
    PROPERTIES EXPORT_NAME dlpack VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
  )
  install(TARGETS tokkos_dlpack tokkos_dlpack_header EXPORT TokkosDlpackTargets FILE_SET HEADERS)
  install(EXPORT TokkosDlpackTargets NAMESPACE Tokkos:: DESTINATION "${package_dir}")
  get_target_property(header_folder tokkos_dlpack_header INTERFACE_INCLUDE_DIRECTORIES)
  string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" header_folder "${header_folder}")
  if(EXISTS "${header_folder}/dlpack/dlpack.h")
    install(
      FILES "${header_folder}/dlpack/dlpack.h"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dlpack"
    )
  endif()
endif()
if(programs)
  install(TARGETS ${programs})
endif()

# The LM head: Kokkos Kernels is found again where it was found, and is no more than headers in the library's
# own objects where it was embedded.
if(TARGET tokkos_lm_head)
  set_target_properties(
    tokkos_lm_head
    PROPERTIES EXPORT_NAME lm_head VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
  )
  install(TARGETS tokkos_lm_head EXPORT TokkosLmHeadTargets FILE_SET HEADERS)
  if(TARGET tokkos_kokkos_kernels)
    foreach(property IN ITEMS INTERFACE_INCLUDE_DIRECTORIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES)
      get_target_property(folders tokkos_kokkos_kernels ${property})
      if(folders AND NOT folders MATCHES "BUILD_INTERFACE")
        set_target_properties(
          tokkos_kokkos_kernels
          PROPERTIES ${property} "$<BUILD_INTERFACE:${folders}>"
        )
      endif()
    endforeach()
    install(TARGETS tokkos_kokkos_kernels EXPORT TokkosLmHeadTargets)
  endif()
  install(EXPORT TokkosLmHeadTargets NAMESPACE Tokkos:: DESTINATION "${package_dir}")
endif()

get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
file(RELATIVE_PATH to_prefix "${full_package_dir}" "${prefix}")
file(RELATIVE_PATH to_include "${full_package_dir}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
set(to_libraries ../..)
tokkos_kokkos_header(kokkos_version kokkos_backends)
set(kernels_package FALSE)
if(TARGET tokkos_lm_head AND NOT TARGET tokkos_kokkos_kernels)
  set(kernels_package TRUE)
endif()
set(dlpack_package FALSE)
if(TARGET tokkos_dlpack AND NOT header_folder)
  set(dlpack_package TRUE)
endif()
configure_file(
  "${CMAKE_CURRENT_LIST_DIR}/install/TokkosConfig.cmake.in"
  "${package}/TokkosConfig.cmake"
  @ONLY
)
write_basic_package_version_file(
  "${package}/TokkosConfigVersion.cmake"
  COMPATIBILITY ${compatibility}
)
install(
  FILES
    "${package}/TokkosConfig.cmake"
    "${package}/TokkosConfigVersion.cmake"
    "${CMAKE_CURRENT_LIST_DIR}/TokkosKokkosHeader.cmake"
  DESTINATION "${package_dir}"
)

# The C library is imported by a file of our own making: what CMake makes asks for the C++ libraries
# behind it, which a project in C cannot find and does not need.
if(TARGET tokkos_c)
  file(READ "${CMAKE_CURRENT_LIST_DIR}/install/TokkosC.cmake.in" imported)
  string(CONFIGURE "${imported}" imported @ONLY)
  file(GENERATE OUTPUT "${package}/TokkosC-$<CONFIG>.cmake" CONTENT "${imported}" TARGET tokkos_c)
  set(pkgconfig "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH to_prefix "${pkgconfig}" "${prefix}")
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  file(RELATIVE_PATH to_include "${pkgconfig}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/install/tokkos_c.pc.in" "${package}/tokkos_c.pc" @ONLY)
  install(TARGETS tokkos_c)
  install(
    FILES "${PROJECT_SOURCE_DIR}/include/tokkos/tokkos.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tokkos"
  )
  install(FILES "${package}/TokkosC-$<CONFIG>.cmake" DESTINATION "${package_dir}")
  install(FILES "${package}/tokkos_c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

set(documentation "${CMAKE_INSTALL_DATAROOTDIR}/doc/tokkos")
install(
  FILES
    "${PROJECT_SOURCE_DIR}/LICENSE"
    "${PROJECT_SOURCE_DIR}/README.md"
    "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
    "${PROJECT_SOURCE_DIR}/CITATION.cff"
    "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
    "${PROJECT_SOURCE_DIR}/SECURITY.md"
  DESTINATION "${documentation}"
)
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples"
  DESTINATION "${documentation}"
  USE_SOURCE_PERMISSIONS
  PATTERN "CMakeLists.txt" EXCLUDE
  PATTERN "docs/site" EXCLUDE
  PATTERN "draw.py" EXCLUDE
  PATTERN "__pycache__" EXCLUDE
)

# The licences of what was embedded: parts of it are in libraries, programs and headers.
foreach(
  name
  IN
  ITEMS kokkos kokkos_kernels nlohmann_json cxxopts dlpack benchmark
)
  unset(source)
  FetchContent_GetProperties(${name} SOURCE_DIR source)
  if(source)
    file(GLOB licences "${source}/LICENSE*" "${source}/COPYRIGHT*" "${source}/NOTICE*")
  else()
    file(
      GLOB_RECURSE licences
      "${CMAKE_BINARY_DIR}/_headers/${name}/LICENSE*"
      "${CMAKE_BINARY_DIR}/_headers/${name}/copyright"
    )
  endif()
  foreach(licence IN LISTS licences)
    if(NOT IS_DIRECTORY "${licence}")
      install(FILES "${licence}" DESTINATION "${documentation}/licences/${name}")
    endif()
  endforeach()
endforeach()
