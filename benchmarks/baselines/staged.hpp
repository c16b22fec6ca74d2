// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inputs.hpp"

#include <cstdint>

// The seed's way, written plainly: one pass over the logits per step, std::exp. On a CPU one thread
// takes a row, on a GPU a team takes a chunk. It is compiled with the same flags as the library.

namespace tokkos::bench {

class Staged {
 public:
  Staged(std::int64_t rows, std::int64_t vocabulary);

  /// Biases, then penalties, an entry at a time.
  void edit(const Space& space, const Rows<float>& logits, const RowEdits& edits) const;

  /// Writes -FLT_MAX over the tokens that the mask forbids.
  void mask(const Space& space, const Rows<float>& logits, const Rows<std::int32_t>& bitmask) const;

  /// Chunk maxima and logarithms of chunk sums of logits / temperature, then the probabilities.
  void softmax(const Space& space, const Rows<float>& logits, const Numbers<float>& temperature,
               const Rows<float>& probabilities) const;

  /// Walks each row's probabilities until their sum exceeds the uniform.
  void sample(const Space& space, const Rows<float>& probabilities, const Numbers<float>& uniforms,
              const Numbers<std::int32_t>& tokens) const;

 private:
  Rows<float> m_chunk_maximum, m_chunk_sum;
};

}  // namespace tokkos::bench
