// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/integer_values.hpp"

#include <Kokkos_Core.hpp>

#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

/// Presence, frequency and repetition penalties, one line a row of logits.
constexpr float penalty_table[][3] = {
    {0.5f, 0.25f, 1.3f},    {0.0f, 0.0f, 1.0f},   {-1.5f, 0.1f, 0.7f}, {3e38f, 1e38f, 1.0f},
    {-3e38f, -1e38f, 2.0f}, {0.0f, 0.0f, 1e-38f}, {0.0f, 0.0f, 3e38f}, {0x1p-140f, 0.0f, 0x1p-4f}};
constexpr std::int64_t edited_rows = std::size(penalty_table);

/// The flat arrays of a step's edits. The penalized tokens at even places are biased as well.
struct EditArrays {
  std::vector<std::uint32_t> logits;
  std::vector<std::int32_t> bias_rows, bias_tokens;
  std::vector<float> biases;
  std::vector<std::int32_t> penalty_rows, positions, tokens, counts;
  std::vector<float> penalties, penalty_biases;
  std::vector<std::int32_t> mask_rows, mask;
};

/// Normal logits among which some are at the ends of the formats.
std::uint32_t edited_logit(IntegerValues& random) {
  const auto w = static_cast<std::uint32_t>(random.word() >> 32);
  switch (random.below(16)) {
    case 0:
      return (w & 0x80ffffffu) | 0x7e000000u;  // 2^125 to FLT_MAX
    case 1:
      return w & 0x80ffffffu;  // below 2^-125
    case 2:
      return random.below(2) == 0 ? 0x7fc00000u : 0xff800000u;
    case 3:
      return random.below(2) == 0 ? 0xff7fffffu : 0x80000000u;
    case 4:
      return (w & 0x8001ffffu) | 0x477e0000u;  // around 65504
    default:
      return pattern(static_cast<float>(random.bell()) * 0x1p-14f) ^ (w & 0x3fu);
  }
}

float edited_bias(IntegerValues& random) {
  switch (random.below(8)) {
    case 0:
      return -std::numeric_limits<float>::infinity();
    case 1:
      return 3e38f;
    case 2:
      return -FLT_MAX;
    case 3:
      return 60000.0f;
    case 4:  // below 2^-125, subnormal ones among them
      return std::bit_cast<float>(static_cast<std::uint32_t>(random.word() >> 32) & 0x80ffffffu);
    default:
      return static_cast<float>(random.bell()) * 0x1p-13f;
  }
}

EditArrays make_edits(std::int64_t vocabulary) {
  IntegerValues random(static_cast<std::uint64_t>(vocabulary) + 1000);
  EditArrays edits;
  for (std::int64_t i = 0; i < edited_rows * vocabulary; ++i) {
    edits.logits.push_back(edited_logit(random));
  }
  for (std::int32_t row = 0; row < edited_rows; ++row) {
    edits.penalty_rows.push_back(row);
    for (const float penalty : penalty_table[row]) edits.penalties.push_back(penalty);
    for (std::int32_t token = row % 2; token < vocabulary; token += 2) {
      if (token % 6 < 2) {
        edits.bias_rows.push_back(row);
        edits.bias_tokens.push_back(token);
        edits.biases.push_back(edited_bias(random));
        continue;
      }
      const bool is_biased = token % 6 < 4;
      const auto count = 1 + random.below(token % 5 == 0 ? (1 << 26) : 20);
      edits.positions.push_back(row);
      edits.tokens.push_back(token);
      edits.counts.push_back(static_cast<std::int32_t>(count));
      edits.penalty_biases.push_back(is_biased ? edited_bias(random)
                                               : std::numeric_limits<float>::quiet_NaN());
    }
  }
  edits.mask_rows.resize(edited_rows);
  std::iota(edits.mask_rows.begin(), edits.mask_rows.end(), 0);
  edits.mask_rows.pop_back();
  edits.mask = random.words(edited_rows * ((vocabulary + 31) / 32), 1);
  return edits;
}

/// The arrays in device memory.
template <class Memory>
struct EditsOnDevice {
  explicit EditsOnDevice(const EditArrays& edits)
      : rows(on_device<Memory>(edits.bias_rows)),
        bias_tokens(on_device<Memory>(edits.bias_tokens)),
        biases(on_device<Memory>(edits.biases)),
        penalty_rows(on_device<Memory>(edits.penalty_rows)),
        positions(on_device<Memory>(edits.positions)),
        tokens(on_device<Memory>(edits.tokens)),
        counts(on_device<Memory>(edits.counts)),
        penalties(on_device<Memory>(edits.penalties, 3, 0, 0.0f)),
        penalty_biases(on_device<Memory>(edits.penalty_biases)),
        mask_rows(on_device<Memory>(edits.mask_rows)),
        mask(on_device<Memory>(edits.mask,
                               static_cast<std::int64_t>(edits.mask.size()) / edited_rows, 0,
                               std::int32_t{0})) {}

  Kokkos::View<std::int32_t*, Memory> rows, bias_tokens;
  Kokkos::View<float*, Memory> biases;
  Kokkos::View<std::int32_t*, Memory> penalty_rows, positions, tokens, counts;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> penalties;
  Kokkos::View<float*, Memory> penalty_biases;
  Kokkos::View<std::int32_t*, Memory> mask_rows;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> mask;
};

