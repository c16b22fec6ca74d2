// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/golden_rows_on_device.hpp"
#include "sameness/integer_values.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace tokkos::test {

namespace {

/// The cases whose logits are edited; their masks are left out, because raw logits have none.
constexpr std::string_view edited_cases[] = {"1/T1/all",       "33/T0/all",    "33/T1/active",
                                             "4097/T0.3/all",  "4097/T1/all",  "4097/T1/active",
                                             "4097/T1000/all", "50257/T1/all", "128256/T1/all"};

/// Every eighth token of a row has a bias, every eighth a penalty; position c of the penalties is
/// the c-th row from the end. The last three entries of each list are out of range.
struct RawEdits {
  std::vector<std::int32_t> bias_rows, bias_tokens;
  std::vector<float> biases;
  std::vector<std::int32_t> penalty_rows, positions, tokens, counts;
  std::vector<float> penalties;

  explicit RawEdits(const GoldenBatch& batch) {
    const auto n = static_cast<std::int32_t>(batch.rows);
    const auto v = static_cast<std::int32_t>(batch.vocabulary);
    IntegerValues random(static_cast<std::uint64_t>(v) + 6000);
    for (std::int32_t row = 0; row < n; ++row) {
      for (std::int32_t token = row % 8; token < v; token += 8) add_bias(row, token, random);
      penalty_rows.push_back(n - 1 - row);
      penalties.insert(penalties.end(), {0.25f * static_cast<float>(row), 0.125f, 1.25f});
      for (std::int32_t token = (n + 3 - row) % 8; token < v; token += 8) {
        add_penalty(row, token, random);
      }
    }
    add_bias(-1, 0, random);
    add_bias(n, 0, random);
    add_bias(0, v, random);
    add_penalty(-1, 0, random);
    add_penalty(n, 0, random);
    add_penalty(0, -1, random);
  }

  std::size_t count() const { return biases.size() + tokens.size(); }

 private:
  void add_bias(std::int32_t row, std::int32_t token, IntegerValues& random) {
    bias_rows.push_back(row);
    bias_tokens.push_back(token);
    biases.push_back(static_cast<float>(random.bell()) * 0x1p-13f);
  }
  void add_penalty(std::int32_t position, std::int32_t token, IntegerValues& random) {
    positions.push_back(position);
    tokens.push_back(token);
    counts.push_back(static_cast<std::int32_t>(1 + random.below(5)));
  }
};

/// What is read of a case before its edits, and scored after them.
template <class Space, class Logit>
class RawRows {
 public:
  using Memory = MemoryOf<Space>;

  RawRows(const Space& space, const GoldenBatch& batch)
      : m_space(space),
        m_batch(batch),
        m_on(space, batch),
        m_edits(batch),
        m_bias_rows(on_device<Memory>(m_edits.bias_rows)),
        m_bias_tokens(on_device<Memory>(m_edits.bias_tokens)),
        m_biases(on_device<Memory>(m_edits.biases)),
        m_penalty_rows(on_device<Memory>(m_edits.penalty_rows)),
        m_positions(on_device<Memory>(m_edits.positions)),
        m_tokens(on_device<Memory>(m_edits.tokens)),
        m_counts(on_device<Memory>(m_edits.counts)),
        m_penalties(on_device<Memory>(m_edits.penalties, 3, 0, 0.0f)),
        m_saved("test::saved", m_edits.count()) {
    m_on.rows.bitmask = {};
  }

  void add_to(GoldenResults& results) {
    measure(m_space, m_on.rows, m_on.measures);
    add_top(results);
    add_scores(results, "log_probabilities before the edits", [&](const auto& t, const auto& to) {
      log_probabilities(m_space, m_on.rows, m_on.measures, t, to);
    });
    const LogitBiasEdits<Memory> biases{m_bias_rows, m_bias_tokens, m_biases};
    const PenaltyEdits<Memory> penalties{m_penalty_rows, m_positions, m_tokens, m_counts,
                                         m_penalties};
    save_edited_logits<Space, Logit>(m_space, m_on.rows.logits, biases, penalties, m_saved);
    m_space.fence("tokkos::test::golden");
    results.add(m_on.name("saved_logits"), ResultHash().add(on_host(m_saved)));
    apply_edits<Space, Logit>(m_space, without_padding<Logit>(m_on.logits, m_batch.vocabulary),
                              biases, penalties);
    const Vector<const float, Memory> saved = m_saved;
    add_scores(results, "raw_log_probabilities", [&](const auto& tokens, const auto& to) {
      raw_log_probabilities<Space, Logit>(m_space, m_on.rows, m_on.measures, biases, penalties,
                                          saved, tokens, to);
    });
  }

 private:
  void add_top(GoldenResults& results) {
    ResultHash hash;
    for (const int width : {7, max_top_tokens}) {
      const Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory> tokens("test::tokens",
                                                                        m_batch.rows, width);
      const Kokkos::View<float**, Kokkos::LayoutRight, Memory> result("test::log_probabilities",
                                                                      m_batch.rows, width);
      top_log_probabilities(m_space, m_on.rows, m_on.measures, tokens, result);
      m_space.fence("tokkos::test::golden");
      hash.add(on_host(tokens)).add(on_host(result));
    }
    results.add(m_on.name("raw_top_log_probabilities"), hash);
  }

  /// Scores eight neighbouring tokens of each row, so that some have either edit and some none;
  /// then the last ones, and no token.
  template <class Score>
  void add_scores(GoldenResults& results, const char* way, const Score& score) {
    ResultHash hash;
    const Kokkos::View<float*, Memory> result("test::log_probabilities", m_batch.rows);
    const std::int64_t v = m_batch.vocabulary;
    for (int i = 0; i < 11; ++i) {
      std::vector<TokenId> tokens;
      for (std::int64_t row = 0; row < m_batch.rows; ++row) {
        const std::int64_t last[] = {v - 1, m_batch.active - 1, -1};
        tokens.push_back(static_cast<TokenId>(i < 8 ? (v / 3 + i) % v : last[i - 8]));
      }
      const auto on = on_device<Memory>(tokens);
      score(Vector<const TokenId, Memory>(on), Vector<float, Memory>(result));
      m_space.fence("tokkos::test::golden");
      hash.add(on_host(result));
    }
    results.add(m_on.name("raw_log_probabilities"), hash, way);
  }

  Space m_space;
  const GoldenBatch& m_batch;
  GoldenRowsOnDevice<Space, Logit> m_on;
  RawEdits m_edits;
  Kokkos::View<std::int32_t*, Memory> m_bias_rows, m_bias_tokens;
  Kokkos::View<float*, Memory> m_biases;
  Kokkos::View<std::int32_t*, Memory> m_penalty_rows, m_positions, m_tokens, m_counts;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_penalties;
  Kokkos::View<float*, Memory> m_saved;
};

}  // namespace

void add_raw_log_probabilities(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results]<class Space>(const Space& space) {
        for (const GoldenBatch& batch : golden_batches()) {
          if (std::ranges::find(edited_cases, batch.name) == std::end(edited_cases)) continue;
          RawRows<Space, float>(space, batch).add_to(results);
          RawRows<Space, bfloat16>(space, batch).add_to(results);
          RawRows<Space, float16>(space, batch).add_to(results);
        }
      },
      any);
}

}  // namespace tokkos::test
