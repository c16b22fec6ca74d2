// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstdint>
#include <span>

namespace tokkos {

/// What a grammar matcher implements so that a request's tokens obey it. One object belongs to one
/// request and stands behind the tokens that were accepted so far.
class VocabularyMask {
 public:
  virtual ~VocabularyMask() = default;

  /// Whether the next token is constrained at all; if not, no mask is filled or uploaded. (A row
  /// behind a draft token that accept refused is masked whole, whatever this says.)
  virtual bool is_constrained() const { return true; }

  /// Sets bit (v & 31) of words[v >> 5] for every token v that may come next and clears the others.
  /// @param words ceil(active vocabulary / 32) words, on entry all 0; bits past it are ignored
  virtual void fill_next_bitmask(std::span<std::int32_t> words) = 0;

  /// Moves on by one token. Returns false, and stays where it is, if the grammar refuses the token.
  virtual bool accept(TokenId token) = 0;

  /// Takes back the last `count` accepted tokens.
  virtual void rollback(std::int32_t count) = 0;

 protected:
  VocabularyMask() = default;
  /// For classes that copy themselves.
  VocabularyMask(const VocabularyMask&) = default;
  /// For classes that copy themselves.
  VocabularyMask& operator=(const VocabularyMask&) = default;
};

}  // namespace tokkos
