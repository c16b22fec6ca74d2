// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/law_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace tokkos::test {

namespace {

/// One bisection in one draft: how many uniforms accept `node`, or draw a token <= bonus behind it?
struct Probe {
  std::size_t draft;
  int node;
  std::int32_t bonus;  // -1: of the node itself
  std::int64_t low = 0, high = uniform_count;

  std::int64_t middle() const { return std::min((low + high) / 2, uniform_count - 1); }
};

class Bisection {
 public:
  Bisection(const LawProblem& problem, const std::vector<LawDraft>& drafts)
      : m_problem(problem), m_drafts(drafts) {
    const auto vocabulary = static_cast<std::size_t>(problem.vocabulary);
    for (const LawDraft& draft : drafts) {
      const std::size_t nodes = draft.token.size();
      m_counts.push_back(
          {std::vector<std::int64_t>(nodes, 0), {nodes, std::vector<std::int64_t>(vocabulary, 0)}});
      m_is_reached.emplace_back(nodes, false)[0] = true;
    }
  }

  /// Level by level, so that every probe is made in a draft whose walk gets to it.
  std::vector<LawCounts> counts(const TreeVerifier& verifier, std::int64_t& thresholds) {
    for (int depth = 0; depth <= m_problem.shape.height(); ++depth) {
      m_probes.clear();
      m_probe_of_key.clear();
      for_each_reached(depth, [&](std::size_t d, int node) { add_probes(d, node); });
      bisect(verifier);
      thresholds += static_cast<std::int64_t>(m_probes.size());
      for_each_reached(depth, [&](std::size_t d, int node) { read_counts(d, node); });
    }
    return std::move(m_counts);
  }

 private:
  using Key = std::vector<std::size_t>;

  template <class Function>
  void for_each_reached(int depth, const Function& function) const {
    for (std::size_t d = 0; d < m_drafts.size(); ++d) {
      for (int node = 0; node < m_drafts[d].tree.nodes(); ++node) {
        if (m_is_reached[d][node] && m_drafts[d].tree.depth(node) == depth) function(d, node);
      }
    }
  }

  /// What decides on the children of a node, the first `count` of them.
  Key key_of(std::size_t d, int node, std::size_t count) const {
    Key key = {m_drafts[d].prefix[node]};
    for (const int child : m_drafts[d].tree.children(node)) {
      if (key.size() <= count) key.push_back(static_cast<std::size_t>(m_drafts[d].token[child]));
    }
    return key;
  }
  Key bonus_key(std::size_t d, int node, int token) const {
    Key key = key_of(d, node, m_drafts[d].tree.parent.size());
    key.push_back(static_cast<std::size_t>(m_problem.vocabulary + token));
    return key;
  }

  void add_probes(std::size_t d, int node) {
    std::size_t tried = 0;
    for (const int child : m_drafts[d].tree.children(node)) {
      add_probe(key_of(d, node, ++tried), {d, child, -1});
    }
    for (int v = 0; v < m_problem.vocabulary; ++v) add_probe(bonus_key(d, node, v), {d, node, v});
  }

  void add_probe(const Key& key, const Probe& probe) {
    if (m_probe_of_key.try_emplace(key, m_probes.size()).second) m_probes.push_back(probe);
  }

  void read_counts(std::size_t d, int node) {
    std::size_t tried = 0;
    bool is_reached = true;
    for (const int child : m_drafts[d].tree.children(node)) {
      const std::int64_t count = m_probes[m_probe_of_key.at(key_of(d, node, ++tried))].low;
      m_counts[d].accepted[child] = count;
      m_is_reached[d][child] = is_reached && count > 0;
      is_reached = is_reached && count < uniform_count;
    }
    for (int v = 0; v < m_problem.vocabulary; ++v) {
      m_counts[d].bonus[node][v] = m_probes[m_probe_of_key.at(bonus_key(d, node, v))].low;
    }
  }

  void bisect(const TreeVerifier& verifier) {
    TreeBatch batch(m_problem);
    for (const Probe& probe : m_probes) {
      const LawDraft& draft = m_drafts[probe.draft];
      const int tree = batch.add(draft);
      for (int n = probe.node; n > 0; n = draft.tree.parent[n]) batch.set_uniform(tree, n, 0);
    }
    for (int step = 0; step < 25; ++step) {
      for (int tree = 0; tree < batch.size(); ++tree) {
        const Probe& probe = m_probes[tree];
        if (probe.bonus < 0) {
          batch.set_uniform(tree, probe.node, probe.middle());
        } else {
          batch.set_bonus_uniform(tree, probe.middle());
        }
      }
      const std::vector<TreeEnd> ends = batch.verify(verifier);
      for (int tree = 0; tree < batch.size(); ++tree) {
        Probe& probe = m_probes[tree];
        if (probe.low == probe.high) continue;
        const std::int64_t middle = probe.middle();
        if (holds(probe, ends[tree])) {
          probe.low = middle + 1;
        } else {
          probe.high = middle;
        }
      }
    }
  }

  bool holds(const Probe& probe, const TreeEnd& end) const {
    if (probe.bonus >= 0) {
      return end.node == probe.node && end.bonus >= 0 && end.bonus <= probe.bonus;
    }
    int node = end.node;
    while (node > probe.node) node = m_drafts[probe.draft].tree.parent[node];
    return node == probe.node;
  }

  const LawProblem& m_problem;
  const std::vector<LawDraft>& m_drafts;
  std::vector<LawCounts> m_counts;
  std::vector<std::vector<bool>> m_is_reached;  // [drafts][nodes]
  std::map<Key, std::size_t> m_probe_of_key;    // of one level
  std::vector<Probe> m_probes;
};

}  // namespace

std::vector<LawCounts> find_counts(const LawProblem& problem, const std::vector<LawDraft>& drafts,
                                   const TreeVerifier& verifier, std::int64_t& thresholds) {
  return Bisection(problem, drafts).counts(verifier, thresholds);
}

}  // namespace tokkos::test
