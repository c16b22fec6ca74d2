// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/law_outcomes.hpp"

#include <cstddef>

namespace tokkos::test {

namespace {

using Visit = std::function<void(const LawOutcome&)>;

void walk_from(const LawDraft& draft, const LawCounts& counts, int node, std::vector<Fate>& fate,
               const Visit& visit) {
  const std::vector<int> children = draft.tree.children(node);
  bool ends_here = true;
  for (const int child : children) {
    if (counts.accepted[child] > 0) {
      fate[child] = Fate::accepted;
      walk_from(draft, counts, child, fate, visit);
    }
    fate[child] = Fate::rejected;
    ends_here = counts.accepted[child] < uniform_count;
    if (!ends_here) break;
  }
  std::int64_t before = 0;
  for (std::size_t v = 0; ends_here && v < counts.bonus[node].size(); ++v) {
    const std::int64_t end = counts.bonus[node][v];
    if (end > before) visit({node, static_cast<std::int32_t>(v), {before, end}, fate});
    before = end;
  }
  for (const int child : children) fate[child] = Fate::idle;
}

/// The points of a box that are tried.
enum class Corner { least, largest, nearest };

UniformRange uniforms_of(Fate fate, std::int64_t count) {
  if (fate == Fate::idle) return {};
  return fate == Fate::accepted ? UniformRange{0, count} : UniformRange{count, uniform_count};
}

/// Sets a tree's uniforms to a corner of an outcome's box.
void set_corner(TreeBatch& batch, int tree, const LawOutcome& outcome, const LawCounts& counts,
                Corner corner) {
  for (std::size_t node = 1; node < outcome.fate.size(); ++node) {
    const UniformRange range = uniforms_of(outcome.fate[node], counts.accepted[node]);
    // Nearest to the threshold: an accepted node's largest, a rejected one's least.
    const bool takes_last = corner == Corner::largest ||
                            (corner == Corner::nearest && outcome.fate[node] == Fate::accepted);
    const std::int64_t k = takes_last ? range.end - 1 : range.first;
    batch.set_uniform(tree, static_cast<int>(node), k);
  }
  const UniformRange& range = outcome.bonus_uniforms;
  batch.set_bonus_uniform(tree, corner == Corner::largest ? range.end - 1 : range.first);
}

}  // namespace

void for_each_outcome(const LawDraft& draft, const LawCounts& counts, const Visit& visit) {
  std::vector<Fate> fate(draft.tree.parent.size(), Fate::idle);
  walk_from(draft, counts, 0, fate, visit);
}

std::int64_t wrong_corners(const LawProblem& problem, const std::vector<LawDraft>& drafts,
                           const std::vector<LawCounts>& counts, const TreeVerifier& verifier,
                           std::int64_t& tried) {
  constexpr int trees_per_call = 16384;
  std::int64_t wrong = 0;
  TreeBatch batch(problem);
  std::vector<TreeEnd> expected;
  const auto verify = [&]() {
    const std::vector<TreeEnd> ends = batch.verify(verifier);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      wrong += ends[i].node != expected[i].node || ends[i].bonus != expected[i].bonus ? 1 : 0;
    }
    tried += batch.size();
    batch = TreeBatch(problem);
    expected.clear();
  };
  for (std::size_t d = 0; d < drafts.size(); ++d) {
    for_each_outcome(drafts[d], counts[d], [&](const LawOutcome& outcome) {
      for (const Corner corner : {Corner::least, Corner::largest, Corner::nearest}) {
        set_corner(batch, batch.add(drafts[d]), outcome, counts[d], corner);
        expected.push_back({outcome.node, outcome.bonus});
      }
    });
    if (batch.size() >= trees_per_call) verify();
  }
  verify();
  return wrong;
}

}  // namespace tokkos::test
