// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/c_api.hpp"

#include <array>

#include "fuzz/harnesses.hpp"

namespace tokkos::test {

const Context& c_context(bool threads) {
  static const std::array<Context, 2> contexts = {context_on<Kokkos::Serial>(),
                                                  context_on<Kokkos::DefaultHostExecutionSpace>()};
  return contexts[threads ? 1 : 0];
}

bool ErrorWatch::worked(tokkos_status status) {
  const std::string text = tokkos_last_error();
  if (status == TOKKOS_OK) {
    expect(text == m_text, "a call that works leaves the last error alone");
    return true;
  }
  tokkos_error parts = tokkos_error_default();
  expect(tokkos_last_error_parts(&parts) == TOKKOS_OK, "a failure has its parts");
  expect(!text.empty() && text == parts.message, "a failure has a text");
  expect(parts.status == status, "a failure keeps its status");
  expect(status == TOKKOS_ERROR_INVALID_ARGUMENT || status == TOKKOS_ERROR_INVALID_HANDLE ||
             status == TOKKOS_ERROR_CALLBACK || status == TOKKOS_ERROR_UNSUPPORTED,
         "what a caller does wrong is called so");
  m_text = text;
  m_field = parts.field;
  return false;
}

void fuzz_c_api(std::span<const std::uint8_t> input) {
  FuzzBytes bytes(input);
  const int choice = bytes.byte();
  if (choice >= 240) return fuzz_c_seed_rule(bytes);
  switch (choice % 4) {
    case 0:
      return fuzz_c_calls(bytes);
    case 1:
      return fuzz_c_structs(bytes);
    case 2:
      return fuzz_c_verification(bytes);
    default:
      return fuzz_c_step(bytes);
  }
}

}  // namespace tokkos::test
