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

/// The larger of `maximum` and the maximum over [begin, end), on a host.
float maximum_of(const float* begin, const float* end, float maximum) {
  // Lanes side by side: one maximum alone would wait for itself, not for memory.
  constexpr int lanes = 64;
  float maxima[lanes];
  for (float& lane : maxima) lane = maximum;
  const float* x = begin;
  for (; x + lanes <= end; x += lanes) {
    for (int j = 0; j < lanes; ++j) maxima[j] = x[j] > maxima[j] ? x[j] : maxima[j];
  }
  for (; x < end; ++x) maxima[0] = *x > maxima[0] ? *x : maxima[0];
  for (const float lane : maxima) maximum = lane > maximum ? lane : maximum;
  return maximum;
}

}  // namespace

void read_rows(const Space& space, const Rows<float>& rows, const Number& result) {
  const auto width = static_cast<std::int64_t>(rows.extent(1));
  const auto count = static_cast<std::int64_t>(rows.extent(0));
  const float* source = rows.data();
  const std::int64_t blocks = (width + block - 1) / block;
  if constexpr (runs_on_host) {
    Kokkos::parallel_reduce(
        "tokkos::bench::read",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count * blocks),
        [=](const std::int64_t i, float& maximum) {
          const float* row = source + i / blocks * width;
          const std::int64_t begin = i % blocks * block;
          const std::int64_t end = begin + block < width ? begin + block : width;
          maximum = maximum_of(row + begin, row + end, maximum);
        },
        Kokkos::Max<float, Memory>(result));
  } else {
    constexpr int threads = 256;
    Kokkos::parallel_reduce(
        "tokkos::bench::read",
        Kokkos::TeamPolicy<Space>(space, static_cast<int>(count * blocks), threads),
        ReadBlock{source, width, blocks, 0, 1}, Kokkos::Max<float, Memory>(result));
  }
}

void read_pairs_twice(const Space& space, const Rows<float>& even, const Rows<float>& odd,
                      const Number& result) {
  const auto width = static_cast<std::int64_t>(even.extent(1));
  const auto pairs = static_cast<std::int64_t>(even.extent(0) / 2);
  const float *const one = even.data(), *const other = odd.data();
  if constexpr (runs_on_host) {
    Kokkos::parallel_reduce(
        "tokkos::bench::read_twice", Kokkos::RangePolicy<Space>(space, 0, static_cast<int>(pairs)),
        [=](const int pair, float& maximum) {
          const float* const rows[] = {one + 2 * pair * width, other + (2 * pair + 1) * width};
          for (int time = 0; time < 2; ++time) {
            for (const float* row : rows) maximum = maximum_of(row, row + width, maximum);
          }
        },
        Kokkos::Max<float, Memory>(result));
  } else {
    constexpr int threads = 256;
    const std::int64_t blocks = (width + block - 1) / block;
    for (int i = 0; i < 4; ++i) {
      Kokkos::parallel_reduce(
          "tokkos::bench::read_twice",
          Kokkos::TeamPolicy<Space>(space, static_cast<int>(pairs * blocks), threads),
          ReadBlock{i % 2 == 0 ? one : other, width, blocks, i % 2, 2},
          Kokkos::Max<float, Memory>(result));
    }
  }
}

}  // namespace tokkos::bench
