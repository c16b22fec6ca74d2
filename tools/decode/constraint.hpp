// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/tokenizer.hpp"

#include <tokkos/request/vocabulary_mask.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// What a constraint allows, shared by the requests that obey it.
struct ConstraintRule {
  /// Bitmask of the tokens that may come first, second, ...
  std::vector<std::vector<std::int32_t>> allowed;
  /// The last bitmask holds for every further token; otherwise the text ends there.
  bool open_end = false;
  /// The text ends after this token; -1 for none.
  TokenId end_token = -1;
};

/// The rule that `text` names:
/// - "words": words only, neither punctuation nor paragraph breaks;
/// - "sentence": one paragraph that ends at the first full stop;
/// - "pattern:ITEM ITEM ...": one token per item, then the end. An item is a token of the text, or
/// a
///   word with * for any letters and ? for one, so that * is any word.
/// @throws Error that names the constraint, or the item that no token of the vocabulary matches
ConstraintRule parse_constraint(const std::string& text, const Vocabulary& vocabulary);

/// A place in a text that obeys a rule.
class Constraint : public VocabularyMask {
 public:
  explicit Constraint(std::shared_ptr<const ConstraintRule> rule) : m_rule(std::move(rule)) {}

  void fill_next_bitmask(std::span<std::int32_t> words) override;
  bool accept(TokenId token) override;
  /// @throws Error if fewer tokens were accepted
  void rollback(std::int32_t count) override;

  /// Whether the text ends here: no token may come next.
  bool finished() const;

 private:
  const std::vector<std::int32_t>& allowed() const;

  std::shared_ptr<const ConstraintRule> m_rule;
  std::vector<TokenId> m_accepted;
};

}  // namespace tokkos::tools
