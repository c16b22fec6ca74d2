// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/verified_draft.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/scripted_grammar.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {

namespace {

/// Allows everything, and writes -1 into memory of the sizes that a history's tokens had.
class WritingMask final : public VocabularyMask {
 public:
  void fill_next_bitmask(std::span<std::int32_t>) override {}
  bool accept(TokenId) override {
    for (const std::size_t size : {16, 48, 112}) m_written.emplace_back(size, -1);
    return true;
  }
  void rollback(std::int32_t) override {}

 private:
  std::vector<std::vector<TokenId>> m_written;
};

}  // namespace

TEST_CASE("commit appends the emitted tokens and moves the matcher on", "[engine]") {
  TokenHistory history({4});
  history.commit(7);
  ScriptedGrammar grammar(1, 14);
  const auto next_allowed = [&](std::vector<TokenId> accepted, bool allowed) {
    TokenId token = 3;
    while (grammar.allows(accepted, token) != allowed) ++token;
    return token;
  };
  const TokenId first = next_allowed({}, true);
  const TokenId second = next_allowed({first}, true);
  commit(VerifiedDraft{{0}, {first, second}, second, 0}, history, &grammar);
  CHECK(grammar.accepted() == std::vector<TokenId>{first, second});
  CHECK(std::ranges::equal(history.generated(), std::vector<TokenId>{7, first, second}));

  const TokenId third = next_allowed({first, second}, true);
  const TokenId refused = next_allowed({first, second, third}, false);
  const Complaint complaint = error_of([&] {
    commit(VerifiedDraft{{0}, {third, refused}, refused, 0}, history, &grammar);
  });
  CHECK(complaint.index == 1);
  CHECK(complaint.value == std::to_string(refused));
  CHECK(grammar.accepted() == std::vector<TokenId>{first, second});
  CHECK(grammar.misuses() == 0);
  CHECK(std::ranges::equal(history.generated(), std::vector<TokenId>{7, first, second}));

  grammar.throw_at(1);
  CHECK_THROWS_AS(commit(VerifiedDraft{{0}, {third, 5}, 5, 0}, history, &grammar), GrammarFailure);
  CHECK(grammar.accepted() == std::vector<TokenId>{first, second});
  commit(VerifiedDraft{{}, {9}, 9, 0}, history);
  CHECK(history.generated().back() == 9);
  commit(VerifiedDraft{}, history, &grammar);
  CHECK(history.generated().size() == 4);
}

TEST_CASE("tokens of a history's own are committed to it again", "[engine]") {
  for (const std::size_t first : {0, 1, 15}) {
    TokenHistory history({4});
    std::vector<TokenId> expected;
    for (TokenId token = 0; token < 16; ++token) {  // the next one moves them
      history.commit(100 + token);
      expected.push_back(100 + token);
    }
    expected.insert(expected.end(), expected.begin() + static_cast<std::ptrdiff_t>(first),
                    expected.begin() + 16);
    WritingMask mask;
    commit(history.generated().subspan(first), history, &mask);
    CHECK(std::ranges::equal(history.generated(), expected));
  }
}

}  // namespace tokkos::test
