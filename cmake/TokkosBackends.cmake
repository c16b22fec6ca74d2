# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# TOKKOS_BACKENDS: what the Kokkos at hand was built with, of the backends that Tokkos knows. A
# backend that was asked for and is not there is one clear message.

set(TOKKOS_BACKENDS)
foreach(backend IN ITEMS SERIAL OPENMP CUDA HIP)
  if(backend IN_LIST Kokkos_DEVICES OR (NOT Kokkos_DEVICES AND Kokkos_ENABLE_${backend}))
    list(APPEND TOKKOS_BACKENDS ${backend})
  elseif(Kokkos_ENABLE_${backend})
    message(
      FATAL_ERROR
      "Kokkos_ENABLE_${backend} is ON, but the Kokkos that was found (${Kokkos_DIR}) has only: "
      "${Kokkos_DEVICES}. Point Kokkos_ROOT to one that has ${backend}, or let Tokkos build its own "
      "with -DTOKKOS_KOKKOS_DEPENDENCY_POLICY=EMBEDDED."
    )
  endif()
endforeach()
message(STATUS "Tokkos: backends ${TOKKOS_BACKENDS}")
