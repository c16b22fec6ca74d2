// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/golden_rows_on_device.hpp"
#include "sameness/integer_values.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tokkos::test {

namespace {

/// The cases that are truncated.
constexpr std::string_view truncated_cases[] = {
    "1/T1/all",       "33/T0/all",       "33/T0.3/half",   "33/T1/all",
    "33/T1000/all",   "4096/T1/active",  "4097/T0/half",   "4097/T0.3/all",
    "4097/T1/all",    "4097/T1/half",    "4097/T1/sparse", "4097/T1.5/all",
    "4097/T1000/all", "50257/T1/sparse", "128256/T1/all",  "128256/T0.3/active"};

/// What is kept of each row; each of the three is empty, for all rows, or per row.
struct Limits {
  std::vector<std::int32_t> top_k;
  std::vector<float> top_p, min_p;

  bool are_given() const { return !top_k.empty() || !top_p.empty() || !min_p.empty(); }
};

/// table[first], table[first + 1], ..., from the beginning again.
template <class T>
std::vector<T> cycled(const std::vector<T>& table, std::int64_t count, std::size_t first) {
  std::vector<T> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    values.push_back(table[(first + i) % table.size()]);
  }
  return values;
}

std::vector<Limits> all_limits(const GoldenBatch& batch) {
  const auto v = static_cast<std::int32_t>(batch.vocabulary);
  const std::vector<std::int32_t> k{50, 0, 3, 1000, 12, v, 200};
  const std::vector<float> p{0.95f, 0.5f, 1.0f, 0.999999f, 0x1p-20f};
  const std::vector<float> m{0.0f, 0.01f, 0.3f};
  const auto mixed = [&](std::size_t first) {
    return Limits{cycled(k, batch.rows, first), cycled(p, batch.rows, first),
                  cycled(m, batch.rows, first)};
  };
  std::vector<Limits> all{
      {},
      {cycled<std::int32_t>({1, v - 1, 7, 40, v / 2, 1000, 2}, batch.rows, 0), {}, {}},
      {{}, {0.9f}, {}},
      {{}, {}, {0.05f}},
      mixed(0),
      mixed(3)};
  Limits spoiled = mixed(4);
  const std::size_t last = spoiled.top_k.size() - 1;
  spoiled.top_k[last / 3] = -1;
  spoiled.top_p[last / 2] = __builtin_nanf("");
  spoiled.min_p[last] = 1.5f;
  all.push_back(spoiled);
  return all;
}

/// What the kernels that truncate, draw several tokens and list log-probabilities say about one
/// case.
template <class Space, class Logit>
class TruncatedRows {
 public:
  using Memory = MemoryOf<Space>;

  TruncatedRows(const Space& space, const GoldenBatch& batch)
      : m_space(space),
        m_batch(batch),
        m_on(space, batch),
        m_workspace(batch.rows),
        m_cuts(m_workspace.cuts(batch.rows)) {
    IntegerValues random(static_cast<std::uint64_t>(batch.vocabulary) + 4000);
    m_uniforms = random.uniforms(3 * batch.rows);
    for (std::int64_t i = 0; i < batch.rows; ++i) {
      for (const std::int64_t token :
           {std::int64_t{0}, batch.active - 1, batch.vocabulary - 1, random.below(batch.vocabulary),
            random.below(batch.vocabulary), std::int64_t{-1}}) {
        m_given.push_back(static_cast<TokenId>(token));
      }
    }
  }

  void add_to(GoldenResults& results) {
    for (const Limits& limits : all_limits(m_batch)) {
      truncate_by(limits);
      add_cuts();
      const RowCuts<Memory> used = limits.are_given() ? m_cuts : RowCuts<Memory>{};
      add_draws(used);
      add_log_probabilities(used);
      add_top(used);
      normalize_truncated(m_space, m_on.rows, m_on.measures, m_cuts, m_on.probabilities());
      m_truncated.add(m_on.values_of(m_on.stored_probabilities, m_batch.vocabulary));
      add_draw_of_nan(used);
      if constexpr (std::same_as<Logit, float>) add_in_place(limits);
    }
    results.add(m_on.name("cuts"), m_cut);
    results.add(m_on.name("drawn"), m_drawn);
    results.add(m_on.name("log_probabilities"), m_log_probabilities);
    results.add(m_on.name("top_log_probabilities"), m_top);
    results.add(m_on.name("truncated"), m_truncated);
    if constexpr (std::same_as<Logit, float>) {
      results.add(m_on.name("truncated"), m_truncated_in_place, "in place");
    }
  }

 private:
  using Tokens = Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory>;

  void truncate_by(const Limits& limits) {
    Kokkos::deep_copy(m_on.status, 0);
    const auto k = on_device<Memory>(limits.top_k);
    const auto p = on_device<Memory>(limits.top_p);
    const auto m = on_device<Memory>(limits.min_p);
    measure(m_space, m_on.rows, m_on.measures, m_on.status);
    truncate(m_space, m_on.rows, m_on.measures, {k, p, m}, m_cuts, m_on.status);
    m_space.fence("tokkos::test::golden");
  }

