// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/exact_law.hpp"

#include <string>

namespace tokkos::test {

/// Prints one line: how many exact laws, and the worst total variation. At the end of the program
/// the sum of all that were told follows.
void tell(const std::string& what, const LawResult& result);

/// Prints what a negative control was found out by.
void tell_control(const std::string& what, const LawResult& result);

}  // namespace tokkos::test
