# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# TOKKOS_BACKENDS: what the Kokkos at hand was built with, of the backends that Tokkos knows. A
# backend that was asked for and is not there is one clear message.

include(TokkosKokkosHeader)

if(Kokkos_VERSION AND Kokkos_VERSION VERSION_LESS 5.0)
  message(FATAL_ERROR "Kokkos is ${Kokkos_VERSION}, expected 5.0 or newer")
endif()

# A Kokkos that was added in another folder leaves no variable here, but its configuration header.
set(_tokkos_devices ${Kokkos_DEVICES})
if(NOT _tokkos_devices)
  tokkos_kokkos_header(_tokkos_version _tokkos_devices)
endif()

# Kokkos's default execution space would be one of these.
foreach(
  backend
  IN
  ITEMS THREADS HPX SYCL OPENMPTARGET OPENACC
)
  if(backend IN_LIST _tokkos_devices OR (NOT _tokkos_devices AND Kokkos_ENABLE_${backend}))
    message(
      FATAL_ERROR
      "Kokkos (${Kokkos_DIR}) was built with ${backend}, for which Tokkos has no kernels: expected one of SERIAL, "
      "OPENMP, CUDA and HIP alone. Point Kokkos_ROOT to such a Kokkos, or let Tokkos build its own with "
      "-DTOKKOS_KOKKOS_DEPENDENCY_POLICY=EMBEDDED."
    )
  endif()
endforeach()

set(TOKKOS_BACKENDS)
foreach(backend IN ITEMS SERIAL OPENMP CUDA HIP)
  if(backend IN_LIST _tokkos_devices OR (NOT _tokkos_devices AND Kokkos_ENABLE_${backend}))
    list(APPEND TOKKOS_BACKENDS ${backend})
  elseif(Kokkos_ENABLE_${backend})
    message(
      FATAL_ERROR
      "The preset or option Kokkos_ENABLE_${backend} asks for ${backend}, but the Kokkos that was found "
      "(${Kokkos_DIR}) has only: ${_tokkos_devices}. Point Kokkos_ROOT to one that has ${backend}, or let "
      "Tokkos build its own with -DTOKKOS_KOKKOS_DEPENDENCY_POLICY=EMBEDDED."
    )
  endif()
endforeach()
if(NOT TOKKOS_BACKENDS)
  message(
    FATAL_ERROR
    "The target Kokkos::kokkos exists, but not what it was built with: it has no KokkosCore_config.h, "
    "and Kokkos_DEVICES and Kokkos_ENABLE_<BACKEND> are not set in ${CMAKE_CURRENT_SOURCE_DIR}. Call "
    "find_package(Kokkos) in a folder above Tokkos, or let Tokkos find it."
  )
endif()
message(STATUS "Tokkos: backends ${TOKKOS_BACKENDS}")
