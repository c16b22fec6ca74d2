// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/law_draft.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <utility>

namespace tokkos::test {

namespace {

using Tokens = std::vector<std::int32_t>;
constexpr std::uint64_t scale = LawTables::draft_scale;

/// A token that a node may get.
struct Option {
  std::int32_t token;
  std::uint64_t share;        // probability in units of 1 / scale
  std::vector<float> passed;  // distribution that verification is told
  bool is_chosen = false;
  bool is_dropped = false;
  UniformRange drafted_by = {};
};

/// The nodes of the shape that are drafted so far.
struct Partial {
  LawDraft draft;
  std::vector<int> place = {0};  // in the tree, -1 for one that was dropped
  std::vector<Tokens> drawn;     // for the children of each node
};

class Drafts {
 public:
  Drafts(const LawProblem& problem, const LawTables& tables)
      : m_problem(problem), m_shape(problem.shape), m_tables(tables) {}

  std::vector<LawDraft> all() {
    complete(start());
    return std::move(m_drafts);
  }

  LawDraft one(std::mt19937_64& random) {
    Partial partial = start();
    while (next_node(partial) < m_shape.nodes()) {
      const std::vector<Option> options = next_options(partial);
      // Of tokens that are chosen each has the whole share: any of them will do.
      std::uint64_t sum = 0;
      for (const Option& option : options) sum += option.share;
      std::uint64_t point = random() % sum;
      std::size_t taken = 0;
      for (; point >= options[taken].share; ++taken) point -= options[taken].share;
      partial = with(std::move(partial), options[taken]);
    }
    return partial.draft;
  }

 private:
  Partial start() const {
    Partial partial;
    partial.draft.row.push_back(m_tables.draft(0).probabilities());
    partial.drawn.resize(m_shape.parent.size());
    return partial;
  }

  static int next_node(const Partial& partial) { return static_cast<int>(partial.place.size()); }

  void complete(const Partial& partial) {
    if (next_node(partial) == m_shape.nodes()) {
      m_drafts.push_back(partial.draft);
      if (is(Drafting::chosen)) m_drafts.back().law = static_cast<int>(m_drafts.size()) - 1;
      return;
    }
    for (const Option& option : next_options(partial)) complete(with(partial, option));
  }

  /// What the next node of the shape may be.
  std::vector<Option> next_options(const Partial& partial) const {
    const int shape_parent = m_shape.parent[next_node(partial)];
    const int parent = partial.place[shape_parent];
    if (parent < 0) return {{-1, scale, {}, false, true}};
    const WholeRow& q = m_tables.draft(partial.draft.prefix[parent]);
    return options(q, partial.drawn[shape_parent], next_node(partial));
  }

  Partial with(Partial partial, const Option& option) const {
    const int node = next_node(partial);
    LawDraft& draft = partial.draft;
    const int parent = partial.place[m_shape.parent[node]];
    const int added = draft.tree.nodes();
    draft.weight *= option.share;
    if (!is_mixed() || !option.is_chosen) {
      partial.drawn[m_shape.parent[node]].push_back(option.token);
    }
    partial.place.push_back(option.is_dropped ? -1 : added);
    if (option.is_dropped) return partial;
    draft.tree.parent.push_back(parent);
    draft.token.push_back(option.token);
    draft.prefix.push_back(m_tables.after(draft.prefix[parent], option.token));
    draft.drafted_by.push_back(option.drafted_by);
    if (!shares_rows()) {
      draft.row.push_back(option.passed);
      draft.row_of_node.push_back(added);
      return partial;
    }
    // A node's own row is what its children are drawn from.
    draft.row_of_node.push_back(is_mixed() && option.is_chosen ? -1 : parent);
    draft.row.push_back(option.passed);
    if (!m_shape.children(node).empty()) {
      draft.row.back() = m_tables.draft(draft.prefix.back()).probabilities();
    }
    return partial;
  }

