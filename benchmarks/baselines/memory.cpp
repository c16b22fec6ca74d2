// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "baselines/memory.hpp"

namespace tokkos::bench {

namespace {

constexpr std::int64_t block = 4096;

/// The maximum over one block of one row, by the threads of a team side by side.
struct ReadBlock {
  const float* source;
  std::int64_t width;
  std::int64_t blocks;  ///< of a row
  std::int64_t first;   ///< row
  std::int64_t step;    ///< rows

  KOKKOS_FUNCTION void operator()(const Kokkos::TeamPolicy<Space>::member_type& team,
                                  float& maximum) const {
    const float* row = source + (first + team.league_rank() / blocks * step) * width;
    const std::int64_t begin = team.league_rank() % blocks * block;
    const std::int64_t end = begin + block < width ? begin + block : width;
    for (std::int64_t v = begin + team.team_rank(); v < end; v += team.team_size()) {
      maximum = row[v] > maximum ? row[v] : maximum;
    }
  }
};

}  // namespace

void copy_rows(const Space& space, const Rows<float>& from, const Rows<float>& to) {
  const float* source = from.data();
  float* target = to.data();
  Kokkos::parallel_for(
      "tokkos::bench::copy",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
          space, 0, static_cast<std::int64_t>(from.size())),
      KOKKOS_LAMBDA(const std::int64_t i) { target[i] = source[i]; });
}

namespace {

/// Maximum over every step-th row from row `first` on, in blocks of a row each.
void read_some_rows(const Space& space, const Rows<float>& rows, std::int64_t first,
                    std::int64_t step, const Number& result) {
  const auto width = static_cast<std::int64_t>(rows.extent(1));
  const auto count = (static_cast<std::int64_t>(rows.extent(0)) - first + step - 1) / step;
  const float* source = rows.data();
  const std::int64_t blocks = (width + block - 1) / block;
  if constexpr (runs_on_host) {
    Kokkos::parallel_reduce(
        "tokkos::bench::read",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count * blocks),
        [=](const std::int64_t i, float& maximum) {
          const float* row = source + (first + i / blocks * step) * width;
          const std::int64_t begin = i % blocks * block;
          const std::int64_t end = begin + block < width ? begin + block : width;
          // Lanes side by side: one maximum alone would wait for itself, not for memory.
          constexpr int lanes = 64;
          float maxima[lanes];
          for (float& lane : maxima) lane = row[begin];
          std::int64_t v = begin;
          for (; v + lanes <= end; v += lanes) {
            for (int j = 0; j < lanes; ++j)
              maxima[j] = row[v + j] > maxima[j] ? row[v + j] : maxima[j];
          }
          for (; v < end; ++v) maxima[0] = row[v] > maxima[0] ? row[v] : maxima[0];
          for (const float lane : maxima) maximum = lane > maximum ? lane : maximum;
        },
        Kokkos::Max<float, Memory>(result));
  } else {
    constexpr int threads = 256;
    Kokkos::parallel_reduce(
        "tokkos::bench::read",
        Kokkos::TeamPolicy<Space>(space, static_cast<int>(count * blocks), threads),
        ReadBlock{source, width, blocks, first, step}, Kokkos::Max<float, Memory>(result));
  }
}

}  // namespace

void read_rows(const Space& space, const Rows<float>& rows, const Number& result) {
  read_some_rows(space, rows, 0, 1, result);
}

void read_alternate_rows(const Space& space, const Rows<float>& rows, std::int64_t first,
                         const Number& result) {
  read_some_rows(space, rows, first, 2, result);
}

}  // namespace tokkos::bench
