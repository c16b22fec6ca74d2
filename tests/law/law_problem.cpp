// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/law_problem.hpp"

#include <algorithm>
#include <numeric>

namespace tokkos::test {

namespace {

/// SplitMix64 (Steele, Lea and Flood): a stream for each key.
class SmallRandom {
 public:
  explicit SmallRandom(std::uint64_t key) : m_state(key * 0x9e3779b97f4a7c15ull) {}

  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t z = m_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return ((z ^ (z >> 31)) >> 11) % bound;
  }

 private:
  std::uint64_t m_state;
};

/// A random row: some have holes, some a single token.
WholeRow random_row(int vocabulary, std::uint64_t total, SmallRandom& random) {
  const auto size = static_cast<std::uint64_t>(vocabulary);
  WholeRow row{std::vector<std::uint64_t>(size, 0), total};
  const std::uint64_t kind = random.below(8);
  if (kind == 0) {
    row.weight[random.below(size)] = total;
    return row;
  }
  std::vector<bool> hole(size, false);
  for (std::uint64_t i = 0; kind <= 3 && i + 1 < size; ++i) hole[i] = random.below(3) == 0;
  std::uint64_t left = total;
  for (std::uint64_t v = 0; v < size; ++v) {
    if (hole[v]) continue;
    row.weight[v] = 1;
    --left;
  }
  while (left > 0) {
    const std::uint64_t v = random.below(size);
    if (hole[v]) continue;
    const std::uint64_t step = std::min(left, 1 + random.below(1 + total / 4));
    row.weight[v] += step;
    left -= step;
  }
  return row;
}

}  // namespace

std::vector<float> WholeRow::probabilities() const {
  std::vector<float> row;
  for (const std::uint64_t w : weight) {
    row.push_back(total == 0 ? 0.0f : static_cast<float>(w) / static_cast<float>(total));
  }
  return row;
}

LawTables::LawTables(const LawProblem& problem) : m_vocabulary(problem.vocabulary) {
  // Totals that are no power of two round every probability.
  const bool even = problem.seed % 2 == 0 || problem.drafting == Drafting::shared_stream;
  std::size_t prefixes = 1;
  for (int depth = 0; depth < problem.shape.height(); ++depth) {
    prefixes = after(prefixes - 1, m_vocabulary - 1) + 1;
  }
  for (std::size_t prefix = 0; prefix < prefixes; ++prefix) {
    SmallRandom random(problem.seed * 1000003 + prefix);
    m_draft.push_back(random_row(m_vocabulary, even ? 16 : 15, random));
    m_target.push_back(random_row(problem.target_vocabulary(), even ? 64 : 45, random));
    m_target.back().weight.resize(static_cast<std::size_t>(m_vocabulary), 0);
    if (random.below(9) == 0 && even && problem.active == 0) {  // nothing is left by a rejection
      m_target.back() = m_draft.back();
      for (std::uint64_t& w : m_target.back().weight) w *= 4;
      m_target.back().total *= 4;
    }
    if (problem.target == Target::table) continue;
    m_unedited.emplace_back();
    m_allowed.emplace_back();
    for (int v = 0; v < m_vocabulary; ++v) {
      m_unedited.back().push_back(1 + random.below(60));
      m_allowed.back().push_back(random.below(3) != 0);
    }
    m_allowed.back()[random.below(static_cast<std::uint64_t>(m_vocabulary))] = true;
    std::vector<int> path;
    for (std::size_t p = prefix; p != 0; p = before(p)) {
      path.insert(path.begin(), static_cast<int>(p - after(before(p), 0)));
    }
    edit(prefix, path);
  }
}

std::vector<std::int32_t> LawTables::history() const {
  return {0, 1 % m_vocabulary, 0};
}

/// A token that was generated c > 0 times has a logit log(w / 64) - log(2) (1 + c) < 0, which the
/// repetition penalty 2 doubles: w / 64 becomes (w / 2^(7 + c))^2, here in units of 2^-30.
void LawTables::edit(std::size_t prefix, const std::vector<int>& path) {
  WholeRow& row = m_target[prefix];
  std::vector<int> count(static_cast<std::size_t>(m_vocabulary), 0);
  for (const std::int32_t token : history()) ++count[token];
  bool refused = false;
  std::size_t walked = 0;
  for (const int token : path) {
    ++count[token];
    refused = refused || !m_allowed[walked][token];
    walked = after(walked, token);
  }
  for (int v = 0; v < m_vocabulary; ++v) {
    const std::uint64_t w = m_unedited[prefix][v];
    const std::uint64_t edited = count[v] == 0 ? w << 24 : (w * w) << (16 - 2 * count[v]);
    row.weight[v] = refused || !m_allowed[prefix][v] ? 0 : edited;
  }
  row.total = std::accumulate(row.weight.begin(), row.weight.end(), std::uint64_t{0});
}

}  // namespace tokkos::test
