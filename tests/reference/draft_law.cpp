// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/draft_law.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace tokkos::test {

namespace {

using Row = std::vector<float>;
using Tokens = std::vector<std::int32_t>;

constexpr std::int64_t uniforms_count = std::int64_t{1} << 24;
constexpr float largest_uniform = 1.0f - 0x1p-24f;

/// A distribution after `prefix` in 64ths, so that it sums to 1 exactly; `kind` 0 target, 1 draft.
Row distribution(const DraftProblem& problem, const Tokens& prefix, int kind) {
  std::uint64_t key = problem.seed * 2 + static_cast<std::uint64_t>(kind);
  for (const std::int32_t token : prefix) key = key * 31 + static_cast<std::uint64_t>(token) + 7;
  std::mt19937_64 random(key);
  Row row(static_cast<std::size_t>(problem.vocabulary), 0.0f);
  // Of the target, every other row forbids a token.
  const bool has_hole = kind == 0 && problem.vocabulary > 2 && random() % 2 == 0;
  const std::size_t hole = has_hole ? random() % row.size() : row.size();
  int left = 64;
  for (std::size_t v = 0; v < row.size(); ++v) {
    if (v == hole) continue;
    row[v] = 1;
    --left;
  }
  while (left > 0) {
    const std::size_t v = random() % row.size();
    const int step = std::min<int>(left, 1 + static_cast<int>(random() % 16));
    if (v == hole) continue;
    row[v] += static_cast<float>(step);
    left -= step;
  }
  for (float& p : row) p /= 64;
  return row;
}

/// One draft tree: tokens and rows that were drawn, with their probability.
struct Draft {
  double weight = 1;
  std::vector<int> parent = {-1};
  std::vector<int> level = {0};
  Tokens token = {-1};
  std::vector<Row> draft_row = {{}};
  // Where a uniform both drafts and verifies: the interval of uniforms that gives the token.
  std::vector<std::pair<double, double>> interval = {{0, 1}};

  Tokens prefix(int node) const {
    Tokens tokens;
    for (int n = node; n > 0; n = parent[n]) tokens.insert(tokens.begin(), token[n]);
    return tokens;
  }
};

void add_child(Draft& draft, int parent, std::int32_t token, Row passed,
               std::pair<double, double> interval) {
  draft.parent.push_back(parent);
  draft.level.push_back(draft.level[parent] + 1);
  draft.token.push_back(token);
  draft.draft_row.push_back(std::move(passed));
  draft.interval.push_back(interval);
}

Row without(const Row& row, std::int32_t token) {
  Row rest = row;
  rest[token] = 0;
  const float sum = std::accumulate(rest.begin(), rest.end(), 0.0f);
  for (float& q : rest) q = sum > 0 ? q / sum : 0;
  return rest;
}

class Enumeration {
 public:
  explicit Enumeration(const DraftProblem& problem) : m_problem(problem) {}

  std::vector<Draft> all() {
    draft_children(Draft{}, 0);
    return std::move(m_drafts);
  }

 private:
  void draft_children(const Draft& draft, int node) {
    if (node == static_cast<int>(draft.parent.size())) {
      m_drafts.push_back(draft);
      return;
    }
    const auto level = static_cast<std::size_t>(draft.level[node]);
    const int children = level < m_problem.children.size() ? m_problem.children[level] : 0;
    const Row q = distribution(m_problem, draft.prefix(node), 1);
    if (m_problem.drafting == Drafting::most_likely ||
        m_problem.drafting == Drafting::most_likely_with_softmax) {
      draft_most_likely(draft, node, children, q);
    } else {
      draft_siblings(draft, node, children, q, q, {});
    }
  }

  void draft_most_likely(Draft draft, int node, int children, const Row& q) {
    Tokens order(q.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::int32_t v) { return q[v]; });
    for (int i = 0; i < children; ++i) {
      Row one_hot(q.size(), 0.0f);
      one_hot[order[i]] = 1;
      add_child(draft, node, order[i], m_problem.drafting == Drafting::most_likely ? one_hot : q,
                {0, 1});
    }
    draft_children(draft, node + 1);
  }

