// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inputs.hpp"

#include <cfloat>
#include <cstdint>

// The seed's stages as it runs them on a GPU: a team for each chunk, neighbours reading
// neighbouring memory, every stage a kernel of its own; and a sampler with a team for each row.

namespace tokkos::bench {

inline constexpr std::int64_t staged_chunk = 4096;
inline constexpr int staged_team = 256;

using Team = Kokkos::TeamPolicy<Space>::member_type;

/// The tokens of a team's chunk.
struct StagedPlace {
  std::int64_t row;
  std::int64_t chunk;
  std::int64_t first;
  std::int64_t end;

  KOKKOS_FUNCTION static StagedPlace of(const Team& team, std::int64_t vocabulary) {
    const std::int64_t chunks = (vocabulary + staged_chunk - 1) / staged_chunk;
    const std::int64_t chunk = team.league_rank() % chunks;
    const std::int64_t end = (chunk + 1) * staged_chunk;
    return {team.league_rank() / chunks, chunk, chunk * staged_chunk,
            end < vocabulary ? end : vocabulary};
  }
};

struct MaskChunk {
  Rows<float> logits;
  Rows<std::int32_t> bitmask;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto place = StagedPlace::of(team, static_cast<std::int64_t>(logits.extent(1)));
    for (std::int64_t v = place.first + team.team_rank(); v < place.end; v += team.team_size()) {
      if (((bitmask(place.row, v >> 5) >> (v & 31)) & 1) == 0) logits(place.row, v) = -FLT_MAX;
    }
  }
};

/// Maximum and logarithm of the sum of exponentials of a chunk.
struct SumChunk {
  Rows<float> logits, maximum, sum;
  Numbers<float> temperature;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto place = StagedPlace::of(team, static_cast<std::int64_t>(logits.extent(1)));
    const float t = temperature(place.row);
    float largest = -FLT_MAX;
    for (std::int64_t v = place.first + team.team_rank(); v < place.end; v += team.team_size()) {
      largest = Kokkos::max(largest, logits(place.row, v) / t);
    }
    team.team_reduce(Kokkos::Max<float>(largest));
    float total = 0.0f;
    for (std::int64_t v = place.first + team.team_rank(); v < place.end; v += team.team_size()) {
      total += Kokkos::exp(logits(place.row, v) / t - largest);
    }
    team.team_reduce(Kokkos::Sum<float>(total));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      maximum(place.row, place.chunk) = largest;
      sum(place.row, place.chunk) = Kokkos::log(total);
    });
  }
};

/// Probabilities of a chunk, by the sums of all chunks.
struct NormalizeChunk {
  Rows<float> logits, maximum, sum, probabilities;
  Numbers<float> temperature;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto place = StagedPlace::of(team, static_cast<std::int64_t>(logits.extent(1)));
    const auto chunks = static_cast<std::int64_t>(maximum.extent(1));
    const float t = temperature(place.row);
    float largest = -FLT_MAX;
    for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
      largest = Kokkos::max(largest, maximum(place.row, c));
    }
    team.team_reduce(Kokkos::Max<float>(largest));
    float total = 0.0f;
    for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
      total += Kokkos::exp(sum(place.row, c) + maximum(place.row, c) - largest);
    }
    team.team_reduce(Kokkos::Sum<float>(total));
    const float log_sum = Kokkos::log(total) + largest;
    for (std::int64_t v = place.first + team.team_rank(); v < place.end; v += team.team_size()) {
      probabilities(place.row, v) = Kokkos::exp(logits(place.row, v) / t - log_sum);
    }
  }
};

/// The first token at which the running sum of a row exceeds its uniform.
struct SampleRow {
  Rows<float> probabilities;
  Numbers<float> uniforms;
  Numbers<std::int32_t> tokens;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t row = team.league_rank();
    const auto vocabulary = static_cast<std::int64_t>(probabilities.extent(1));
    const std::int64_t share = staged_chunk / team.team_size();
    float before = 0.0f;
    std::int64_t token = vocabulary - 1;
    for (std::int64_t first = 0; first < vocabulary; first += staged_chunk) {
      const std::int64_t begin = Kokkos::min(first + team.team_rank() * share, vocabulary);
      const std::int64_t end = Kokkos::min(begin + share, vocabulary);
      float own = 0.0f;
      for (std::int64_t v = begin; v < end; ++v) own += probabilities(row, v);
      float prefix = before + team.team_scan(own);
      float total = own;
      team.team_reduce(Kokkos::Sum<float>(total));
      before += total;
      if (before <= uniforms(row) && first + staged_chunk < vocabulary) continue;
      for (std::int64_t v = begin; v < end && token == vocabulary - 1; ++v) {
        prefix += probabilities(row, v);
        if (prefix > uniforms(row)) token = v;
      }
      team.team_reduce(Kokkos::Min<std::int64_t>(token));
      break;
    }
    Kokkos::single(Kokkos::PerTeam(team),
                   [&]() { tokens(row) = static_cast<std::int32_t>(token); });
  }
};

/// Launches a team for each of `count`.
template <class Functor>
void launch_staged(const char* label, const Space& space, std::size_t count,
                   const Functor& functor) {
  Kokkos::parallel_for(
      label, Kokkos::TeamPolicy<Space>(space, static_cast<int>(count), staged_team), functor);
}

}  // namespace tokkos::bench