  /// Of rows that are not truncated, or unusable, the count alone says something.
  void add_cuts() {
    auto logit = on_host(m_cuts.logit);
    auto token = on_host(m_cuts.token);
    auto mass = on_host(m_cuts.mass);
    const auto count = on_host(m_cuts.count);
    for (std::size_t i = 0; i < count.size(); ++i) {
      if (count[i] <= 0) logit[i] = 0.0f, token[i] = 0, mass[i] = 0;
    }
    m_cut.add(logit).add(token).add(mass).add(count).add(on_host(m_on.status));
  }

  Tokens drawn(const std::vector<float>& uniforms, const RowCuts<Memory>& cuts, GreedyTies ties) {
    const auto d = static_cast<std::int64_t>(uniforms.size()) / m_batch.rows;
    const Tokens tokens("test::tokens", m_batch.rows, d);
    const auto u = on_device<Memory>(uniforms, d, 2, 0.0f);
    draw_tokens(m_space, m_on.rows, m_on.measures, without_padding<const float>(u, d), tokens, cuts,
                m_on.status, ties);
    m_space.fence("tokkos::test::golden");
    m_drawn.add(on_host(tokens)).add(on_host(m_on.status));
    return tokens;
  }

  void add_draws(const RowCuts<Memory>& cuts) {
    drawn(m_batch.uniforms, cuts, GreedyTies::uniform);
    drawn(cycled<float>({0.0f, 0x1.fffffep-1f, 0.5f}, 3 * m_batch.rows, 0), cuts,
          GreedyTies::uniform);
    drawn(m_uniforms, cuts, GreedyTies::lowest_id);
    add_log_probabilities(drawn(m_uniforms, cuts, GreedyTies::uniform), cuts);
  }

  /// A row whose uniform is NaN is unusable from then on.
  void add_draw_of_nan(const RowCuts<Memory>& cuts) {
    auto uniforms = m_uniforms;
    uniforms[uniforms.size() / 2] = __builtin_nanf("");
    add_log_probabilities(drawn(uniforms, cuts, GreedyTies::uniform), cuts);
  }

  void add_log_probabilities(const Matrix<const TokenId, Memory>& tokens,
                             const RowCuts<Memory>& cuts) {
    const Kokkos::View<float**, Kokkos::LayoutRight, Memory> result("test::log_probabilities",
                                                                    m_batch.rows, tokens.extent(1));
    log_probabilities(m_space, m_on.rows, m_on.measures, tokens, result, cuts, m_on.status);
    m_space.fence("tokkos::test::golden");
    m_log_probabilities.add(on_host(result)).add(on_host(m_on.status));
  }

  void add_log_probabilities(const RowCuts<Memory>& cuts) {
    const auto width = static_cast<std::int64_t>(m_given.size()) / m_batch.rows;
    const auto given = on_device<Memory>(m_given, width, 1, TokenId{0});
    add_log_probabilities(without_padding<const TokenId>(given, width), cuts);
  }

  /// Few tokens of all rows, then as many as there may be, of every row another number.
  void add_top(const RowCuts<Memory>& cuts) {
    const auto counts =
        on_device<Memory>(cycled<std::int32_t>({128, 0, 1, 40, 500, -3}, m_batch.rows, 0));
    for (const int width : {20, max_top_tokens}) {
      const Tokens tokens("test::tokens", m_batch.rows, width);
      const Kokkos::View<float**, Kokkos::LayoutRight, Memory> result("test::log_probabilities",
                                                                      m_batch.rows, width);
      if (width == max_top_tokens) {
        top_log_probabilities(m_space, m_on.rows, m_on.measures, tokens, result, cuts, counts);
      } else {
        top_log_probabilities(m_space, m_on.rows, m_on.measures, tokens, result, cuts);
      }
      m_space.fence("tokkos::test::golden");
      m_top.add(on_host(tokens)).add(on_host(result));
    }
  }

  void add_in_place(const Limits& limits) {
    truncate_by(limits);
    const auto over_logits = without_padding<float>(m_on.logits, m_batch.vocabulary);
    normalize_truncated(m_space, m_on.rows, m_on.measures, m_cuts, over_logits);
    m_truncated_in_place.add(m_on.values_of(m_on.logits, m_batch.vocabulary));
    m_on.store_logits();
  }

  Space m_space;
  const GoldenBatch& m_batch;
  GoldenRowsOnDevice<Space, Logit> m_on;
  CutsWorkspace<Memory> m_workspace;
  RowCuts<Memory> m_cuts;
  std::vector<float> m_uniforms;  ///< [rows, 3]
  std::vector<TokenId> m_given;   ///< [rows, 6]
  ResultHash m_cut, m_drawn, m_log_probabilities, m_top, m_truncated, m_truncated_in_place;
};

}  // namespace

void add_truncations(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results]<class Space>(const Space& space) {
        for (const GoldenBatch& batch : golden_batches()) {
          if (std::ranges::find(truncated_cases, batch.name) == std::end(truncated_cases)) continue;
          TruncatedRows<Space, float>(space, batch).add_to(results);
          TruncatedRows<Space, bfloat16>(space, batch).add_to(results);
          TruncatedRows<Space, float16>(space, batch).add_to(results);
        }
      },
      any);
}

}  // namespace tokkos::test
