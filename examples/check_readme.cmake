# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# Fails unless the block of README in LANGUAGE (cpp by default) is the text of EXAMPLE after its two
# licence lines.

if(NOT LANGUAGE)
  set(LANGUAGE cpp)
endif()
file(READ "${EXAMPLE}" example)
string(REGEX REPLACE "^(//[^\n]*\n|/\\*[^\n]*\n \\*[^\n]*\n \\*/\n)+" "" example "${example}")
file(READ "${README}" readme)
string(FIND "${readme}" "```${LANGUAGE}\n${example}```\n" position)
if(position EQUAL -1 OR example STREQUAL "")
  message(FATAL_ERROR "The ${LANGUAGE} block of ${README} is not ${EXAMPLE}: copy it over")
endif()
