// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The same for what edits, truncates, draws several times, lists and scores: a row that is poisoned
// in its logits, parameters or edits ends in a status of its own, and no neighbour changes by a
// bit.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "bad_inputs/poisoned_batch.hpp"
#include "engine/result_bits.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t draws = 2;   // of each row
constexpr std::int64_t listed = 3;  // tokens of each row

/// A batch with what else a row can have, one of each.
struct Step {
  Poisoned rows;
  std::vector<std::int32_t> top_k;
  std::vector<float> top_p, min_p;
  std::vector<float> uniforms;  // [n, draws]
  std::vector<TokenId> given;   // [n, 1]
  std::vector<std::int32_t> bias_rows;
  std::vector<TokenId> bias_tokens;
  std::vector<float> biases;
  std::vector<TokenId> penalty_tokens;
  std::vector<std::int32_t> counts;
  std::vector<float> penalties;  // [n, 3]
};

Step random_step(std::mt19937_64& random) {
  Step step;
  step.rows = random_batch(random);
  const auto active = static_cast<std::uint64_t>(step.rows.batch.active);
  for (std::int32_t row = 0; row < step.rows.batch.rows(); ++row) {
    step.top_k.push_back(static_cast<std::int32_t>(random() % 8));
    step.top_p.push_back(0.25f + 0.25f * static_cast<float>(random() % 4));
    step.min_p.push_back(random() % 2 == 0 ? 0.0f : 0.01f);
    for (int i = 0; i < draws; ++i) {
      step.uniforms.push_back(static_cast<float>(random() % 4096) / 4096);
    }
    step.given.push_back(static_cast<TokenId>(random() % active));
    const auto token = static_cast<TokenId>(random() % active);
    step.bias_rows.push_back(row);
    step.bias_tokens.push_back(token);
    step.biases.push_back(static_cast<float>(random() % 9) - 4.0f);
    step.penalty_tokens.push_back(static_cast<TokenId>((token + 1) % active));
    step.counts.push_back(1 + static_cast<std::int32_t>(random() % 3));
    for (const float penalty : {0.5f, 0.25f, 1.5f}) step.penalties.push_back(penalty);
  }
  return step;
}

/// Poisons a row in one of the ways of a batch, or of what this one has beside it.
void poison(Step& step, std::size_t row, std::mt19937_64& random) {
  const auto one_of = [&](auto first, auto second, auto third) {
    return random() % 3 == 0 ? first : (random() % 2 == 0 ? second : third);
  };
  std::int32_t status = RowStatus::invalid_parameter;
  switch (random() % 10) {
    case 0:
      step.top_k[row] = one_of(-1, -1000, -2147483647);
      break;
    case 1:
      step.top_p[row] = one_of(not_a_number, 0.0f, 1.5f);
      break;
    case 2:
      step.min_p[row] = one_of(not_a_number, -0.5f, infinity);
      break;
    case 3:
      step.uniforms[row * draws + 1] = not_a_number;
      break;
    case 4:
      step.bias_tokens[row] = one_of(-1, 1 << 20, -2147483647);
      status = RowStatus::invalid_edit;
      break;
    case 5:
      step.biases[row] = one_of(not_a_number, infinity, -not_a_number);
      status = RowStatus::invalid_edit;
      break;
    case 6:
      step.penalty_tokens[row] = one_of(-7, 1 << 30, -1);
      status = RowStatus::invalid_edit;
      break;
    case 7:
      step.counts[row] = one_of(0, -1, -2147483647);
      status = RowStatus::invalid_edit;
      break;
    case 8:
      step.penalties[row * 3 + random() % 3] = one_of(not_a_number, infinity, -infinity);
      status = RowStatus::invalid_edit;
      break;
    default:
      poison(step.rows, row, random);
      // This step has uniforms of its own.
      if (step.rows.uniforms[row] == step.rows.uniforms[row]) return;
      step.uniforms[row * draws] = not_a_number;
  }
  step.rows.status[row] = status;
}

struct Results {
  std::vector<Bits> rows;  // everything that is said of each
  std::vector<std::int32_t> status;
  std::vector<TokenId> tokens;  // [n, draws]
  bool padding_is_untouched = true;
};

