// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// Rows have a bad status and --strict was given: exit status 1.
class BadStatus : public Error {
 public:
  using Error::Error;
};

/// Prints a line for each of the first rows with a bad status, "row 3  status nan_logit", and one
/// for how many there are; nothing if there are none.
/// @param what "row" or "tree"
/// @param harmless bits that make no status bad
void print_bad_rows(const std::string& what, std::span<const std::int32_t> status,
                    std::int32_t harmless, std::ostream& out);

/// @throws BadStatus that names the first row with a bad status
void refuse_bad_rows(std::span<const std::int32_t> status, std::int32_t harmless);

}  // namespace tokkos::tools
