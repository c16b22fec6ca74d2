# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# TOKKOS_LANGUAGE: what the sources are compiled as. CXX, also for CUDA through Kokkos's compiler wrapper
# and for HIP with hipcc; CUDA or HIP where Kokkos was built with Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE.

set(TOKKOS_LANGUAGE CXX)
if(NOT Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
  return()
elseif(Kokkos_ENABLE_CUDA)
  set(TOKKOS_LANGUAGE CUDA)
elseif(Kokkos_ENABLE_HIP)
  set(TOKKOS_LANGUAGE HIP)
else()
  return()
endif()

# Before it, CMake does not know CUDA's C++20.
if(CMAKE_VERSION VERSION_LESS 3.25.2)
  message(
    FATAL_ERROR
    "${TOKKOS_LANGUAGE} as a CMake language needs CMake 3.25.2 or newer, this is ${CMAKE_VERSION}. Use "
    "the preset cuda or hip, which compile through a C++ compiler, or a newer CMake."
  )
endif()
enable_language(${TOKKOS_LANGUAGE})

# The architecture is Kokkos's, not the one that CMake takes by default.
set(architectures ${Kokkos_${TOKKOS_LANGUAGE}_ARCHITECTURES})
if(NOT architectures AND TARGET kokkoscore)
  get_target_property(architectures kokkoscore ${TOKKOS_LANGUAGE}_ARCHITECTURES)
endif()
if(architectures)
  set(CMAKE_${TOKKOS_LANGUAGE}_ARCHITECTURES ${architectures})
endif()
