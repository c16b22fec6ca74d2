# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Fails unless LIBRARY exports, under the version of SONAME, exactly the functions that HEADER declares.

execute_process(
  COMMAND "${NM}" -D --defined-only "${LIBRARY}"
  OUTPUT_VARIABLE listing
  COMMAND_ERROR_IS_FATAL ANY
)
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
set(exported)
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^.* " "" symbol "${line}")
  if(symbol MATCHES "^(tokkos_[a-z0-9_]+)@@TOKKOS_${VERSION}$")
    list(APPEND exported "${CMAKE_MATCH_1}")
  elseif(NOT symbol MATCHES "^TOKKOS_${VERSION}(@@TOKKOS_${VERSION})?$")
    message(SEND_ERROR "${LIBRARY} exports ${symbol}")
  endif()
endforeach()
file(READ "${HEADER}" header)
string(REGEX MATCHALL "TOKKOS_API [^;(#]*[ *]tokkos_[a-z0-9_]+\\(" declarations "${header}")
set(declared)
foreach(declaration IN LISTS declarations)
  string(REGEX REPLACE "^.*(tokkos_[a-z0-9_]+)\\($" "\\1" name "${declaration}")
  list(APPEND declared "${name}")
endforeach()
list(SORT exported)
list(SORT declared)
list(LENGTH declared count)
if(count LESS 40 OR NOT exported STREQUAL declared)
  message(SEND_ERROR "declared: ${declared}\nexported: ${exported}")
endif()
execute_process(
  COMMAND "${READELF}" -d "${LIBRARY}"
  OUTPUT_VARIABLE dynamic
  COMMAND_ERROR_IS_FATAL ANY
)
if(NOT dynamic MATCHES "soname: \\[libtokkos_c\\.so\\.${VERSION}\\]")
  message(SEND_ERROR "The soname of ${LIBRARY} is not libtokkos_c.so.${VERSION}")
endif()
message(STATUS "${count} functions, no other symbol")
