// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/verify_greedy.hpp>
#include <tokkos/numerics/chunk.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/golden_trees.hpp"
#include "sameness/integer_values.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

constexpr int trees_per_batch = 20;

/// Draft trees with logits at every node.
struct GreedyInputs {
  Trees trees;
  std::vector<std::uint32_t> logits;  ///< [nodes, V] float32 patterns
  std::vector<std::int32_t> bitmask;  ///< [nodes, words]
  std::int64_t words = 0;
};

/// A row that two tokens lead, by a little or far; or one of the kind as it is.
std::vector<std::uint32_t> led_row(IntegerValues& random, std::int64_t vocabulary,
                                   std::int32_t& leader) {
  const auto kind = static_cast<RowKind>(random.below(row_kinds));
  auto row = golden_row(kind, vocabulary, random.word());
  leader = static_cast<std::int32_t>(random.below(vocabulary));
  const auto other = static_cast<std::size_t>(random.below(vocabulary));
  std::uint32_t most = pattern(11000.0f);  // above all kinds, and below float16's infinity
  if (kind == RowKind::subnormal) most = 0x007fffffu;
  row[static_cast<std::size_t>(leader)] = most;
  if (random.below(3) == 0) {
    row[other] = most;
    if (static_cast<std::int32_t>(other) < leader) leader = static_cast<std::int32_t>(other);
  }
  return row;
}

GreedyInputs make_inputs(std::int64_t vocabulary) {
  IntegerValues random(static_cast<std::uint64_t>(vocabulary) + 6000);
  GreedyInputs inputs;
  Trees& trees = inputs.trees;
  trees = make_trees(vocabulary, 7, trees_per_batch);
  for (std::size_t node = 0; node < trees.tokens.size(); ++node) {
    std::int32_t leader = 0;
    const auto row = led_row(random, vocabulary, leader);
    inputs.logits.insert(inputs.logits.end(), row.begin(), row.end());
    for (std::int32_t child = trees.first_child[node]; child >= 0;
         child = trees.next_sibling[static_cast<std::size_t>(child)]) {
      auto& token = trees.tokens[static_cast<std::size_t>(child)];
      if (random.below(3) != 0) token = leader;
      if (random.below(50) == 0) token = static_cast<std::int32_t>(vocabulary);
    }
  }
  trees.next_sibling[3 * nodes_per_tree + 1] = -5;
  trees.first_child[5 * nodes_per_tree] = 0;
  inputs.words = (vocabulary + 31) / 32;
  inputs.bitmask = random.words(static_cast<std::int64_t>(trees.tokens.size()) * inputs.words, 1);
  for (auto& word : inputs.bitmask) word |= static_cast<std::int32_t>(random.word() >> 33);
  return inputs;
}

template <class Logit, class Space>
void add_type(GoldenResults& results, const Space& space, const GreedyInputs& inputs) {
  using Memory = MemoryOf<Space>;
  const Trees& trees = inputs.trees;
  const std::int64_t vocabulary = trees.vocabulary;
  const auto logits =
      on_device<Memory>(cut_off<Logit>(inputs.logits), vocabulary, 5, cut_off<Logit>(0u));
  const auto words = on_device<Memory>(inputs.bitmask, inputs.words, 1, std::int32_t{-1});
  const auto tokens = on_device<Memory>(trees.tokens);
  const auto first_child = on_device<Memory>(trees.first_child);
  const auto next_sibling = on_device<Memory>(trees.next_sibling);
  for (const bool is_masked : {false, true}) {
    LogitRows<Logit, Memory> rows;
    rows.logits = without_padding<const Logit>(logits, vocabulary);
    if (is_masked) {
      rows.bitmask.words = without_padding<const std::int32_t>(words, inputs.words);
      rows.active_vocabulary = vocabulary - vocabulary / 40;
    }
    const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Memory> maxima(
        "test::maxima", trees.tokens.size(), static_cast<std::size_t>(chunk_count(vocabulary)));
    for (const bool shared : {false, true}) {
      const auto parent = on_device<Memory>(trees.roots);
      const Kokkos::View<std::int32_t*, Memory> accepted("test::accepted", trees_per_batch);
      const Kokkos::View<TokenId*, Memory> bonus("test::bonus", trees_per_batch);
      const Kokkos::View<std::int32_t*, Memory> status("test::status", trees_per_batch);
      GreedyTrees<Memory> result{accepted, bonus, status};
      if (shared) result.chunk_maxima = maxima;
      verify_greedy(space, rows, tokens, {first_child, next_sibling, parent}, result);
      space.fence("tokkos::test::golden");
      ResultHash hash;
      hash.add(on_host(parent)).add(on_host(accepted)).add(on_host(bonus)).add(on_host(status));
      results.add(std::string("verify_greedy/") + type_name<Logit>() + "/" +
                      std::to_string(vocabulary) + (is_masked ? "/active" : "/all"),
                  hash, shared ? "shared maxima" : "a team a tree");
    }
  }
}

}  // namespace

void add_greedy_verifications(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results](const auto& space) {
        for (const std::int64_t vocabulary : {3, 33, 4097, 9000}) {
          const GreedyInputs inputs = make_inputs(vocabulary);
          add_type<float>(results, space, inputs);
          add_type<bfloat16>(results, space, inputs);
          add_type<float16>(results, space, inputs);
        }
      },
      any);
}

}  // namespace tokkos::test