  void draft_siblings(const Draft& draft, int node, int left, const Row& q, const Row& drawn_from,
                      const Tokens& earlier) {
    if (left == 0) {
      draft_children(draft, node + 1);
      return;
    }
    const Drafting drafting = m_problem.drafting;
    const bool replaced = drafting != Drafting::without_replacement &&
                          drafting != Drafting::same_row_without_replacement;
    const double sum = std::accumulate(drawn_from.begin(), drawn_from.end(), 0.0);
    double before = 0;
    for (std::int32_t v = 0; v < m_problem.vocabulary; ++v) {
      if (drawn_from[v] <= 0) continue;
      Draft next = draft;
      next.weight *= drawn_from[v] / sum;
      const bool copy = std::ranges::find(earlier, v) != earlier.end();
      if (!copy || drafting != Drafting::dropped_duplicates) {
        const bool passes_q = drafting == Drafting::same_row_without_replacement;
        add_child(next, node, v, passes_q ? q : drawn_from, {before, before + drawn_from[v]});
      }
      before += drawn_from[v];
      Tokens with_this = earlier;
      with_this.push_back(v);
      draft_siblings(next, node, left - 1, q, replaced ? q : without(drawn_from, v), with_this);
    }
  }

  const DraftProblem& m_problem;
  std::vector<Draft> m_drafts;
};

/// One bisection: in tree `tree`, for how many k does node `node` (bonus < 0) get accepted, or does
/// the walk end at `node` with a bonus token <= bonus?
struct Probe {
  int tree;
  int node;  // of the batch
  std::int32_t bonus;
  std::int64_t low = 0, high = uniforms_count;
};

class Law {
 public:
  Law(const DraftProblem& problem, const LosslessVerifier& verify)
      : m_problem(problem), m_drafts(Enumeration(problem).all()) {
    m_case.vocabulary = problem.vocabulary;
    for (const Draft& draft : m_drafts) {
      for (int node = 0; node < static_cast<int>(draft.parent.size()); ++node) {
        if (node > 0) m_probes.push_back(add_tree(draft, node, -1));
        for (std::int32_t v = 0; v < problem.vocabulary; ++v)
          m_probes.push_back(add_tree(draft, node, v));
      }
    }
    bisect(verify);
  }

  LawDifference difference() {
    std::size_t probe = 0;
    for (const Draft& draft : m_drafts) {
      const std::size_t nodes = draft.parent.size();
      m_acceptance.assign(nodes, 0);
      m_bonus.assign(nodes, std::vector<double>(static_cast<std::size_t>(m_problem.vocabulary)));
      for (std::size_t node = 0; node < nodes; ++node) {
        if (node > 0) m_acceptance[node] = accepted_share(draft, node, m_probes[probe++].low);
        double before = 0;
        for (double& share : m_bonus[node]) {
          const double up_to = static_cast<double>(m_probes[probe++].low) / uniforms_count;
          share = up_to - before;
          before = up_to;
        }
      }
      walk(draft, 0, draft.weight);
    }
    return compare();
  }

 private:
  double accepted_share(const Draft& draft, std::size_t node, std::int64_t count) const {
    const double threshold = static_cast<double>(count) / uniforms_count;
    if (m_problem.drafting != Drafting::shared_stream) return threshold;
    const auto [begin, end] = draft.interval[node];
    return std::clamp(threshold - begin, 0.0, end - begin) / (end - begin);
  }

  /// A tree whose uniforms lead the walk to `node`.
  Probe add_tree(const Draft& draft, int node, std::int32_t bonus) {
    const int root = m_case.nodes();
    for (int n = 0; n < static_cast<int>(draft.parent.size()); ++n) {
      const int parent = n == 0 ? -1 : root + draft.parent[n];
      const int added = m_case.add_node(parent, draft.token[n], largest_uniform);
      const Row p = distribution(m_problem, draft.prefix(n), 0);
      std::ranges::copy(p, m_case.model_row(added).begin());
      std::ranges::copy(draft.draft_row[n], m_case.draft_row(added).begin());
    }
    for (int n = node; n > 0; n = draft.parent[n]) m_case.uniforms[root + n] = 0;
    return {m_case.batch() - 1, root + node, bonus};
  }

