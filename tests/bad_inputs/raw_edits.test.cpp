// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Edits that only the device sees: an entry out of range is left out, flags its row if it has one,
// and changes nothing else.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr std::size_t rows = 5, columns = 40;

/// Legal numbers below `end` and, one time in four, numbers of any kind.
std::int32_t raw_index(std::mt19937_64& random, std::size_t end) {
  if (random() % 4 != 0) return static_cast<std::int32_t>(random() % end);
  count_bad_value();
  constexpr std::int32_t edges[] = {-1, -2, std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int32_t>::max(), 1 << 20};
  const auto choice = random() % 7;
  if (choice < 5) return edges[choice];
  return choice == 5 ? static_cast<std::int32_t>(end) : static_cast<std::int32_t>(random());
}

bool is_index(std::int32_t value, std::size_t end) {
  return value >= 0 && static_cast<std::size_t>(value) < end;
}

/// `usual` and, one time in four, any bits.
float raw_number(std::mt19937_64& random, float usual) {
  if (random() % 4 != 0) return usual;
  count_bad_value();
  return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
}

/// Logits between guards, and which of them and of the rows' bits may, and must, have changed.
template <class Space>
struct RawEdits {
  using Memory = MemoryOf<Space>;
  Space space;
  std::vector<float> values = std::vector<float>(rows * columns, 0.25f);
  Guarded<float, Memory> logits{rows, columns, 3, values};
  Guarded<std::int32_t, Memory> status{rows};
  std::vector<bool> may_change = std::vector<bool>(rows * columns, false);
  std::vector<bool> must_change = may_change;  ///< named with usual numbers
  std::vector<bool> is_flagged = std::vector<bool>(rows, false);

