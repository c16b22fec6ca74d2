// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "baselines/staged.hpp"

#include "baselines/staged_teams.hpp"

#include <cfloat>

namespace tokkos::bench {

namespace {

constexpr std::int64_t chunk = staged_chunk;

using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

Range over(const Space& space, std::size_t count) {
  return Range(space, 0, static_cast<std::int64_t>(count));
}

}  // namespace

Staged::Staged(std::int64_t rows, std::int64_t vocabulary)
    : m_chunk_maximum("tokkos::bench::chunk_maximum", rows, (vocabulary + chunk - 1) / chunk),
      m_chunk_sum("tokkos::bench::chunk_sum", rows, (vocabulary + chunk - 1) / chunk) {}

void Staged::edit(const Space& space, const Rows<float>& logits, const RowEdits& edits) const {
  const auto biases = edits.biases();
  Kokkos::parallel_for(
      "tokkos::bench::staged_bias", over(space, biases.token_ids.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t i) {
        logits(biases.pos2seq_id(i), biases.token_ids(i)) += biases.logit_bias(i);
      });
  const auto penalties = edits.penalties();
  Kokkos::parallel_for(
      "tokkos::bench::staged_penalty", over(space, penalties.token_ids.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const std::int32_t c = penalties.pos2seq_id(i);
        float& x = logits(penalties.seq_ids(c), penalties.token_ids(i));
        x -= penalties.penalties(c, 0) +
             static_cast<float>(penalties.token_cnt(i)) * penalties.penalties(c, 1);
        x = x < 0.0f ? x * penalties.penalties(c, 2) : x / penalties.penalties(c, 2);
      });
}

void Staged::mask(const Space& space, const Rows<float>& logits,
                  const Rows<std::int32_t>& bitmask) const {
  if (!runs_on_host) {
    launch_staged("tokkos::bench::staged_mask", space, m_chunk_maximum.size(),
                  MaskChunk{logits, bitmask});
    return;
  }
  Kokkos::parallel_for(
      "tokkos::bench::staged_mask", over(space, logits.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t row) {
        const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
        for (std::int64_t v = 0; v < vocabulary; ++v) {
          const bool allowed = (bitmask(row, v >> 5) >> (v & 31)) & 1;
          logits(row, v) = allowed ? logits(row, v) : -FLT_MAX;
        }
      });
}

void Staged::softmax(const Space& space, const Rows<float>& logits,
                     const Numbers<float>& temperature, const Rows<float>& probabilities) const {
  const Rows<float> chunk_maximum = m_chunk_maximum;
  const Rows<float> chunk_sum = m_chunk_sum;
  if (!runs_on_host) {
    launch_staged("tokkos::bench::staged_chunk_lse", space, chunk_maximum.size(),
                  SumChunk{logits, chunk_maximum, chunk_sum, temperature});
    launch_staged("tokkos::bench::staged_softmax", space, chunk_maximum.size(),
                  NormalizeChunk{logits, chunk_maximum, chunk_sum, probabilities, temperature});
    return;
  }
  Kokkos::parallel_for(
      "tokkos::bench::staged_chunk_lse", over(space, logits.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t row) {
        const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
        const float t = temperature(row);
        for (std::int64_t first = 0; first < vocabulary; first += chunk) {
          const std::int64_t end = first + chunk < vocabulary ? first + chunk : vocabulary;
          float maximum = -FLT_MAX;
          for (std::int64_t v = first; v < end; ++v) {
            const float x = logits(row, v) / t;
            maximum = x > maximum ? x : maximum;
          }
          float sum = 0.0f;
          for (std::int64_t v = first; v < end; ++v) {
            sum += Kokkos::exp(logits(row, v) / t - maximum);
          }
          chunk_maximum(row, first / chunk) = maximum;
          chunk_sum(row, first / chunk) = Kokkos::log(sum);
        }
      });
  Kokkos::parallel_for(
      "tokkos::bench::staged_softmax", over(space, logits.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t row) {
        const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
        const auto chunks = static_cast<std::int64_t>(chunk_maximum.extent(1));
        const float t = temperature(row);
        float maximum = -FLT_MAX;
        for (std::int64_t c = 0; c < chunks; ++c) {
          maximum = chunk_maximum(row, c) > maximum ? chunk_maximum(row, c) : maximum;
        }
        float sum = 0.0f;
        for (std::int64_t c = 0; c < chunks; ++c) {
          sum += Kokkos::exp(chunk_sum(row, c) + chunk_maximum(row, c) - maximum);
        }
        const float log_sum = Kokkos::log(sum);
        for (std::int64_t v = 0; v < vocabulary; ++v) {
          probabilities(row, v) = Kokkos::exp(logits(row, v) / t - (log_sum + maximum));
        }
      });
}

void Staged::sample(const Space& space, const Rows<float>& probabilities,
                    const Numbers<float>& uniforms, const Numbers<std::int32_t>& tokens) const {
  if (!runs_on_host) {
    launch_staged("tokkos::bench::staged_sample", space, probabilities.extent(0),
                  SampleRow{probabilities, uniforms, tokens});
    return;
  }
  Kokkos::parallel_for(
      "tokkos::bench::staged_sample", over(space, probabilities.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t row) {
        const auto vocabulary = static_cast<std::int64_t>(probabilities.extent(1));
        float sum = 0.0f;
        std::int64_t v = 0;
        while (v < vocabulary - 1 && (sum += probabilities(row, v)) <= uniforms(row)) ++v;
        tokens(row) = static_cast<std::int32_t>(v);
      });
}

}  // namespace tokkos::bench
