# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DPROGRAM=PATH -DEXPECTED=REGEX -P run_example.cmake: fails unless the program exits with 0 and prints
# what the expression matches.
execute_process(
  COMMAND "${PROGRAM}"
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE complaint
)
message("${output}${complaint}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
if(NOT output MATCHES "${EXPECTED}")
  message(FATAL_ERROR "expected ${EXPECTED}")
endif()
