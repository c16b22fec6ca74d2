// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/target_rows.hpp"

#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace tokkos::test {

namespace {

using Space = Kokkos::Serial;
using HostMatrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// The tables' mask as a grammar.
class TableGrammar : public VocabularyMask {
 public:
  TableGrammar(const LawTables& tables, int vocabulary)
      : m_tables(tables), m_vocabulary(vocabulary) {}

  void fill_next_bitmask(std::span<std::int32_t> words) override {
    for (int v = 0; v < m_vocabulary; ++v) {
      if (m_tables.allows(m_prefix, v)) words[0] |= std::int32_t{1} << v;
    }
  }
  bool accept(TokenId token) override {
    if (!m_tables.allows(m_prefix, token)) return false;
    m_prefix = m_tables.after(m_prefix, token);
    return true;
  }
  void rollback(std::int32_t count) override {
    for (; count > 0; --count) m_prefix = m_tables.before(m_prefix);
  }

 private:
  const LawTables& m_tables;
  int m_vocabulary;
  std::size_t m_prefix = 0;
};

/// A step in which every draft is a request. Where paths count twice, every node is one.
class EditedStep {
 public:
  EditedStep(const LawProblem& problem, const LawTables& tables)
      : m_problem(problem), m_tables(tables), m_temperature(problem.seed % 3 == 0 ? 0.5f : 1.0f) {}

  void fill(std::vector<LawDraft>& drafts) {
    for (const LawDraft& draft : drafts) {
      if (m_problem.target == Target::edited) add_draft(draft);
      if (m_problem.target == Target::counted_twice) add_nodes(draft);
    }
    const HostMatrix rows = process();
    std::size_t row = 0;
    for (LawDraft& draft : drafts) {
      for (int node = 0; node < draft.tree.nodes(); ++node, ++row) {
        draft.target.emplace_back(&rows(row, 0), &rows(row, 0) + m_problem.vocabulary);
      }
    }
  }

 private:
  void add_draft(const LawDraft& draft) {
    std::vector<std::int32_t> nodes;
    for (int node = 0; node < draft.tree.nodes(); ++node) nodes.push_back(node - 1);
    m_prefixes.insert(m_prefixes.end(), draft.prefix.begin(), draft.prefix.end());
    add_request(draft, nodes, {});
  }

  void add_nodes(const LawDraft& draft) {
    for (int node = 0; node < draft.tree.nodes(); ++node) {
      std::vector<TokenId> path;
      for (int n = node; n > 0; n = draft.tree.parent[n]) path.insert(path.begin(), draft.token[n]);
      m_prefixes.push_back(draft.prefix[node]);
      add_request(draft, {node - 1}, path);
    }
  }

  /// A request for these nodes of its draft tree (-1: its root) that has generated `more` as well.
  void add_request(const LawDraft& draft, const std::vector<std::int32_t>& nodes,
                   const std::vector<TokenId>& more) {
    TokenHistory& history = m_histories.emplace_back();
    for (const TokenId token : m_tables.history()) history.commit(token);
    for (const TokenId token : more) history.commit(token);
    DraftTree& tree = m_trees.emplace_back();
    for (int node = 1; node < draft.tree.nodes(); ++node) {
      tree.token_ids.push_back(draft.token[node]);
      tree.parents.push_back(draft.tree.parent[node] - 1);
    }
    m_nodes.push_back(nodes);
    m_cum_num_token.push_back(static_cast<std::int32_t>(m_prefixes.size()));
  }

  HostMatrix process() {
    const HostMatrix rows("tokkos::test::rows", m_prefixes.size(),
                          static_cast<std::size_t>(m_problem.vocabulary));
    for (std::size_t row = 0; row < m_prefixes.size(); ++row) {
      const std::vector<std::uint64_t>& weights = m_tables.unedited(m_prefixes[row]);
      for (std::size_t v = 0; v < weights.size(); ++v) {
        const double logit = std::log(static_cast<double>(weights[v]) / 64);
        rows(row, v) = static_cast<float>(m_temperature * logit);
      }
    }
    GenerationConfig config;
    config.temperature = m_temperature;
    config.presence_penalty = config.frequency_penalty =
        static_cast<float>(m_temperature * std::log(2.0));
    config.repetition_penalty = 2.0f;
    const std::vector<GenerationConfig> configs(m_trees.size(), config);
    std::vector<TableGrammar> grammars(m_trees.size(), {m_tables, m_problem.vocabulary});
    std::vector<SequenceState> states;
    for (std::size_t i = 0; i < m_trees.size(); ++i) {
      states.push_back({&m_histories[i], &grammars[i]});
    }
    StepRequests requests;
    requests.generation_configs = configs;
    requests.sequence_states = states;
    requests.cum_num_token = m_cum_num_token;
    requests.draft_trees = m_trees;
    requests.draft_token_indices = m_nodes;

    const Kokkos::View<std::int32_t*, Kokkos::HostSpace> status("tokkos::test::status",
                                                                m_prefixes.size());
    StepOutputs<Kokkos::HostSpace> outputs;
    outputs.probabilities = rows;
    outputs.row_status = status;
    const Space space;
    LogitProcessor<Space> processor(space, static_cast<std::int64_t>(m_prefixes.size()),
                                    m_problem.vocabulary);
    processor.process(rows, requests, outputs);
    space.fence("tokkos::test::target_rows");
    for (std::size_t row = 0; row < m_prefixes.size(); ++row) {
      const bool is_reached = m_tables.target(m_prefixes[row]).total > 0;
      if (status(row) != (is_reached ? RowStatus::ok : RowStatus::empty)) {
        throw std::runtime_error("a row has the wrong status");
      }
    }
    return rows;
  }

  const LawProblem& m_problem;
  const LawTables& m_tables;
  float m_temperature;
  std::vector<TokenHistory> m_histories;
  std::vector<DraftTree> m_trees;
  std::vector<std::vector<std::int32_t>> m_nodes;
  std::vector<std::int32_t> m_cum_num_token = {0};
  std::vector<std::size_t> m_prefixes;  // of each row
};

}  // namespace

void fill_target_rows(const LawProblem& problem, const LawTables& tables,
                      std::vector<LawDraft>& drafts) {
  if (problem.target != Target::table) {
    EditedStep(problem, tables).fill(drafts);
    return;
  }
  for (LawDraft& draft : drafts) {
    for (const std::size_t prefix : draft.prefix) {
      draft.target.push_back(tables.target(prefix).probabilities());
    }
  }
}

}  // namespace tokkos::test
