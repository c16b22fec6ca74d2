// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/ieee_arithmetic.hpp>
#include <tokkos/numerics/philox.hpp>
#include <tokkos/numerics/portable_exp.hpp>
#include <tokkos/numerics/portable_log.hpp>

#include "sameness/golden_parts.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

// This file is compiled once for every library that the golden hashes are held against, with that
// library's flags: what it measures stands in headers.

namespace tokkos::test {

namespace {

struct PortableExp {
  KOKKOS_FUNCTION float operator()(std::uint32_t bits) const {
    return portable_exp(__builtin_bit_cast(float, bits));
  }
};

struct PortableLog {
  KOKKOS_FUNCTION float operator()(std::uint32_t bits) const {
    return portable_log(__builtin_bit_cast(float, bits));
  }
};

/// Integers of 1 to 62 bits.
struct PortableLogOfGrid {
  KOKKOS_FUNCTION float operator()(std::uint32_t bits) const {
    const std::int64_t sum = (std::int64_t{bits} << 31) + bits;
    return portable_log_of_grid(sum >> (bits & 63u));
  }
};

/// The number decides on every argument: seed and stream of 32 bits and more, all purposes.
struct PhiloxUniform {
  KOKKOS_FUNCTION float operator()(std::uint32_t number) const {
    const std::uint64_t seed = (std::uint64_t{number} << 29) + number;
    return philox_uniform(seed, number >> 3, number & 7u, static_cast<Purpose>(number % 4u),
                          number ^ 0x5bd1e995u);
  }
};

/// A function of the patterns first, first + stride, first + 2 stride, ...
template <class Space, class Function>
struct Sweep {
  Function function;
  std::uint32_t first;
  std::uint32_t stride;
  Kokkos::View<float*, typename Space::memory_space> values;

  KOKKOS_FUNCTION void operator()(std::uint32_t i) const {
    const IeeeArithmetic ieee;
    values(i) = function(first + i * stride);
  }
};

template <class Function, class Space>
void sweep(GoldenResults& results, const std::string& name, const Space& space, std::uint32_t first,
           std::uint32_t end) {
  constexpr std::uint32_t stride = 4093;  // a prime: all last bits occur
  const std::uint32_t count = (end - first) / stride + 1;
  const Kokkos::View<float*, typename Space::memory_space> values("test::values", count);
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::uint32_t>>;
  Kokkos::parallel_for("tokkos::test::sweep", Policy(space, 0, count),
                       Sweep<Space, Function>{{}, first, stride, values});
  space.fence("tokkos::test::sweep");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  results.add(name, ResultHash().add(std::vector<float>(host.data(), host.data() + count)));
}

}  // namespace

void add_numerics(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results](const auto& space) {
        // By exponent, so that a difference says where it lies.
        for (std::uint32_t exponent = 0; exponent < 256; exponent += 32) {
          const std::string place = "/exponent" + std::to_string(exponent / 100) +
                                    std::to_string(exponent / 10 % 10) +
                                    std::to_string(exponent % 10);
          const std::uint32_t first = exponent << 23;
          const std::uint32_t end = exponent == 224 ? 0x7f800000u : (exponent + 32) << 23;
          constexpr std::uint32_t minus = 0x80000000u;
          sweep<PortableExp>(results, "portable_exp" + place, space, minus + first, minus + end);
          sweep<PortableLog>(results, "portable_log" + place, space, first, end);
        }
        sweep<PortableExp>(results, "portable_exp/-1_to_0", space, 0xb5000000u, 0xbf800000u);
        sweep<PhiloxUniform>(results, "philox_uniform", space, 0u, 0xffffffffu);
        sweep<PortableLogOfGrid>(results, "portable_log_of_grid", space, 1u, 0x7fffffffu);
      },
      any);
}

bool processor_is_able() {
  bool able = true;
#if defined(__x86_64__) && defined(__AVX2__)
  able = able && __builtin_cpu_supports("avx2");
#endif
#if defined(__x86_64__) && defined(__FMA__)
  able = able && __builtin_cpu_supports("fma");
#endif
#if defined(__x86_64__) && defined(__BMI2__)
  able = able && __builtin_cpu_supports("bmi2");
#endif
#if defined(__x86_64__) && defined(__AVX512F__)
  able = able && __builtin_cpu_supports("avx512f");
#endif
  return able;
}

}  // namespace tokkos::test