  void check() {
    space.fence("tokkos::test::edited");
    const std::vector<float> now = logits.values();
    const std::vector<std::int32_t> bits = status.values();
    CHECK((logits.guards_intact() && status.guards_intact()));
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (!may_change[i]) REQUIRE(now[i] == values[i]);
      if (must_change[i]) REQUIRE(now[i] != values[i]);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      REQUIRE(bits[row] == (is_flagged[row] ? RowStatus::invalid_edit : 0));
    }
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("raw biases change what they name in range and nothing else",
                        "[row-01][row-07]", ExecutionSpaces) {
  std::mt19937_64 random(1);
  for (int number = 0; number < 500; ++number) {
    RawEdits<TestType> edits;
    const std::size_t entries = random() % 12;
    std::vector<std::int32_t> row, token;
    std::vector<float> bias;
    for (std::size_t i = 0; i < entries; ++i) {
      row.push_back(raw_index(random, rows));
      token.push_back(raw_index(random, columns));
      bias.push_back(raw_number(random, 1.0f));
      if (!is_index(row[i], rows)) continue;
      const auto r = static_cast<std::size_t>(row[i]);
      if (is_index(token[i], columns) && bias[i] <= std::numeric_limits<float>::max()) {
        const std::size_t place = r * columns + static_cast<std::size_t>(token[i]);
        edits.may_change[place] = true;
        if (bias[i] == 1.0f) edits.must_change[place] = true;
      } else {
        edits.is_flagged[r] = true;
      }
    }
    const Guarded<std::int32_t, MemoryOf<TestType>> r(row), t(token);
    const Guarded<float, MemoryOf<TestType>> b(bias);
    apply_logit_bias_inplace(edits.space, edits.logits.matrix(), r.vector(), t.vector(), b.vector(),
                             edits.status.vector());
    edits.check();
  }
}

TEMPLATE_LIST_TEST_CASE("raw penalties change what they name in range and nothing else",
                        "[row-10][row-11][row-13][row-14][row-17]", ExecutionSpaces) {
  std::mt19937_64 random(2);
  for (int number = 0; number < 500; ++number) {
    RawEdits<TestType> edits;
    const std::size_t groups = 1 + random() % 4, entries = random() % 12;
    std::vector<std::int32_t> row, position, token, count;
    std::vector<float> numbers;
    std::vector<bool> legal, usual;
    constexpr float most = std::numeric_limits<float>::max();
    for (std::size_t c = 0; c < groups; ++c) {
      row.push_back(raw_index(random, rows));
      const float presence = raw_number(random, 0.5f), frequency = raw_number(random, 0.25f);
      const float repetition = raw_number(random, 1.5f);
      numbers.insert(numbers.end(), {presence, frequency, repetition});
      legal.push_back(std::abs(presence) <= most && std::abs(frequency) <= most && repetition > 0 &&
                      repetition <= most);
      usual.push_back(presence == 0.5f && frequency == 0.25f && repetition == 1.5f);
    }
    for (std::size_t i = 0; i < entries; ++i) {
      position.push_back(raw_index(random, groups));
      token.push_back(raw_index(random, columns));
      count.push_back(static_cast<std::int32_t>(random() % 5) - 1);
      if (!is_index(position[i], groups)) continue;
      const auto c = static_cast<std::size_t>(position[i]);
      if (!is_index(row[c], rows)) continue;
      const auto r = static_cast<std::size_t>(row[c]);
      if (is_index(token[i], columns) && count[i] >= 1 && legal[c]) {
        const std::size_t place = r * columns + static_cast<std::size_t>(token[i]);
        edits.may_change[place] = true;
        if (usual[c]) edits.must_change[place] = true;
      } else {
        edits.is_flagged[r] = true;
      }
    }
    using Ints = Guarded<std::int32_t, MemoryOf<TestType>>;
    const Ints r(row), p(position), t(token), c(count);
    const Guarded<float, MemoryOf<TestType>> n(groups, 3, 1, numbers);
    apply_penalty_inplace(edits.space, edits.logits.matrix(), r.vector(), p.vector(), t.vector(),
                          c.vector(), n.matrix(), edits.status.vector());
    edits.check();
  }
}

TEMPLATE_LIST_TEST_CASE("raw rows of a bitmask mask themselves and nothing else",
                        "[row-18][row-19][row-20][row-21]", ExecutionSpaces) {
  std::mt19937_64 random(3);
  for (int number = 0; number < 500; ++number) {
    RawEdits<TestType> edits;
    const std::size_t masks = 1 + random() % 3, padding = random() % 4, listed = random() % 4;
    // Two words, of which the second has eight bits of the vocabulary: those past it are set.
    std::vector<std::int32_t> words(2 * masks);
    for (std::int32_t& word : words) word = static_cast<std::int32_t>(random() | 0xFFFFFF00u);
    std::vector<std::int32_t> row, mask;
    for (std::size_t i = 0; i < listed; ++i) {
      row.push_back(raw_index(random, rows));
      mask.push_back(raw_index(random, masks));
      if (!is_index(row[i], rows)) continue;
      const auto r = static_cast<std::size_t>(row[i]);
      if (!is_index(mask[i], masks)) edits.is_flagged[r] = true;
      for (std::size_t v = 0; v < columns; ++v) {
        const bool allowed =
            is_index(mask[i], masks) &&
            ((static_cast<std::uint32_t>(words[2 * static_cast<std::size_t>(mask[i]) + v / 32]) >>
              (v % 32)) &
             1u) != 0;
        if (!allowed) edits.may_change[r * columns + v] = true;
      }
    }
    // A row that stands twice may keep what either mask allows: both are written at once.
    std::vector<std::size_t> times(rows);
    for (const std::int32_t r : row) {
      if (is_index(r, rows)) ++times[static_cast<std::size_t>(r)];
    }
    const Guarded<std::int32_t, MemoryOf<TestType>> s(row), m(mask), w(masks, 2, padding, words);
    apply_bitmask_inplace(edits.space, edits.logits.matrix(), s.vector(), m.vector(), w.matrix(),
                          {}, edits.status.vector());
    edits.check();
    const std::vector<float> now = edits.logits.values();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool is_masked = now[i] == masked_logit;
      if (edits.may_change[i]) REQUIRE((is_masked || times[i / columns] > 1));
      if (!is_masked) REQUIRE(now[i] == edits.values[i]);
    }
  }
}

}  // namespace tokkos::test
