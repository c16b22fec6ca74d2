// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law/tree_shapes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// How the children of a node are drafted, and what is passed to verification for each.
enum class Drafting {
  with_replacement,                ///< each from the same q, duplicates stay; a row for each
  shared_row,                      ///< the same, siblings share one row
  without_replacement,             ///< each from q less earlier siblings, zeroed and renormalized
  shared_row_without_replacement,  ///< the same, siblings share q, which verification renormalizes
  chosen,                          ///< any tokens whatever, one-hot: nothing is passed
  mixed,                           ///< drawn with replacement and chosen in turn
  mixed_without_replacement,       ///< drawn without replacement from a shared row and chosen
  // Not lossless; the tests show that they are told apart:
  same_row_without_replacement,  ///< without replacement, but q itself is passed for every sibling
  zeroed_row_without_replacement,  ///< q less earlier siblings, zeroed and not renormalized
  dropped_duplicates,              ///< with replacement, later copies of a token are left out
  chosen_with_softmax,             ///< the most likely tokens, q itself is passed
  shared_stream                    ///< with replacement, one uniform both drafts and verifies
};

/// Where the target's rows come from.
enum class Target {
  table,         ///< rows of small fractions
  edited,        ///< logits, a history, penalties and a mask, by way of LogitProcessor
  counted_twice  ///< the same, wrongly: a node's path counts as generated and as drafted
};

/// One tiny world: what a draft model and a target model say after every prefix, and the shape of
/// the trees that are drafted.
struct LawProblem {
  int vocabulary = 1;
  TreeShape shape;
  Drafting drafting = Drafting::with_replacement;
  Target target = Target::table;
  std::uint64_t seed = 0;
  /// Tokens that the target has: those at or past it only the draft model knows. 0: all. Of
  /// Target::table alone.
  int active = 0;

  int target_vocabulary() const { return active > 0 ? active : vocabulary; }
};

/// A distribution in whole numbers: token v has the probability weight[v] / total. All 0 after a
/// prefix that cannot be.
struct WholeRow {
  std::vector<std::uint64_t> weight;
  std::uint64_t total = 0;

  /// Each rounded to float32.
  std::vector<float> probabilities() const;
};

/// Prefixes are numbered: the empty one 0, and prefix p followed by token v p * V + v + 1.
class LawTables {
 public:
  explicit LawTables(const LawProblem& problem);

  std::size_t after(std::size_t prefix, int token) const {
    return prefix * static_cast<std::size_t>(m_vocabulary) + static_cast<std::size_t>(token) + 1;
  }
  std::size_t before(std::size_t prefix) const {
    return (prefix - 1) / static_cast<std::size_t>(m_vocabulary);
  }

  /// The target's law of the next token, penalties and masks applied.
  const WholeRow& target(std::size_t prefix) const { return m_target[prefix]; }
  /// What draft tokens are drawn from; its total divides `draft_scale`, as does every smaller one.
  const WholeRow& draft(std::size_t prefix) const { return m_draft[prefix]; }

  /// Unless Target::table: exp(logit) * 64 before penalties and mask, and what the mask allows.
  const std::vector<std::uint64_t>& unedited(std::size_t prefix) const {
    return m_unedited[prefix];
  }
  bool allows(std::size_t prefix, int token) const { return m_allowed[prefix][token]; }
  /// Tokens that were generated before the drafts.
  std::vector<std::int32_t> history() const;

  static constexpr std::uint64_t draft_scale = 720720;  // least common multiple of 1 ... 16

 private:
  void edit(std::size_t prefix, const std::vector<int>& path);

  int m_vocabulary;
  std::vector<WholeRow> m_target, m_draft;
  std::vector<std::vector<std::uint64_t>> m_unedited;
  std::vector<std::vector<bool>> m_allowed;
};

}  // namespace tokkos::test
