# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# tokkos_kokkos_header(version backends): version and backends of the target Kokkos::kokkos, wherever
# it comes from, as its configuration header says; empty if it has none.
function(tokkos_kokkos_header version backends)
  set(${version} "" PARENT_SCOPE)
  set(${backends} "" PARENT_SCOPE)
  foreach(target IN ITEMS Kokkos::kokkoscore kokkoscore Kokkos::kokkos)
    set(folders)
    if(TARGET ${target})
      get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    endif()
    foreach(folder IN LISTS folders)
      string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
      if(EXISTS "${folder}/KokkosCore_config.h")
        file(STRINGS "${folder}/KokkosCore_config.h" lines REGEX "^#define KOKKOS_(ENABLE|VERSION)")
        set(found)
        foreach(
          backend
          IN
          ITEMS SERIAL OPENMP CUDA HIP THREADS HPX SYCL OPENMPTARGET OPENACC
        )
          if(lines MATCHES "#define KOKKOS_ENABLE_${backend}(;|$)")
            list(APPEND found ${backend})
          endif()
        endforeach()
        set(${backends} "${found}" PARENT_SCOPE)
        if(lines MATCHES "#define KOKKOS_VERSION ([0-9]+)")
          math(EXPR major "${CMAKE_MATCH_1} / 10000")
          math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
          math(EXPR patch "${CMAKE_MATCH_1} % 100")
          set(${version} "${major}.${minor}.${patch}" PARENT_SCOPE)
        endif()
        return()
      endif()
    endforeach()
  endforeach()
endfunction()
