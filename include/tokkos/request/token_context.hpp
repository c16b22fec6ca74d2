// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstddef>
#include <span>

namespace tokkos {

/// The tokens before a row's next one, in their order: the prompt, what was generated, and the path
/// from the last committed token to the row's draft node, that node's own token included.
struct TokenContext {
  std::span<const TokenId> prompt = {};     ///< comes first
  std::span<const TokenId> generated = {};  ///< then what was committed
  std::span<const TokenId> drafts = {};     ///< then the path to the draft node

  /// Number of tokens.
  std::size_t size() const { return prompt.size() + generated.size() + drafts.size(); }

  /// Token number i, i < size().
  TokenId operator[](std::size_t i) const {
    if (i < prompt.size()) return prompt[i];
    i -= prompt.size();
    return i < generated.size() ? generated[i] : drafts[i - generated.size()];
  }
};

}  // namespace tokkos
