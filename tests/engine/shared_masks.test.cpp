// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Which rows of a step stand behind one row of mask words.
#include <tokkos/engine/step_edits.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/scripted_grammar.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {

TEST_CASE("rows of a request behind the same tokens share their mask words", "[engine]") {
  ScriptedGrammar grammar(4, 40), free(4, 40, false);
  TokenId refused = 4, taken = 4;
  while (grammar.allows({}, refused)) ++refused;
  while (!grammar.allows({}, taken)) ++taken;
  OwnedStep step;
  step.add({}, {}, &grammar);                          // rows 0 to 5
  step.add({}, {});                                    // row 6: no mask
  step.add({.allowed_token_ids = {3}}, {}, &free);     // rows 7 to 9
  step.add({.allowed_token_ids = {3}}, {}, &grammar);  // rows 10 and 11
  step.cum_num_token = {0, 6, 7, 10, 12};
  step.trees = {{{taken, refused, refused}, {-1, -1, 1}}, {}, {{5}, {-1}}, {}};
  step.indices = {{-1, 0, -1, 1, 2, 0}, {-1}, {-1, 0, -1}, {-1, -1}};
  StepEdits edits;
  edits.assign(step.requests(), 40);
  CHECK(edits.mask_rows == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11});
  CHECK(edits.mask_positions == std::vector<std::int32_t>{0, 1, 0, 2, 2, 1, 3, 3, 3, 4, 4});
  REQUIRE(edits.mask_words.size() == 5 * 2);
  for (TokenId v = 0; v < 40; ++v) {
    const auto bit = [&](std::size_t mask) {
      const auto word =
          static_cast<std::uint32_t>(edits.mask_words[2 * mask + static_cast<std::size_t>(v / 32)]);
      return ((word >> (v % 32)) & 1u) != 0;
    };
    CHECK(bit(0) == grammar.allows({}, v));
    CHECK(bit(1) == grammar.allows(std::vector<TokenId>{taken}, v));
    CHECK(!bit(2));
    CHECK(bit(3) == (v == 3));
    CHECK(bit(4) == (v == 3 && grammar.allows({}, 3)));
  }
  CHECK(grammar.calls() == 6);  // 3 masks, 3 tokens tried: a row that shares asks nothing
  CHECK(grammar.misuses() == 0);
}

}  // namespace tokkos::test
