// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_bitmask.hpp>

#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/logit_block.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Mask {
  std::vector<std::int32_t> seq_ids;
  std::vector<std::int32_t> words;  // [rows, width]
  std::int64_t width = 1;
  std::int64_t padding = 2;
  tokkos::BitmaskOptions options;
};

template <class Backend>
void apply(const LogitBlock<Backend>& block, const Mask& mask,
           const tokkos::Vector<std::int32_t, typename Backend::memory_space>& row_status = {}) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const auto seq_ids = on_device<Memory>(mask.seq_ids);
  const auto words = on_device<Memory>(mask.words, mask.width, mask.padding, std::int32_t{-1});
  tokkos::apply_bitmask_inplace(space, block.logits(), seq_ids,
                                without_padding<const std::int32_t>(words, mask.width),
                                mask.options, row_status);
  space.fence("tokkos::test::apply");
}

template <class Logit>
float masked_as(tokkos::MaskedValue value) {
  const bool seed = value == tokkos::MaskedValue::lowest;
  return std::same_as<Logit, float> && seed ? -FLT_MAX : -infinity;
}

template <class Logit>
std::vector<std::uint32_t> expected_patterns(const std::vector<float>& logits,
                                             std::int64_t vocabulary, const Mask& mask) {
  std::vector<std::uint32_t> patterns;
  for (const float x : logits) patterns.push_back(pattern_of<Logit>(x));
  const std::int64_t given = mask.options.active_vocabulary;
  const std::int64_t active = given == 0 ? vocabulary : given;
  for (const std::int32_t row : mask.seq_ids) {
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      const auto allowed = [&] {
        const auto word = static_cast<std::uint32_t>(mask.words[row * mask.width + v / 32]);
        return (word >> (v % 32)) % 2 == 1;
      };
      if (v < active && allowed()) continue;
      patterns[row * vocabulary + v] =
          pattern_of<Logit>(masked_as<Logit>(mask.options.masked_value));
    }
  }
  return patterns;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the bitmask masks what it forbids in the listed rows only", "", Backends) {
  using Logit = typename TestType::logit;
  RandomValues random(3);
  for (const std::int64_t vocabulary : {1, 2, 31, 32, 33, 64, 65, 4095, 4096, 4097, 8193, 50257}) {
    const std::int64_t width = (vocabulary + 31) / 32 + vocabulary % 2;
    for (const std::int64_t active : {std::int64_t{0}, vocabulary, (vocabulary + 1) / 2}) {
      for (const auto value :
           {tokkos::MaskedValue::lowest, tokkos::MaskedValue::negative_infinity}) {
        const auto logits = random.logits(4 * vocabulary);
        const Mask mask{{3, 0, 2}, random.words(4 * width), width, 2, {active, value}};
        const LogitBlock<TestType> block(logits, vocabulary);
        apply(block, mask);
        CAPTURE(vocabulary, active);
        CHECK(block.patterns() == expected_patterns<Logit>(logits, vocabulary, mask));
        CHECK(block.padding_is_untouched());
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a mask that allows all or nothing does so", "", Backends) {
  using Logit = typename TestType::logit;
  RandomValues random(4);
  for (const std::int64_t vocabulary : {33, 4096, 5000}) {
    const std::int64_t width = (vocabulary + 31) / 32;
    for (const std::int32_t word : {-1, 0}) {
      const auto logits = random.logits(2 * vocabulary);
      const Mask mask{{0, 1}, std::vector<std::int32_t>(2 * width, word), width, 0, {}};
      const LogitBlock<TestType> block(logits, vocabulary);
      apply(block, mask);
      CHECK(block.patterns() == expected_patterns<Logit>(logits, vocabulary, mask));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("an allowed logit keeps its bits, a forbidden one loses NaN and infinity",
                        "", Backends) {
  using Logit = typename TestType::logit;
  const std::vector<float> logits{not_a_number, infinity, -infinity, -0.0f,
                                  not_a_number, infinity, -infinity, 1.0f};
  const Mask mask{{0}, {0x0f}, 1, 0, {}};
  const LogitBlock<TestType> block(logits, 8);
  const auto before = block.patterns();
  apply(block, mask);
  const auto after = block.patterns();
  for (int v = 0; v < 4; ++v) CHECK(after[v] == before[v]);
  for (int v = 4; v < 8; ++v) CHECK(after[v] == pattern_of<Logit>(masked_as<Logit>({})));
}

TEMPLATE_LIST_TEST_CASE("bits at or past the active vocabulary are ignored", "", Backends) {
  using Logit = typename TestType::logit;
  const std::vector<float> logits(40, 1.0f);
  Mask mask{{0}, {-1, -1}, 2, 0, {}};
  mask.options.active_vocabulary = 33;
  const LogitBlock<TestType> block(logits, 40);
  apply(block, mask);
  const auto after = block.patterns();
  CHECK(after[32] == pattern_of<Logit>(1.0f));
  CHECK(after[33] == pattern_of<Logit>(masked_as<Logit>({})));
  CHECK(after[39] == pattern_of<Logit>(masked_as<Logit>({})));
}

TEMPLATE_LIST_TEST_CASE("a bitmask with too few words is an error, not a permission", "",
                        Backends) {
  const LogitBlock<TestType> block(std::vector<float>(2 * 65, 1.0f), 65);
  const auto before = block.patterns();
  const auto error = thrown_by([&] { apply(block, {{0, 1}, {0, 0, 0, 0}, 2, 2, {}}); });
  REQUIRE(error.has_value());
  CHECK(error->field().find("bitmask") == 0);
  CHECK(error->value() == "2");
  CHECK(block.patterns() == before);
  // For the first 64 tokens two words are enough.
  Mask enough{{0, 1}, {-1, -1, -1, -1}, 2, 2, {}};
  enough.options.active_vocabulary = 64;
  CHECK_NOTHROW(apply(block, enough));
}

TEMPLATE_LIST_TEST_CASE("an active vocabulary below 1 or above V is an error", "", Backends) {
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 8);
  const auto before = block.patterns();
  for (const std::int64_t active : {-1, 9}) {
    Mask mask{{0}, {0, 0}, 2, 0, {}};
    mask.options.active_vocabulary = active;
    const auto error = thrown_by([&] { apply(block, mask); });
    REQUIRE(error.has_value());
    CHECK(error->field() == "active_vocabulary");
    CHECK(error->value() == std::to_string(active));
  }
  CHECK(block.patterns() == before);
}

TEMPLATE_LIST_TEST_CASE("a row outside the logits is left out, one without bits is masked whole",
                        "", Backends) {
  using Logit = typename TestType::logit;
  using Memory = typename TestType::memory_space;
  constexpr std::int64_t vocabulary = 5000;
  for (const std::int32_t without_bits : {2, 3, 4}) {
    RandomValues random(6);
    const auto logits = random.logits(5 * vocabulary);
    const LogitBlock<TestType> block(logits, vocabulary);
    const std::int64_t width = (vocabulary + 31) / 32;
    Mask mask{{-1, 5, 1, without_bits}, random.words(2 * width), width, 0, {}};
    const Guarded<std::int32_t, Memory> status(5);
    apply(block, mask, status.vector());
    mask.seq_ids = {1, without_bits};
    mask.words.resize(5 * width);  // rows of bits that allow nothing
    CHECK(block.patterns() == expected_patterns<Logit>(logits, vocabulary, mask));
    std::vector<std::int32_t> expected(5);
    expected[without_bits] = tokkos::RowStatus::invalid_edit;
    CHECK(Guarded(status).values() == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("a row of bits out of range masks the whole row and sets its status", "",
                        Backends) {
  using Logit = typename TestType::logit;
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  for (const std::int32_t bad : {-1, 2, 2147483647}) {
    const LogitBlock<TestType> block(std::vector<float>(3 * 8, 1.0f), 8);
    const auto rows = on_device<Memory>(std::vector<std::int32_t>{0, 2});
    const auto mask_rows = on_device<Memory>(std::vector<std::int32_t>{1, bad});
    const auto words = on_device<Memory>(std::vector<std::int32_t>{0, 0x0f}, 1, 0, 0);
    const Guarded<std::int32_t, Memory> status(3);
    const auto checked = thrown_by([&] {
      tokkos::apply_bitmask_inplace_checked(space, block.logits(), rows, mask_rows,
                                            without_padding<const std::int32_t>(words, 1), {},
                                            status.vector());
    });
    REQUIRE(checked.has_value());
    CHECK(checked->field() == "mask_rows");
    CHECK(checked->index() == 1);
    CHECK(checked->value() == std::to_string(bad));
    CHECK(block.patterns() == std::vector<std::uint32_t>(24, pattern_of<Logit>(1.0f)));
    tokkos::apply_bitmask_inplace(space, block.logits(), rows, mask_rows,
                                  without_padding<const std::int32_t>(words, 1), {},
                                  status.vector());
    space.fence("tokkos::test::apply");
    std::vector<std::uint32_t> expected(24, pattern_of<Logit>(1.0f));
    for (int v = 4; v < 8; ++v) expected[v] = pattern_of<Logit>(masked_as<Logit>({}));
    for (int v = 16; v < 24; ++v) expected[v] = pattern_of<Logit>(masked_as<Logit>({}));
    CHECK(block.patterns() == expected);
    CHECK(Guarded(status).values() ==
          std::vector<std::int32_t>{0, 0, tokkos::RowStatus::invalid_edit});
  }
}

TEMPLATE_LIST_TEST_CASE("what is masked becomes one of the values that there are", "", Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 8);
  const auto rows = on_device<Memory>(std::vector<std::int32_t>{0});
  const auto words = on_device<Memory>(std::vector<std::int32_t>{0}, 1, 0, 0);
  for (const int value : {-1, 2, 9}) {
    tokkos::BitmaskOptions options;
    options.masked_value = static_cast<tokkos::MaskedValue>(value);
    const auto refused = thrown_by([&] {
      tokkos::apply_bitmask_inplace(space, block.logits(), rows, rows,
                                    without_padding<const std::int32_t>(words, 1), options);
    });
    REQUIRE(refused.has_value());
    CHECK(refused->field() == "masked_value");
    CHECK(refused->value() == std::to_string(value));
    CHECK(block.patterns() ==
          std::vector<std::uint32_t>(8, pattern_of<typename TestType::logit>(1.0f)));
  }
}

TEMPLATE_LIST_TEST_CASE("the checked variant names a bad or repeated row and changes nothing", "",
                        Backends) {
  using Logit = typename TestType::logit;
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  const auto words = on_device<Memory>(std::vector<std::int32_t>{1, 2, 4, 8}, 1, 0, 0);
  const auto bits = without_padding<const std::int32_t>(words, 1);
  const LogitBlock<TestType> block(std::vector<float>(4 * 8, 1.0f), 8);
  const auto before = block.patterns();
  struct Bad {
    std::vector<std::int32_t> rows;
    std::int64_t index;
    std::string value;
  };
  for (const Bad& bad :
       {Bad{{0, 1, -1}, 2, "-1"}, Bad{{4, 1}, 0, "4"}, Bad{{0, 1, 2147483647, 0}, 2, "2147483647"},
        Bad{{3, 1, 2, 3}, 3, "a second entry for row 3"},
        Bad{{1, 1}, 1, "a second entry for row 1"}}) {
    const auto rows = on_device<Memory>(bad.rows);
    const auto error = thrown_by(
        [&] { tokkos::apply_bitmask_inplace_checked(space, block.logits(), rows, bits); });
    REQUIRE(error.has_value());
    CHECK(error->field() == "seq_ids");
    CHECK(error->index() == bad.index);
    CHECK(error->value() == bad.value);
    CHECK(block.patterns() == before);
  }
  const auto rows = on_device<Memory>(std::vector<std::int32_t>{2, 0});
  tokkos::apply_bitmask_inplace_checked(space, block.logits(), rows, bits);
  space.fence("tokkos::test::apply");
  CHECK(block.patterns() == expected_patterns<Logit>(std::vector<float>(32, 1.0f), 8,
                                                     {{2, 0}, {1, 2, 4, 8}, 1, 0, {}}));
}

TEMPLATE_LIST_TEST_CASE("no rows to mask are legal", "", Backends) {
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 4);
  const auto before = block.patterns();
  CHECK_NOTHROW(apply(block, {{}, {0, 0}, 1, 0, {}}));
  CHECK(block.patterns() == before);
}
