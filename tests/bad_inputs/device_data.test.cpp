// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Arrays that only the device sees, filled with numbers of any kind: nothing is written outside the
// outputs, every loop ends, and a token is one that exists or -1 with a status.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/verify_greedy.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "kernels/row_batch.hpp"
#include "kernels/verify_case_on_device.hpp"

namespace tokkos::test {
namespace {

constexpr std::int32_t known_bits = 511;

/// Numbers of every kind: mostly legal ones below `end`, at times anything.
class RawData {
 public:
  explicit RawData(std::uint64_t seed) : m_random(seed) {}

  std::size_t below(std::size_t end) { return m_random() % end; }
  bool is_rare() { return m_random() % 8 == 0; }

  std::int32_t index(std::int64_t end) {
    if (!is_rare()) return static_cast<std::int32_t>(below(static_cast<std::size_t>(end) + 1)) - 1;
    count_bad_value();
    constexpr std::int32_t edges[] = {-2, std::numeric_limits<std::int32_t>::min(),
                                      std::numeric_limits<std::int32_t>::max(), 1 << 20};
    const auto choice = below(6);
    if (choice < 4) return edges[choice];
    return choice == 4 ? static_cast<std::int32_t>(end) : static_cast<std::int32_t>(m_random());
  }
  float unit() {
    if (!is_rare()) return static_cast<float>(m_random() >> 40) * 0x1p-24f;
    count_bad_value();
    return any_float();
  }
  float any_float() { return std::bit_cast<float>(static_cast<std::uint32_t>(m_random())); }
  float logit() {
    return is_rare() && is_rare() ? any_float() : static_cast<float>(below(160)) / 8 - 10;
  }

