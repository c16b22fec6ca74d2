// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include <string>

#include "fuzz/fuzz_bytes.hpp"
#include "interop/c_objects.hpp"

namespace tokkos::test {

/// A context on Serial or on the threads of the host; made once.
const Context& c_context(bool threads);

/// Follows this thread's last error from call to call of the C API.
class ErrorWatch {
 public:
  /// Whether a call worked. Ends the process unless a failure has a text, and parts that agree with
  /// it, and a success left both alone.
  bool worked(tokkos_status status);

  /// Text and field of the latest failure.
  const std::string& text() const { return m_text; }
  const std::string& field() const { return m_field; }

 private:
  std::string m_text = tokkos_last_error();
  std::string m_field;
};

/// What an error of C++ says, with the names of tokkos.h.
std::string in_words_of_c(std::string text);

/// A step through C: refused where C++ refuses it, with its text, and else with its bits.
void fuzz_c_step(FuzzBytes& bytes);
/// The same of a verification.
void fuzz_c_verification(FuzzBytes& bytes);
/// The seed's rule on raw trees: refused where an array was spoilt, and else with the bits of C++.
void fuzz_c_seed_rule(FuzzBytes& bytes);
/// Calls one after the other, with arbitrary numbers, and handles that may be dead.
void fuzz_c_calls(FuzzBytes& bytes);
/// Structs of any size and arrays of any shape.
void fuzz_c_structs(FuzzBytes& bytes);

}  // namespace tokkos::test
