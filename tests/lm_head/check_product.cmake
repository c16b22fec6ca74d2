# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DNM=PATH -DLIBRARY=PATH -P check_product.cmake: fails if a program's own KokkosBlas::gemm could take
# the place of the library's, which has the library's name.
execute_process(
  COMMAND "${NM}" -C "${LIBRARY}"
  OUTPUT_VARIABLE symbols
  ERROR_QUIET
  COMMAND_ERROR_IS_FATAL ANY
)
if(NOT symbols MATCHES "[WTV] void tokkos_lm_head_blas::gemm<")
  message(FATAL_ERROR "${LIBRARY} has no product")
endif()
if(symbols MATCHES "\n[^\n]*KokkosBlas::[^\n]*")
  message(FATAL_ERROR "a symbol that other code may define:${CMAKE_MATCH_0}")
endif()