 private:
  std::mt19937_64 m_random;
};

/// Trees whose links, tokens, roots, uniforms and probabilities are raw.
VerifyCase raw_trees(RawData& raw) {
  VerifyCase data;
  data.vocabulary = 2 + static_cast<int>(raw.below(60));
  const std::size_t nodes = 1 + raw.below(12), batch = 1 + raw.below(4);
  const auto end = static_cast<std::int64_t>(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    data.draft_tokens.push_back(raw.index(data.vocabulary));
    data.first_child.push_back(raw.index(end));
    data.next_sibling.push_back(raw.index(end));
    data.uniforms.push_back(raw.unit());
    data.row_of_node.push_back(raw.index(end));
  }
  if (raw.below(2) == 0) data.row_of_node.clear();
  data.without_replacement = raw.below(3) == 0;
  const bool spoilt = raw.below(3) == 0;
  for (std::vector<float>* rows : {&data.draft_probs, &data.model_probs}) {
    for (std::size_t i = 0; i < nodes * data.width(); ++i) {
      const float p = 1.0f / static_cast<float>(data.vocabulary);
      rows->push_back(spoilt && raw.is_rare() ? raw.any_float() : p);
    }
  }
  for (std::size_t b = 0; b < batch; ++b) {
    data.roots.push_back(raw.index(end));
    data.bonus_uniforms.push_back(raw.unit());
  }
  return data;
}

void check_walk(const VerifyCase& data, const Verified& verified, bool draws) {
  CHECK(verified.guards_intact);
  for (std::size_t b = 0; b < data.roots.size(); ++b) {
    const std::int32_t status = verified.status[b];
    CHECK((status & ~known_bits) == 0);
    const std::int32_t end = verified.parent_ptr[b];
    const bool is_node = end >= 0 && end < data.nodes();
    CHECK((is_node || ((status & RowStatus::broken_tree) != 0 && end == data.roots[b])));
    if (!draws) continue;
    CHECK(verified.accepted[b] >= 0);
    CHECK(verified.accepted[b] <= data.nodes());
    const TokenId bonus = verified.bonus_tokens[b];
    CHECK(bonus >= -1);
    CHECK(bonus < data.vocabulary);
    if (bonus == -1) CHECK(status != 0);
    if ((status & (unusable_row | RowStatus::broken_tree)) != 0) CHECK(bonus == -1);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("trees of raw numbers end within their arrays",
                        "[row-38][row-40][row-44][row-45][row-46]", ExecutionSpaces) {
  RawData raw(1);
  const TestType space;
  int apart = 0;
  for (int number = 0; number < 1500; ++number) {
    CAPTURE(number);
    const VerifyCase data = raw_trees(raw);
    VerifyCaseOnDevice<TestType> on_device(data, raw.below(4));
    if (are_apart(data)) {
      ++apart;
      check_walk(data, on_device.lossless(space), true);
    } else {
      // What trees with a node in common draw may differ from call to call: nothing to compare.
      check_walk(data, on_device.verify(space, on_device.trees(), 0), true);
      VerifyCaseOnDevice<TestType> with_shared_sums(data, raw.below(4));
      check_walk(data, with_shared_sums.verify(space, with_shared_sums.trees(), shared_sums), true);
    }
    VerifyCaseOnDevice<TestType> again(data, raw.below(4));
    check_walk(data, again.by_seed_rule(space), false);
  }
  CHECK(apart >= 300);
}

TEMPLATE_LIST_TEST_CASE("greedy walks of raw trees end within their arrays",
                        "[row-40][row-44][row-45]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  RawData raw(2);
  const TestType space;
  for (int number = 0; number < 1000; ++number) {
    CAPTURE(number);
    VerifyCase data = raw_trees(raw);
    for (float& x : data.model_probs) x = raw.logit();
    const auto nodes = static_cast<std::size_t>(data.nodes()), batch = data.roots.size();
    std::vector<std::int32_t> row_index;
    for (std::size_t i = 0; i < nodes; ++i) row_index.push_back(raw.index(data.nodes()));
    Guarded<float, Memory> logits(nodes, data.width(), 3, data.model_probs);
    const Guarded<std::int32_t, Memory> tokens(data.draft_tokens), child(data.first_child),
        sibling(data.next_sibling), rows(row_index);
    Guarded<std::int32_t, Memory> ends(data.roots), accepted(batch), bonus(batch), status(batch);
    LogitRows<float, Memory> step;
    step.logits = logits.matrix();
    if (number % 2 == 0) step.row_index = rows.vector();
    verify_greedy(space, step, tokens.vector(),
                  TokenTrees<Memory>{child.vector(), sibling.vector(), ends.vector()},
                  GreedyTrees<Memory>{accepted.vector(), bonus.vector(), status.vector()});
    space.fence("tokkos::test::verified");
    Verified verified{ends.values(), accepted.values(), bonus.values(), status.values(),
                      logits.values()};
    verified.guards_intact = ends.guards_intact() && accepted.guards_intact() &&
                             bonus.guards_intact() && status.guards_intact() &&
                             logits.guards_intact();
    check_walk(data, verified, true);
  }
}

TEMPLATE_LIST_TEST_CASE("rows of raw numbers give tokens that exist, or -1 with a status",
                        "[row-22][row-23][row-25][row-28][row-38]", ExecutionSpaces) {
  RawData raw(3);
  for (int number = 0; number < 1500; ++number) {
    CAPTURE(number);
    RowBatch batch;
    batch.vocabulary = 1 + static_cast<std::int64_t>(raw.below(number % 50 == 0 ? 9000 : 100));
    batch.active = 1 + static_cast<std::int64_t>(raw.below(batch.vocabulary));
    const std::size_t stored = 1 + raw.below(5), rows = 1 + raw.below(6), masks = 1 + raw.below(3);
    for (std::size_t i = 0; i < stored * static_cast<std::size_t>(batch.vocabulary); ++i) {
      batch.logits.push_back(raw.logit());
    }
    batch.words = (batch.active + 31) / 32;
    for (std::size_t i = 0; i < masks * static_cast<std::size_t>(batch.words); ++i) {
      batch.bitmask.push_back(static_cast<std::int32_t>(raw.below(1ull << 32)));
    }
    batch.temperature.clear();
    std::vector<float> uniforms;
    for (std::size_t i = 0; i < rows; ++i) {
      batch.row_index.push_back(raw.index(static_cast<std::int64_t>(stored)));
      batch.mask_index.push_back(raw.index(static_cast<std::int64_t>(masks)));
      batch.temperature.push_back(raw.unit());
      uniforms.push_back(raw.unit());
    }
    const RowResults found = verbs_of<Backend<TestType, float>>(batch, uniforms);
    CHECK(found.padding_is_untouched);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool usable = (found.status[i] & unusable_row) == 0;
      CHECK((found.status[i] & ~known_bits) == 0);
      CHECK((found.tokens[i] >= 0) == usable);
      CHECK(found.tokens[i] < batch.active);
      double sum = 0;
      bool legal = true;
      for (std::int64_t v = 0; v < batch.vocabulary; ++v) {
        const float p = found.probabilities[i * static_cast<std::size_t>(batch.vocabulary) +
                                            static_cast<std::size_t>(v)];
        legal = legal && p >= 0 && p <= 1 && (v < batch.active || p == 0);
        sum += p;
      }
      CHECK(legal);
      CHECK(std::abs(sum - (usable ? 1 : 0)) < 1e-5);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("given probabilities of any bits give a token that exists, or -1",
                        "[row-38][row-39]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  RawData raw(4);
  const TestType space;
  int refused = 0;
  for (int number = 0; number < 1000; ++number) {
    CAPTURE(number);
    const std::size_t rows = 1 + raw.below(5), vocabulary = 1 + raw.below(80);
    std::vector<float> p(rows * vocabulary, 1.0f / static_cast<float>(vocabulary)), u;
    for (float& value : p) {
      if (raw.is_rare() && raw.is_rare() && raw.is_rare()) value = raw.any_float();
    }
    for (std::size_t i = 0; i < rows; ++i) u.push_back(raw.unit());
    Guarded<float, Memory> probabilities(rows, vocabulary, 2, p);
    const Guarded<float, Memory> uniforms(u);
    Guarded<std::int32_t, Memory> tokens(rows), status(rows);
    sample_from_probabilities(space, probabilities.matrix(), uniforms.vector(), tokens.vector(),
                              status.vector());
    space.fence("tokkos::test::sampled");
    const std::vector<std::int32_t> drawn = tokens.values(), bits = status.values();
    CHECK((tokens.guards_intact() && status.guards_intact()));
    for (std::size_t i = 0; i < rows; ++i) {
      CHECK((drawn[i] >= 0) == (bits[i] == 0));
      CHECK(drawn[i] >= -1);
      CHECK(drawn[i] < static_cast<TokenId>(vocabulary));
      refused += bits[i] != 0 ? 1 : 0;
    }
  }
  CHECK(refused > 100);
}

}  // namespace tokkos::test
