// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tokkos {

/// Whether teams of this space run on the host: one thread each, in loops that vectorize.
template <class ExecutionSpace>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// Whether a host's threads take whole rows: if that keeps them about as busy as sharing rows by
/// chunk. Sharing costs two launches more, about the time of `launches` chunks.
inline bool takes_whole_rows(std::int64_t rows, std::int64_t chunks, std::int64_t threads) {
  constexpr std::int64_t launches = 4;
  const std::int64_t whole = (rows + threads - 1) / threads * chunks;
  const std::int64_t shared = (rows * chunks + threads - 1) / threads;
  return rows >= 4 * threads || whole - shared <= launches;
}

/// Runs `functor(i)` for i in [begin, end), which are some of `entries`. A functor may offer
/// `fetch(i)`: on a host it is called some entries earlier, to ask the memory for what i needs.
template <class Functor>
KOKKOS_FORCEINLINE_FUNCTION void run_entries(const Functor& functor, std::int64_t begin,
                                             std::int64_t end, std::int64_t entries) {
  constexpr std::int64_t ahead = 24;
  for (std::int64_t i = begin; i < end; ++i) {
    if constexpr (requires { functor.fetch(i); }) {
      if (i + ahead < entries) functor.fetch(i + ahead);
    }
    functor(i);
  }
}

/// Entries that a host's thread takes at a time; a functor may name another number.
template <class Functor>
inline constexpr std::int64_t entries_per_block = 256;
template <class Functor>
requires requires {
  Functor::entries_per_block;
}
inline constexpr std::int64_t entries_per_block<Functor> = Functor::entries_per_block;

/// A policy whose functor is passed by value wherever it fits (4 KiB). Kokkos's HIP would pass one
/// of 512 bytes or more by way of constant memory: the host would wait for the launch before, and a
/// graph would not keep it.
template <class Policy>
auto by_value(const Policy& policy) {
  return Kokkos::Experimental::require(policy,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// Runs `functor(i)` for a run of consecutive entries: one on a device, many on a host.
template <class ExecutionSpace, class Functor>
struct EntryBlock {
  static constexpr std::int64_t size =
      runs_on_host<ExecutionSpace> ? entries_per_block<Functor> : 1;
  Functor functor;
  std::int64_t entries;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    const IeeeArithmetic ieee;
    if constexpr (runs_on_host<ExecutionSpace>) {
      const std::int64_t end = (block + 1) * size < entries ? (block + 1) * size : entries;
      run_entries(functor, block * size, end, entries);
    } else {
      functor(block);
    }
  }
};

/// Runs `functor(i)` for every i in [0, entries).
template <class ExecutionSpace, class Functor>
void launch_entries(const char* label, const ExecutionSpace& space, std::int64_t entries,
                    const Functor& functor) {
  if (entries == 0) return;
  using Block = EntryBlock<ExecutionSpace, Functor>;
  const std::int64_t blocks = (entries + Block::size - 1) / Block::size;
  Kokkos::parallel_for(
      label,
      by_value(
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(space, 0, blocks)),
      Block{functor, entries});
}

/// Runs `functor` with `league` teams. On a device a team has `device_team` threads (a power of 2),
/// or half, a quarter, ... of them where the device does not allow so many for this functor: scans
/// and reductions of every backend and version take powers of 2. On a host it is one thread.
template <class ExecutionSpace, class Functor>
void launch_teams(const char* label, const ExecutionSpace& space, std::int64_t league,
                  int device_team, std::size_t scratch_bytes, const Functor& functor) {
  if (league == 0) return;
  require(league <= std::numeric_limits<int>::max(), "rows x chunks", std::nullopt, league,
          "at most 2147483647 in one launch");
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  const auto scratch = Kokkos::PerTeam(scratch_bytes);
  int team = 1;
  if constexpr (!runs_on_host<ExecutionSpace>) {
    Policy probe(space, static_cast<int>(league), 1);
    probe.set_scratch_size(0, scratch);
    const int most = by_value(probe).team_size_max(functor, Kokkos::ParallelForTag());
    for (team = device_team; team > most && team > 1;) team /= 2;
  }
  Policy policy(space, static_cast<int>(league), team);
  policy.set_scratch_size(0, scratch);
  Kokkos::parallel_for(label, by_value(policy), functor);
}

}  // namespace tokkos
