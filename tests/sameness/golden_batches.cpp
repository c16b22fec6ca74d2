// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "sameness/golden_batches.hpp"

#include "sameness/integer_values.hpp"

#include <span>
#include <utility>

namespace tokkos::test {

namespace {

constexpr std::uint32_t plus_infinity = 0x7f800000u;
constexpr std::uint32_t minus_infinity = 0xff800000u;
constexpr std::uint32_t quiet_nan = 0x7fc00000u;
constexpr std::uint32_t lowest = 0xff7fffffu;

/// A bell of deviation 2.3 with random last bits.
std::uint32_t normal_logit(IntegerValues& random) {
  const float x = static_cast<float>(random.bell()) * 0x1p-14f;
  return pattern(x) ^ (x == 0.0f ? 0u : static_cast<std::uint32_t>(random.word() & 0x3fu));
}

std::uint32_t logit_of(RowKind kind, IntegerValues& random) {
  switch (kind) {
    case RowKind::flat:
      return pattern(1.5f);
    case RowKind::offset:
      return pattern(static_cast<float>(10000 * 1024 + random.bell() / 16) * 0x1p-10f);
    case RowKind::wide:
      return pattern(static_cast<float>(random.bell()) * 0x1p-10f);
    case RowKind::small: {  // exponents of 0 to 15 and of 2^-16 to 2^-1
      const auto w = static_cast<std::uint32_t>(random.word() >> 32);
      return (w & 0x87ffffffu) + ((w & 0x10000000u) != 0 ? 111u << 23 : 0u);
    }
    case RowKind::subnormal:
      return static_cast<std::uint32_t>(random.word() >> 32) & 0x807fffffu;
    case RowKind::holes: {
      const auto choice = random.below(12);
      if (choice < 4) return minus_infinity;
      if (choice == 4) return lowest;
      if (choice < 8) return choice % 2 == 0 ? 0x80000000u : 0u;
      return normal_logit(random);
    }
    default:
      return normal_logit(random);
  }
}

struct MaskKind {
  const char* name;
  int thinner;  ///< one bit in 2^thinner; negative: no mask
  bool active;  ///< whether the last tokens do not exist
};
constexpr MaskKind no_mask{"all", -1, false};
constexpr MaskKind half_mask{"half", 1, false};
constexpr MaskKind sparse_mask{"sparse", 7, false};
constexpr MaskKind active_mask{"active", 1, true};

struct Temperature {
  const char* name;
  float value;
};
constexpr Temperature zero{"T0", 0.0f};
constexpr Temperature third{"T0.3", 0.3f};
constexpr Temperature one{"T1", 1.0f};

GoldenBatch make_batch(std::int64_t vocabulary, std::span<const RowKind> kinds,
                       const Temperature& temperature, const MaskKind& mask) {
  GoldenBatch batch;
  batch.name = std::to_string(vocabulary) + "/" + temperature.name + "/" + mask.name;
  batch.vocabulary = vocabulary;
  batch.rows = static_cast<std::int64_t>(kinds.size());
  batch.active = mask.active ? vocabulary - vocabulary / 40 : vocabulary;
  batch.temperature = temperature.value;
  const auto seed = static_cast<std::uint64_t>(vocabulary) * 100;
  for (const RowKind kind : kinds) {
    const auto row = golden_row(kind, vocabulary, seed + static_cast<std::uint64_t>(kind));
    batch.logits.insert(batch.logits.end(), row.begin(), row.end());
  }
  IntegerValues random(seed + 50);
  batch.uniforms = random.uniforms(batch.rows);
  if (mask.thinner >= 0) {
    batch.words = (vocabulary + 31) / 32;
    batch.bitmask = random.words(batch.rows * batch.words, mask.thinner);
    for (std::int64_t i = 0; i < batch.rows; ++i) {  // other rows' words, and two rows without
      const bool masked = batch.rows < 5 || (i != 2 && i != 4);
      batch.mask_index.push_back(masked ? static_cast<std::int32_t>(batch.rows - 1 - i) : -1);
    }
  }
  return batch;
}

std::vector<GoldenBatch> make_batches() {
  std::vector<RowKind> all;
  for (int kind = 0; kind < row_kinds; ++kind) all.push_back(static_cast<RowKind>(kind));
  const RowKind four[] = {RowKind::normal, RowKind::peaked, RowKind::wide, RowKind::holes};
  const RowKind two[] = {RowKind::normal, RowKind::wide};
  std::vector<GoldenBatch> batches;
  for (const std::int64_t vocabulary : {1, 31, 33, 4096, 4097}) {
    for (const Temperature& t : {zero,
                                 Temperature{"T1e-5", 1e-5f},
                                 Temperature{"T1.1e-5", 1.1e-5f},
                                 third,
                                 one,
                                 Temperature{"T1.5", 1.5f},
                                 {"T1000", 1000.0f}}) {
      batches.push_back(make_batch(vocabulary, all, t, no_mask));
    }
    for (const Temperature& t : {zero, third, one}) {
      for (const MaskKind& mask : {half_mask, sparse_mask, active_mask}) {
        batches.push_back(make_batch(vocabulary, all, t, mask));
      }
    }
  }
  for (const Temperature& t : {zero, third, one}) {
    batches.push_back(make_batch(50257, all, t, no_mask));
  }
  batches.push_back(make_batch(50257, all, third, half_mask));
  batches.push_back(make_batch(50257, four, one, sparse_mask));
  batches.push_back(make_batch(128256, two, one, no_mask));
  batches.push_back(make_batch(128256, two, third, active_mask));
  return batches;
}

}  // namespace

std::vector<std::uint32_t> golden_row(RowKind kind, std::int64_t vocabulary, std::uint64_t seed) {
  IntegerValues random(seed);
  std::vector<std::uint32_t> row(static_cast<std::size_t>(vocabulary));
  for (auto& logit : row) logit = logit_of(kind, random);
  if (kind == RowKind::peaked) row[row.size() / 3] = pattern(20.0f);
  if (kind == RowKind::nan) row[row.size() / 2] = quiet_nan;
  if (kind == RowKind::infinity) row.back() = plus_infinity;
  return row;
}

const std::vector<GoldenBatch>& golden_batches() {
  static const std::vector<GoldenBatch> batches = make_batches();
  return batches;
}

const GoldenBatch& golden_large_batch() {
  static const GoldenBatch batch = [] {
    std::vector<RowKind> kinds;
    for (int i = 0; i < 32; ++i) kinds.push_back(static_cast<RowKind>(i % row_kinds));
    return make_batch(131101, kinds, third, active_mask);
  }();
  return batch;
}

}  // namespace tokkos::test
