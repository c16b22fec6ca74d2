// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/ngram_model.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/numerics/portable_log.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace tokkos::tools {

namespace {

// Powers of two: scaling by `rest` is exact.
constexpr double weight = 0.875;
constexpr double rest = 0.125;

// The ends of all windows of `length` tokens, in the lexicographic order of the windows.
std::vector<std::size_t> sorted_windows(std::span<const TokenId> text, std::size_t length) {
  if (text.size() < length) return {};
  std::vector<std::size_t> begins(text.size() - length + 1);
  std::iota(begins.begin(), begins.end(), std::size_t{0});
  std::sort(begins.begin(), begins.end(), [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(text.subspan(a, length), text.subspan(b, length));
  });
  return begins;
}

}  // namespace

ContextTable::ContextTable(std::span<const TokenId> text, std::size_t length) : m_length(length) {
  for (const std::size_t begin : sorted_windows(text, length + 1)) {
    const auto context = text.subspan(begin, length);
    const TokenId follower = text[begin + length];
    const bool new_context =
        m_totals.empty() || !std::ranges::equal(key(m_totals.size() - 1), context);
    if (new_context) {
      m_keys.insert(m_keys.end(), context.begin(), context.end());
      m_begin.push_back(m_followers.size());
      m_totals.push_back(0);
    }
    if (new_context || m_followers.back() != follower) {
      m_followers.push_back(follower);
      m_counts.push_back(0);
    }
    ++m_counts.back();
    ++m_totals.back();
  }
  m_begin.push_back(m_followers.size());
}

std::span<const TokenId> ContextTable::key(std::size_t context) const {
  return std::span(m_keys).subspan(context * m_length, m_length);
}

ContextTable::Followers ContextTable::find(std::span<const TokenId> context) const {
  std::size_t low = 0;
  std::size_t high = m_totals.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (std::ranges::lexicographical_compare(key(middle), context)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == m_totals.size() || !std::ranges::equal(key(low), context)) return {};
  const std::size_t begin = m_begin[low];
  const std::size_t count = m_begin[low + 1] - begin;
  return {std::span(m_followers).subspan(begin, count), std::span(m_counts).subspan(begin, count),
          m_totals[low]};
}

NgramModel::NgramModel(std::span<const TokenId> text, TokenId vocabulary, std::size_t order) {
  require(order >= 1 && order <= max_order, "order", std::nullopt, static_cast<std::int64_t>(order),
          "1 to 8");
  require(vocabulary >= 1, "vocabulary", std::nullopt, vocabulary, "at least 1");
  require(!text.empty(), "text", std::nullopt, std::int64_t{0}, "at least one token");
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary), 0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    require(text[i] >= 0 && text[i] < vocabulary, "text", static_cast<std::int64_t>(i), text[i],
            "a token of the vocabulary");
    ++counts[static_cast<std::size_t>(text[i])];
  }
  const double uniform = rest / static_cast<double>(vocabulary);
  for (const std::int64_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(text.size());
    m_unigram.push_back(weight * share + uniform);
  }
  for (std::size_t length = 1; length < order; ++length) m_tables.emplace_back(text, length);
  double scale = 1.0;
  for (std::size_t level = 0; level < order; ++level, scale *= rest) {
    std::vector<float>& row = m_backoff.emplace_back();
    for (const double p : m_unigram) row.push_back(portable_log(static_cast<float>(scale * p)));
  }
}

void NgramModel::score(std::span<const TokenId> context, std::span<float> row) const {
  std::array<ContextTable::Followers, max_order> levels;
  std::size_t matched = 0;
  while (matched < m_tables.size() && matched < context.size()) {
    levels[matched] = m_tables[matched].find(context.last(matched + 1));
    if (levels[matched].total == 0) break;
    ++matched;
  }
  std::ranges::copy(m_backoff[matched], row.begin());
  if (matched == 0) return;

  // What follows a context also follows each of its ends, so one walk over the shortest meets all.
  std::array<std::size_t, max_order> next{};
  for (const TokenId token : levels[0].tokens) {
    double p = m_unigram[static_cast<std::size_t>(token)];
    for (std::size_t level = 0; level < matched; ++level) {
      p *= rest;
      const ContextTable::Followers& followers = levels[level];
      std::size_t& at = next[level];
      if (at == followers.tokens.size() || followers.tokens[at] != token) continue;
      const double share =
          static_cast<double>(followers.counts[at]) / static_cast<double>(followers.total);
      p += weight * share;
      ++at;
    }
    row[static_cast<std::size_t>(token)] = portable_log(static_cast<float>(p));
  }
}

}  // namespace tokkos::tools
