# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Fails unless the C++ block of README is the text of EXAMPLE after its two licence lines.

file(READ "${EXAMPLE}" example)
string(REGEX REPLACE "^(//[^\n]*\n)+" "" example "${example}")
file(READ "${README}" readme)
string(FIND "${readme}" "```cpp\n${example}```\n" position)
if(position EQUAL -1 OR example STREQUAL "")
  message(FATAL_ERROR "The C++ block of ${README} is not ${EXAMPLE}: copy it over")
endif()
