# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DPROGRAM=PATH -DNAME=BENCHMARK -DCOUNTERS=A;B -DOUTPUT=FILE -P run_one.cmake: fails unless the program runs
# exactly that benchmark and writes JSON with its counters, all above 0, and with the context that results need.
execute_process(
  COMMAND "${PROGRAM}" "--benchmark_filter=^${NAME}$" "--benchmark_out=${OUTPUT}"
  RESULT_VARIABLE status
  OUTPUT_QUIET
  ERROR_VARIABLE complaint
)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}: ${complaint}")
endif()
file(READ "${OUTPUT}" report)
string(JSON count LENGTH "${report}" benchmarks)
string(JSON name GET "${report}" benchmarks 0 name)
if(NOT count EQUAL 1 OR NOT name STREQUAL NAME)
  message(FATAL_ERROR "expected ${NAME} alone, found ${count}, the first of them ${name}")
endif()
foreach(counter IN LISTS COUNTERS ITEMS median_seconds bytes_per_second)
  string(JSON value GET "${report}" benchmarks 0 ${counter})
  if(NOT value GREATER 0)
    message(FATAL_ERROR "${counter} is ${value}")
  endif()
endforeach()
foreach(
  key
  tokkos_version
  tokkos_revision
  compiler
  flags
  vector_bits
  execution_space
  threads
  openmp_environment
  kokkos_configuration
  libtorch
)
  string(JSON value GET "${report}" context ${key})
endforeach()
