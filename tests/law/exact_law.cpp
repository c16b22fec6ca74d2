// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/exact_law.hpp"

#include "law/target_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace tokkos::test {

namespace {

/// The law of what is emitted, on the tree of prefixes.
class EmittedLaw {
 public:
  EmittedLaw(const LawTables& tables, const WideInteger& unit) : m_tables(tables), m_unit(unit) {}

  /// Emits all tokens of the prefix with the probability mass / unit, and nothing more.
  void add(std::size_t prefix, const WideInteger& mass) {
    m_emitted[prefix].mass += mass;
    m_total += mass;
    for (std::size_t p = prefix; p != 0;) {
      p = m_tables.before(p);
      m_emitted[p].goes_on = true;
    }
  }

  /// Compares with the target's law, as sequences that are completed by the target itself.
  void compare(LawResult& result) const {
    LawResult own;
    own.laws = 1;
    own.incomplete_laws = m_total == m_unit ? 0 : 1;
    const Masses start{0, m_unit, m_unit};
    compare_from(0, start, {}, own);
    result.add(own);
  }

 private:
  struct Emitted {
    WideInteger mass;      // of sequences that end here
    bool goes_on = false;  // some go on
  };

  /// Probabilities of a prefix, both in units of 1 / `unit`.
  struct Masses {
    WideInteger emitted, target, unit;
  };

  /// `factors`: the totals of the target's rows on the way, by which `unit` has grown.
  void compare_from(std::size_t prefix, const Masses& here,
                    const std::vector<std::uint64_t>& factors, LawResult& result) const {
    const auto found = m_emitted.find(prefix);
    if (here.target == 0) {
      const double mass = ratio(here.emitted, here.unit) + later_mass(prefix);
      result.forbidden_mass += mass;
      result.total_variation += mass / 2;
      return;
    }
    if (found == m_emitted.end() || !found->second.goes_on) {
      // From here on both go the target's way.
      result.total_variation += ratio(distance(here.emitted, here.target), here.unit) / 2;
      return;
    }
    const WholeRow& row = m_tables.target(prefix);
    std::vector<std::uint64_t> longer = factors;
    longer.push_back(row.total);
    for (std::size_t v = 0; v < row.weight.size(); ++v) {
      const std::size_t next = m_tables.after(prefix, static_cast<int>(v));
      Masses there{here.emitted * row.weight[v], here.target * row.weight[v],
                   here.unit * row.total};
      if (const auto own = m_emitted.find(next); own != m_emitted.end()) {
        WideInteger mass = own->second.mass;
        for (const std::uint64_t factor : longer) mass *= factor;
        there.emitted += mass;
      }
      compare_from(next, there, longer, result);
    }
  }

  /// What is emitted strictly behind a prefix.
  double later_mass(std::size_t prefix) const {
    const auto found = m_emitted.find(prefix);
    if (found == m_emitted.end() || !found->second.goes_on) return 0;
    double mass = 0;
    for (int v = 0; v < static_cast<int>(m_tables.target(0).weight.size()); ++v) {
      const std::size_t next = m_tables.after(prefix, v);
      const auto own = m_emitted.find(next);
      if (own == m_emitted.end()) continue;
      mass += ratio(own->second.mass, m_unit) + later_mass(next);
    }
    return mass;
  }

  const LawTables& m_tables;
  WideInteger m_unit, m_total;
  std::unordered_map<std::size_t, Emitted> m_emitted;
};

/// How many uniforms of a node have the fate that an outcome gives it. Of a shared stream, only
/// those count that also drafted the node.
std::uint64_t uniforms_with(Fate fate, std::int64_t accepted, const UniformRange& drafted_by) {
  const std::int64_t turn = std::clamp(accepted, drafted_by.first, drafted_by.end);
  const std::int64_t first = fate == Fate::rejected ? turn : drafted_by.first;
  const std::int64_t end = fate == Fate::accepted ? turn : drafted_by.end;
  return static_cast<std::uint64_t>(end - first);
}

void emit(const LawDraft& draft, const LawCounts& counts, const LawTables& tables, int drafted,
          EmittedLaw& law) {
  for_each_outcome(draft, counts, [&](const LawOutcome& outcome) {
    WideInteger mass = draft.weight;
    for (std::size_t node = 1; node < draft.token.size(); ++node) {
      mass *= uniforms_with(outcome.fate[node], counts.accepted[node], draft.drafted_by[node]);
    }
    for (int lost = draft.tree.drafted(); lost < drafted; ++lost) mass *= uniform_count;
    const UniformRange& bonus = outcome.bonus_uniforms;
    mass *= static_cast<std::uint64_t>(bonus.end - bonus.first);
    if (mass == 0) return;
    law.add(tables.after(draft.prefix[outcome.node], outcome.bonus), mass);
  });
}

}  // namespace

void LawResult::add(const LawResult& other) {
  laws += other.laws;
  thresholds += other.thresholds;
  corners += other.corners;
  wrong_corners += other.wrong_corners;
  incomplete_laws += other.incomplete_laws;
  total_variation = std::max(total_variation, other.total_variation);
  forbidden_mass = std::max(forbidden_mass, other.forbidden_mass);
}

LawResult exact_law(const LawProblem& problem, const TreeVerifier& verifier) {
  const LawTables tables(problem);
  std::vector<LawDraft> drafts = all_drafts(problem, tables);
  fill_target_rows(problem, tables, drafts);
  LawResult result;
  const std::vector<LawCounts> counts = find_counts(problem, drafts, verifier, result.thresholds);
  result.wrong_corners = wrong_corners(problem, drafts, counts, verifier, result.corners);

  const int drafted = problem.shape.drafted();
  WideInteger unit = uniform_count;  // of the bonus token's uniform
  for (int i = 0; i < drafted; ++i) unit = unit * LawTables::draft_scale * uniform_count;
  for (std::size_t d = 0; d < drafts.size();) {
    EmittedLaw law(tables, unit);
    for (const int number = drafts[d].law; d < drafts.size() && drafts[d].law == number; ++d) {
      emit(drafts[d], counts[d], tables, drafted, law);
    }
    law.compare(result);
  }
  return result;
}

}  // namespace tokkos::test
