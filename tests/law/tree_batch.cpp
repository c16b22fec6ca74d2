// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/tree_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace tokkos::test {

LosslessOutcome verify_in_chunks(const VerifyCase& c) {
  constexpr std::int32_t places[] = {0, 4095, 4096, 8191, 8192};
  constexpr int vocabulary = 8200;
  const auto spread = [&](const std::vector<float>& rows) {
    std::vector<float> wide(rows.size() / c.width() * vocabulary, 0.0f);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      wide[i / c.width() * vocabulary + static_cast<std::size_t>(places[i % c.width()])] = rows[i];
    }
    return wide;
  };
  VerifyCase wide = c;
  wide.vocabulary = vocabulary;
  wide.draft_probs = spread(c.draft_probs);
  wide.model_probs = spread(c.model_probs);
  for (std::int32_t& token : wide.draft_tokens) token = token < 0 ? token : places[token];
  LosslessOutcome outcome = verify_by_kernel(wide);
  for (std::int32_t& token : outcome.bonus_tokens) {
    const auto* const place = std::ranges::find(places, token);
    token = place == std::end(places) ? -1 : static_cast<std::int32_t>(place - places);
  }
  return outcome;
}

TreeBatch::TreeBatch(const LawProblem& problem)
    // Of chosen drafts every other problem passes no rows, the others rows with a 1 each.
    : m_stores_rows(problem.drafting != Drafting::chosen || problem.seed / 2 % 2 == 0),
      m_shares_rows(problem.drafting == Drafting::shared_row ||
                    problem.drafting == Drafting::shared_row_without_replacement ||
                    problem.drafting == Drafting::mixed ||
                    problem.drafting == Drafting::mixed_without_replacement) {
  m_case.vocabulary = problem.vocabulary;
  m_case.without_replacement = problem.drafting == Drafting::shared_row_without_replacement ||
                               problem.drafting == Drafting::mixed_without_replacement;
}

int TreeBatch::add(const LawDraft& draft) {
  const int root = m_case.nodes();
  for (int node = 0; node < draft.tree.nodes(); ++node) {
    const int parent = node == 0 ? -1 : root + draft.tree.parent[node];
    m_case.add_node(parent, draft.token[node], uniform_of(uniform_count - 1));
    std::ranges::copy(draft.target[node], m_case.model_row(root + node).begin());
    std::ranges::copy(draft.row[node], m_case.draft_row(root + node).begin());
    if (!m_shares_rows) continue;
    const std::int32_t row = draft.row_of_node[node];
    m_case.row_of_node.push_back(row < 0 ? -1 : root + row);
  }
  m_case.bonus_uniforms.back() = 0.0f;
  m_first_node.push_back(root);
  return size() - 1;
}

std::vector<TreeEnd> TreeBatch::verify(const TreeVerifier& verifier) const {
  LosslessOutcome outcome;
  if (m_stores_rows) {
    outcome = verifier(m_case);
  } else {
    VerifyCase without_rows = m_case;
    without_rows.draft_probs.clear();
    outcome = verifier(without_rows);
  }
  std::vector<TreeEnd> ends;
  for (int tree = 0; tree < size(); ++tree) {
    const int first = m_first_node[tree];
    const int end = tree + 1 < size() ? m_first_node[tree + 1] : m_case.nodes();
    const int last = outcome.last_accepted[tree];
    ends.push_back({last >= first && last < end ? last - first : -1, outcome.bonus_tokens[tree]});
  }
  return ends;
}

}  // namespace tokkos::test
