// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/c_api.hpp"

#include <array>
#include <regex>
#include <utility>

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

std::string in_words_of_c(std::string text) {
  const std::pair<const char*, const char*> words[] = {
      {R"(generation_configs(\[\d+\]))", "requests$1.config"},
      {R"(sequence_states(\[\d+\]))", "requests$1"},
      {R"(draft_trees(\[\d+\]))", "requests$1.draft_tree"},
      {R"(draft_token_indices(\[\d+\]))", "requests$1.draft_nodes"},
      {R"(^uniforms\.nodes\b)", "options.node_uniforms"},
      {R"(^uniforms\.bonus\b)", "options.bonus_uniforms"},
      {R"(^row_of_node\b)", "options.row_of_node"},
      {R"(\bvocab_size\b)", "vocabulary"},
      {R"(\bmax_num_(token|node)\b)", "max_rows"},
      {R"(\.extent\b)", ".shape"},
      {R"(\.stride\b)", ".strides"},
      {R"(\.token_id\b)", ".token"}};
  for (const auto& [word, of_c] : words) text = std::regex_replace(text, std::regex(word), of_c);
  return text;
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
