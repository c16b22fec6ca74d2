// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Trees too large to enumerate: drafts and uniforms are drawn, and the emitted sequences counted.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "law/target_rows.hpp"
#include "law/tree_batch.hpp"
#include "reference/chi_square.hpp"

namespace tokkos::test {
namespace {

constexpr double level = 1e-9;  // of a chi-square test
constexpr int vocabulary = 12;
constexpr int trees_per_call = 4000;

/// Four children, of which three have children of their own: 11 drafted nodes.
TreeShape bush() {
  return {{-1, 0, 1, 1, 0, 4, 4, 4, 0, 8, 8, 0}};
}

/// A token by a row's weights.
int draw(const WholeRow& row, std::mt19937_64& random) {
  std::uint64_t point = random() % row.total;
  int token = 0;
  for (; point >= row.weight[token]; ++token) point -= row.weight[token];
  return token;
}

/// Sequences of `length` tokens, whose numbers begin at `first`, and their probabilities.
class Sequences {
 public:
  Sequences(const LawTables& tables, int length) : m_tables(tables) {
    std::size_t end = 1;
    for (int i = 0; i < length; ++i) {
      m_first = tables.after(m_first, 0);
      end = tables.after(end - 1, vocabulary - 1) + 1;
    }
    m_number_of.assign(end - m_first, -1);
    enumerate(0, 1.0);
  }

  /// Completes the prefix as the target would and counts the sequence. False if it cannot be.
  bool count(std::size_t prefix, std::mt19937_64& random) {
    while (prefix < m_first) {
      if (m_tables.target(prefix).total == 0) return false;
      prefix = m_tables.after(prefix, draw(m_tables.target(prefix), random));
    }
    const std::int64_t sequence = m_number_of[prefix - m_first];
    if (sequence >= 0) ++m_counts[static_cast<std::size_t>(sequence)];
    return sequence >= 0;
  }

  const std::vector<double>& probabilities() const { return m_probabilities; }
  const std::vector<std::int64_t>& counts() const { return m_counts; }

 private:
  void enumerate(std::size_t prefix, double probability) {
    if (prefix >= m_first) {
      m_number_of[prefix - m_first] = static_cast<std::int64_t>(m_counts.size());
      m_counts.push_back(0);
      m_probabilities.push_back(probability);
      return;
    }
    const WholeRow& row = m_tables.target(prefix);
    for (int v = 0; v < vocabulary; ++v) {
      if (row.weight[v] == 0) continue;
      const double share = static_cast<double>(row.weight[v]) / static_cast<double>(row.total);
      enumerate(m_tables.after(prefix, v), probability * share);
    }
  }

  const LawTables& m_tables;
  std::size_t m_first = 0;
  std::vector<std::int64_t> m_number_of;  // number of each possible sequence, -1 for the others
  std::vector<double> m_probabilities;
  std::vector<std::int64_t> m_counts;
};

struct Sampled {
  std::int64_t forbidden = 0;
  double share = 0;  // of chi-square variables above the statistic
  double power = 0;  // of finding out a total variation of 2%
};

Sampled sample(const LawProblem& problem, int samples, std::mt19937_64& random) {
  const LawTables tables(problem);
  Sequences sequences(tables, problem.shape.height() + 1);
  Sampled result;
  for (int done = 0; done < samples; done += trees_per_call) {
    std::vector<LawDraft> drafts;
    for (int i = 0; i < trees_per_call; ++i)
      drafts.push_back(random_draft(problem, tables, random));
    fill_target_rows(problem, tables, drafts);
    TreeBatch batch(problem);
    const auto uniform = [&]() { return static_cast<std::int64_t>(random() >> 40); };
    for (const LawDraft& draft : drafts) {
      const int tree = batch.add(draft);
      for (int node = 0; node < draft.tree.nodes(); ++node) {
        batch.set_uniform(tree, node, uniform());
      }
      batch.set_bonus_uniform(tree, uniform());
    }
    const std::vector<TreeEnd> ends = batch.verify(verify_by_kernel);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const bool emits = ends[i].node >= 0 && ends[i].bonus >= 0;
      const bool is_possible =
          emits &&
          sequences.count(tables.after(drafts[i].prefix[ends[i].node], ends[i].bonus), random);
      result.forbidden += is_possible ? 0 : 1;
    }
  }
  const OutcomeGroups groups(sequences.probabilities(), samples);
  result.share = chi_square_above(groups.against_law(sequences.counts()), groups.degrees());
  result.power = groups.power_against_law(2e-2, level);
  return result;
}

}  // namespace

TEST_CASE("sequences sampled through large trees follow the target's law", "[law][slow]") {
  const Drafting drafting =
      GENERATE(Drafting::with_replacement, Drafting::shared_row, Drafting::without_replacement,
               Drafting::shared_row_without_replacement, Drafting::chosen, Drafting::mixed,
               Drafting::mixed_without_replacement);
  const Target target = GENERATE(Target::table, Target::edited);
  const std::uint64_t seed = 3;
  std::mt19937_64 random(seed);
  const Sampled sampled = sample({vocabulary, bush(), drafting, target, seed}, 500000, random);
  CAPTURE(static_cast<int>(drafting), static_cast<int>(target), sampled.power);
  std::printf("law: sampled, way %d, target %d: %.3g of samples would lie farther off\n",
              static_cast<int>(drafting), static_cast<int>(target), sampled.share);
  CHECK(sampled.power > 0.99);
  CHECK(sampled.forbidden == 0);
  CHECK(sampled.share > level);
}

TEST_CASE("control: sampling tells a law that is broken", "[law][slow]") {
  std::mt19937_64 random(5);
  for (const Drafting drafting :
       {Drafting::same_row_without_replacement, Drafting::zeroed_row_without_replacement,
        Drafting::dropped_duplicates, Drafting::chosen_with_softmax}) {
    const LawProblem problem{vocabulary, bush(), drafting, Target::table, 4};
    CAPTURE(static_cast<int>(drafting));
    CHECK(sample(problem, 200000, random).share < 1e-12);
  }
}

}  // namespace tokkos::test