template <class Row>
Results results_of(const Step& step) {
  using Space = typename Row::execution_space;
  using Memory = typename Row::memory_space;
  const DeviceRows<Row> device(step.rows.batch);
  const std::int64_t n = step.rows.batch.rows();
  const auto rows = static_cast<std::size_t>(n);
  std::vector<std::int32_t> all(rows);
  for (std::size_t i = 0; i < rows; ++i) all[i] = static_cast<std::int32_t>(i);
  const auto matrix = [](const auto& values, std::int64_t columns) {
    return on_device<Memory>(values, columns, 0, values[0]);
  };
  const Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory> tokens("test::tokens", rows, draws);
  const Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory> top("test::top", rows, listed);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> top_logprobs("test::top", rows, listed);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logprobs("test::logprobs", rows, 1);
  const Space space;
  const auto biases = on_device<Memory>(step.biases);
  const auto bias_rows = on_device<Memory>(step.bias_rows);
  const auto bias_tokens = on_device<Memory>(step.bias_tokens);
  PenaltyEdits<Memory> penalties;
  const auto seq_ids = on_device<Memory>(all);
  const auto penalty_tokens = on_device<Memory>(step.penalty_tokens);
  const auto counts = on_device<Memory>(step.counts);
  const auto numbers = matrix(step.penalties, 3);
  penalties.seq_ids = seq_ids;
  penalties.pos2seq_id = seq_ids;
  penalties.token_ids = penalty_tokens;
  penalties.token_cnt = counts;
  penalties.penalties = numbers;
  apply_edits<Space, typename Row::logit>(
      space, device.block().logits(), {bias_rows, bias_tokens, biases}, penalties, device.status);
  measure(space, device.rows, device.measures, device.status);
  const CutsWorkspace<Memory> workspace(n);
  const RowCuts<Memory> cuts = workspace.cuts(n);
  const auto top_k = on_device<Memory>(step.top_k);
  const auto top_p = on_device<Memory>(step.top_p);
  const auto min_p = on_device<Memory>(step.min_p);
  const Truncation<Memory> truncation{top_k, top_p, min_p};
  truncate(space, device.rows, device.measures, truncation, cuts, device.status);
  const auto uniforms = matrix(step.uniforms, draws);
  const auto given = matrix(step.given, 1);
  draw_tokens<Space, typename Row::logit>(space, device.rows, device.measures, uniforms, tokens,
                                          cuts, device.status);
  top_log_probabilities<Space, typename Row::logit>(space, device.rows, device.measures, top,
                                                    top_logprobs, cuts);
  log_probabilities<Space, typename Row::logit>(
      space, device.rows, device.measures, Matrix<const TokenId, Memory>(given),
      Matrix<float, Memory>(logprobs), cuts, device.status);
  normalize_truncated(space, device.rows, device.measures, cuts, device.probabilities);
  space.fence("tokkos::test::results_of");

  RowResults read;
  device.read_probabilities(read);
  Results results;
  results.status = on_host(device.status);
  results.tokens = on_host(tokens);
  results.padding_is_untouched = read.padding_is_untouched;
  const auto lists = on_host(top);
  const auto list_values = on_host(top_logprobs);
  const auto values = on_host(logprobs);
  const auto part = [](const auto& from, std::size_t row, std::int64_t width) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(row) * width;
    return std::vector(first, first + width);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    Bits& bits = results.rows.emplace_back();
    append(bits, part(read.probabilities, i, step.rows.batch.vocabulary));
    append(bits, part(results.tokens, i, draws));
    append(bits, part(lists, i, listed));
    append(bits, part(list_values, i, listed));
    append(bits, std::vector{values[i]});
  }
  return results;
}

template <class Row>
void check_steps(int steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int number = 0; number < steps; ++number) {
    CAPTURE(number, seed);
    const Step good = random_step(random);
    Step bad = good;
    const std::size_t rows = bad.top_k.size();
    const std::size_t poisoned = 1 + random() % (rows - 1);
    for (std::size_t i = 0; i < poisoned; ++i) {
      const std::size_t row = random() % rows;
      if (bad.rows.status[row] == 0) poison(bad, row, random);
    }
    store_masks<typename Row::logit>(bad.rows.batch);
    count_bad_value(std::ranges::count_if(bad.rows.status, [](int bits) { return bits != 0; }));
    const Results before = results_of<Row>(good);
    const Results after = results_of<Row>(bad);
    REQUIRE(after.padding_is_untouched);
    REQUIRE(before.status == good.rows.status);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool is_greedy = bad.rows.batch.temperature[i] == 0.0f;
      const bool limits_only = is_greedy && after.status[i] == 0;  // a greedy row has no limits
      if (!limits_only) REQUIRE((after.status[i] & bad.rows.status[i]) == bad.rows.status[i]);
      if (bad.rows.status[i] == 0) {
        REQUIRE(after.status[i] == 0);
        REQUIRE(after.rows[i] == before.rows[i]);
      }
      const bool is_usable = (after.status[i] & unusable_row) == 0;
      for (int d = 0; d < draws; ++d) {
        const TokenId token = after.tokens[i * draws + static_cast<std::size_t>(d)];
        REQUIRE((is_usable ? token >= 0 && token < bad.rows.batch.active : token == -1));
      }
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "a row with bad limits, edits or draws gets its status and no neighbour changes",
    "[row-32][row-34][row-35][row-38][row-59]", Backends) {
  check_steps<TestType>(150, 3);
}

TEMPLATE_LIST_TEST_CASE(
    "a row with bad limits, edits or draws changes no neighbour in ten thousand batches",
    "[row-59][slow]", Backends) {
  check_steps<TestType>(10000, 4);
}

}  // namespace tokkos::test