/// Logits in device memory that are edited and hashed.
template <class Space, class Logit>
class EditedLogits {
 public:
  using Memory = MemoryOf<Space>;

  EditedLogits(const EditArrays& edits, std::int64_t vocabulary)
      : m_vocabulary(vocabulary),
        m_storage(
            on_device<Memory>(cut_off<Logit>(edits.logits), vocabulary, 5, cut_off<Logit>(0u))),
        status("test::status", edited_rows) {}

  Matrix<Logit, Memory> view() const { return without_padding<Logit>(m_storage, m_vocabulary); }

  void add_to(GoldenResults& results, const Space& space, const char* stage, const char* way) {
    space.fence("tokkos::test::golden");
    std::vector<std::uint32_t> patterns;
    for (const Logit logit : on_host(m_storage)) patterns.push_back(pattern_in_memory(logit));
    const std::string name = std::string("edits/") + type_name<Logit>() + "/" +
                             std::to_string(m_vocabulary) + "/" + stage;
    results.add(name, ResultHash().add(patterns).add(on_host(status)), way);
  }

 private:
  std::int64_t m_vocabulary;
  Kokkos::View<Logit**, Kokkos::LayoutRight, Memory> m_storage;

 public:
  Kokkos::View<std::int32_t*, Memory> status;
};

template <class Logit, class Space>
void add_type(GoldenResults& results, const Space& space, std::int64_t vocabulary) {
  const EditArrays edits = make_edits(vocabulary);
  const EditsOnDevice<MemoryOf<Space>> on(edits);
  using Edited = EditedLogits<Space, Logit>;

  Edited apart(edits, vocabulary);
  apply_logit_bias_inplace(space, apart.view(), on.rows, on.bias_tokens, on.biases, apart.status);
  apart.add_to(results, space, "1_bias", "");
  apply_penalty_inplace(space, apart.view(), on.penalty_rows, on.positions, on.tokens, on.counts,
                        on.penalties, apart.status);
  apart.add_to(results, space, "2_penalties", "apply_penalty_inplace");

  Edited both(edits, vocabulary);
  apply_edits<Space, Logit>(space, both.view(), {on.rows, on.bias_tokens, on.biases},
                            {on.penalty_rows, on.positions, on.tokens, on.counts, on.penalties},
                            both.status);
  both.add_to(results, space, "2_penalties", "apply_edits");

  Edited merged(edits, vocabulary);
  apply_edits<Space, Logit>(
      space, merged.view(), {on.rows, on.bias_tokens, on.biases},
      {on.penalty_rows, on.positions, on.tokens, on.counts, on.penalties, on.penalty_biases},
      merged.status);
  merged.add_to(results, space, "3_penalties_with_biases", "");

  apply_bitmask_inplace(space, merged.view(), on.mask_rows, on.mask, {}, merged.status);
  merged.add_to(results, space, "4_mask", "");
  const BitmaskOptions options{vocabulary - 1, MaskedValue::negative_infinity};
  apply_bitmask_inplace(space, both.view(), on.mask_rows, on.mask, options, both.status);
  both.add_to(results, space, "5_mask_to_infinity", "");
}

/// Penalties and biases by each policy, and by all of them and two that there are not. Every third
/// token stands in the prompt alone, where the policy has that.
template <class Logit, class Space>
void add_policies(GoldenResults& results, const Space& space, std::int64_t vocabulary) {
  using Memory = MemoryOf<Space>;
  const EditArrays edits = make_edits(vocabulary);
  const EditsOnDevice<Memory> on(edits);
  const auto add = [&](const std::vector<std::int32_t>& policies, bool in_prompt, const char* stage,
                       const char* way) {
    auto counts = edits.counts;
    for (std::size_t i = 0; in_prompt && i < counts.size(); i += 3) counts[i] = 0;
    const auto policy = on_device<Memory>(policies);
    const auto count = on_device<Memory>(counts);
    EditedLogits<Space, Logit> edited(edits, vocabulary);
    apply_edits<Space, Logit>(
        space, edited.view(), {on.rows, on.bias_tokens, on.biases},
        {on.penalty_rows, on.positions, on.tokens, count, on.penalties, on.penalty_biases, policy},
        edited.status);
    edited.add_to(results, space, stage, way);
  };
  const auto of_all = [](PenaltyPolicy policy) {
    return std::vector<std::int32_t>(edited_rows, static_cast<std::int32_t>(policy));
  };
  add(of_all(PenaltyPolicy::seed), false, "3_penalties_with_biases", "policies");
  add(of_all(PenaltyPolicy::openai), true, "6_openai", "");
  add(of_all(PenaltyPolicy::hugging_face), true, "7_hugging_face", "");
  add(of_all(PenaltyPolicy::llama_cpp), false, "8_llama_cpp", "");
  std::vector<std::int32_t> mixed(edited_rows);
  std::iota(mixed.begin(), mixed.end(), -1);  // -1 to 6
  add(mixed, true, "9_policies", "");
}

}  // namespace

void add_edits(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results](const auto& space) {
        for (const std::int64_t vocabulary : {33, 5000}) {
          add_type<float>(results, space, vocabulary);
          add_policies<float>(results, space, vocabulary);
          add_type<bfloat16>(results, space, vocabulary);
          add_policies<bfloat16>(results, space, vocabulary);
          add_type<float16>(results, space, vocabulary);
          add_policies<float16>(results, space, vocabulary);
        }
      },
      any);
}

}  // namespace tokkos::test