  void bisect(const LosslessVerifier& verify) {
    for (int step = 0; step < 25; ++step) {
      for (const Probe& probe : m_probes) {
        const std::int64_t middle = std::min((probe.low + probe.high) / 2, uniforms_count - 1);
        const float u = static_cast<float>(middle) * 0x1p-24f;
        (probe.bonus < 0 ? m_case.uniforms[probe.node] : m_case.bonus_uniforms[probe.tree]) = u;
      }
      const LosslessOutcome outcome = verify(m_case);
      for (Probe& probe : m_probes) {
        if (probe.low == probe.high) continue;
        const std::int64_t middle = (probe.low + probe.high) / 2;
        if (holds(probe, outcome)) {
          probe.low = middle + 1;
        } else {
          probe.high = middle;
        }
      }
    }
  }

  bool holds(const Probe& probe, const LosslessOutcome& outcome) const {
    const int last = outcome.last_accepted[probe.tree];
    if (probe.bonus >= 0) {
      const std::int32_t bonus = outcome.bonus_tokens[probe.tree];
      return last == probe.node && bonus >= 0 && bonus <= probe.bonus;
    }
    return is_on_path(probe.node, last);
  }

  bool is_on_path(int node, int last) const {
    // Nodes are numbered parent before child, so a subtree search from `node` is enough.
    if (node == last) return true;
    for (int c = m_case.first_child[node]; c != -1; c = m_case.next_sibling[c]) {
      if (is_on_path(c, last)) return true;
    }
    return false;
  }

  void walk(const Draft& draft, int node, double mass) {
    for (int child = node + 1; child < static_cast<int>(draft.parent.size()); ++child) {
      if (draft.parent[child] != node) continue;
      if (m_acceptance[child] > 0) walk(draft, child, mass * m_acceptance[child]);
      mass *= 1 - m_acceptance[child];
    }
    if (mass == 0) return;
    Tokens tokens = draft.prefix(node);
    tokens.push_back(-1);
    for (std::int32_t v = 0; v < m_problem.vocabulary; ++v) {
      tokens.back() = v;
      if (m_bonus[node][v] > 0) complete(tokens, mass * m_bonus[node][v], m_emitted);
    }
  }

  void complete(const Tokens& tokens, double mass, std::map<Tokens, double>& law) const {
    if (tokens.size() == m_problem.children.size() + 1) {
      law[tokens] += mass;
      return;
    }
    const Row p = distribution(m_problem, tokens, 0);
    for (std::int32_t v = 0; v < m_problem.vocabulary; ++v) {
      if (p[v] == 0) continue;
      Tokens longer = tokens;
      longer.push_back(v);
      complete(longer, mass * p[v], law);
    }
  }

  LawDifference compare() {
    std::map<Tokens, double> target;
    complete({}, 1.0, target);
    LawDifference result;
    for (const auto& [tokens, mass] : m_emitted) {
      if (!target.contains(tokens)) result.forbidden_mass += mass;
      target[tokens] -= mass;
    }
    for (const auto& [tokens, rest] : target) result.total_variation += std::abs(rest) / 2;
    return result;
  }

  const DraftProblem& m_problem;
  std::vector<Draft> m_drafts;
  VerifyCase m_case;
  std::vector<Probe> m_probes;
  std::vector<double> m_acceptance;
  std::vector<std::vector<double>> m_bonus;
  std::map<Tokens, double> m_emitted;
};

}  // namespace

LawDifference law_difference(const DraftProblem& problem, const LosslessVerifier& verify) {
  return Law(problem, verify).difference();
}

}  // namespace tokkos::test