  /// What a child may be, where q is its parent's row and its siblings have drawn `drawn`.
  std::vector<Option> options(const WholeRow& q, const Tokens& drawn, int node) const {
    WholeRow left = q;
    for (const std::int32_t token : drawn) {
      if (draws_again()) break;
      left.total -= left.weight[token];
      left.weight[token] = 0;
    }
    if (left.total == 0 || is_chosen(node)) return choices(q, drawn);
    std::vector<Option> found;
    std::int64_t before = 0;
    for (std::int32_t v = 0; v < m_problem.vocabulary; ++v) {
      const auto weight = left.weight[v];
      if (weight == 0) continue;
      Option option{v, weight * (scale / left.total), passed(q, left)};
      option.is_dropped =
          is(Drafting::dropped_duplicates) && std::ranges::find(drawn, v) != drawn.end();
      if (is(Drafting::shared_stream)) {  // what it weighs is in the uniforms
        const std::int64_t end = before + static_cast<std::int64_t>(weight);
        option.share = scale;
        option.drafted_by = {before << 20, end << 20};  // 16ths
        before = end;
      }
      found.push_back(std::move(option));
    }
    return found;
  }

  /// Tokens that are not drawn: any, or a certain one of the more likely ones.
  std::vector<Option> choices(const WholeRow& q, const Tokens& drawn) const {
    Tokens tokens(static_cast<std::size_t>(m_problem.vocabulary));
    std::iota(tokens.begin(), tokens.end(), 0);
    std::ranges::stable_sort(tokens, std::greater<>(), [&](std::int32_t v) { return q.weight[v]; });
    std::vector<Option> found;
    for (const std::int32_t token : tokens) {
      WholeRow one_hot{std::vector<std::uint64_t>(tokens.size(), 0), 1};
      one_hot.weight[token] = 1;
      const WholeRow& told = is(Drafting::chosen_with_softmax) ? q : one_hot;
      found.push_back({token, scale, told.probabilities(), true});
    }
    if (is(Drafting::chosen)) return found;
    return {found[(drawn.size() + (is_mixed() ? 1 : 0)) % found.size()]};
  }

  std::vector<float> passed(const WholeRow& q, WholeRow left) const {
    if (is(Drafting::same_row_without_replacement)) return q.probabilities();
    if (is(Drafting::zeroed_row_without_replacement)) left.total = q.total;
    return left.probabilities();
  }

  bool is_chosen(int node) const {
    if (is(Drafting::chosen) || is(Drafting::chosen_with_softmax)) return true;
    const std::vector<int> siblings = m_shape.children(m_shape.parent[node]);
    const auto order = std::ranges::find(siblings, node) - siblings.begin();
    return is_mixed() && (order + m_shape.depth(node)) % 2 == 0;
  }

  bool is(Drafting drafting) const { return m_problem.drafting == drafting; }
  bool is_any(std::initializer_list<Drafting> ones) const {
    return std::ranges::find(ones, m_problem.drafting) != ones.end();
  }
  bool is_mixed() const { return is_any({Drafting::mixed, Drafting::mixed_without_replacement}); }
  bool shares_rows() const {
    return is_mixed() || is_any({Drafting::shared_row, Drafting::shared_row_without_replacement});
  }
  bool draws_again() const {
    return is_any({Drafting::with_replacement, Drafting::shared_row, Drafting::mixed,
                   Drafting::dropped_duplicates, Drafting::shared_stream});
  }

  const LawProblem& m_problem;
  const TreeShape& m_shape;
  const LawTables& m_tables;
  std::vector<LawDraft> m_drafts;
};

}  // namespace

std::vector<LawDraft> all_drafts(const LawProblem& problem, const LawTables& tables) {
  return Drafts(problem, tables).all();
}

LawDraft random_draft(const LawProblem& problem, const LawTables& tables, std::mt19937_64& random) {
  return Drafts(problem, tables).one(random);
}

}  // namespace tokkos::test
