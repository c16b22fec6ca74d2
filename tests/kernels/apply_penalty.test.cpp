// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_penalty.hpp>

#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "kernels/logit_block.hpp"
#include "reference/edits_reference.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Penalties {
  std::vector<std::int32_t> seq_ids;
  std::vector<float> penalties;
  std::vector<std::int32_t> positions;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> counts;

  void add_row(std::int32_t row, float presence, float frequency, float repetition) {
    seq_ids.push_back(row);
    penalties.insert(penalties.end(), {presence, frequency, repetition});
  }
  void add(std::int32_t position, std::int32_t token, std::int32_t count) {
    positions.push_back(position);
    tokens.push_back(token);
    counts.push_back(count);
  }
  ReferencePenalty reference(std::size_t i) const {
    const float* group = penalties.data() + 3 * positions[i];
    return {group[0], group[1], group[2], counts[i]};
  }
};

enum class Variant { plain, checked };

template <class Backend>
void apply(const LogitBlock<Backend>& block, const Penalties& edits,
           Variant variant = Variant::plain,
           const tokkos::Vector<std::int32_t, typename Backend::memory_space>& status = {}) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const auto seq_ids = on_device<Memory>(edits.seq_ids);
  const auto positions = on_device<Memory>(edits.positions);
  const auto tokens = on_device<Memory>(edits.tokens);
  const auto counts = on_device<Memory>(edits.counts);
  const auto penalties = on_device<Memory>(edits.penalties, 3, 2, 99.0f);
  const auto groups = without_padding<const float>(penalties, 3);
  if (variant == Variant::plain) {
    tokkos::apply_penalty_inplace(space, block.logits(), seq_ids, positions, tokens, counts, groups,
                                  status);
  } else {
    tokkos::apply_penalty_inplace_checked(space, block.logits(), seq_ids, positions, tokens, counts,
                                          groups, status);
  }
  space.fence("tokkos::test::apply");
}

template <class Logit>
std::vector<std::uint32_t> expected_patterns(const std::vector<float>& logits,
                                             std::int64_t vocabulary, const Penalties& edits) {
  std::vector<std::uint32_t> patterns;
  for (const float x : logits) patterns.push_back(pattern_of<Logit>(x));
  for (std::size_t i = 0; i < edits.tokens.size(); ++i) {
    const auto at = edits.seq_ids[edits.positions[i]] * vocabulary + edits.tokens[i];
    const float x = stored_value<Logit>(logits[at]);
    patterns[at] = pattern_of<Logit>(reference_penalty(x, edits.reference(i)));
  }
  return patterns;
}

/// One row in which every logit gets the same penalty.
template <class Backend>
void check_row(const std::vector<float>& logits, const ReferencePenalty& penalty) {
  const auto vocabulary = static_cast<std::int32_t>(logits.size());
  Penalties edits;
  edits.add_row(0, penalty.presence, penalty.frequency, penalty.repetition);
  for (std::int32_t v = 0; v < vocabulary; ++v) edits.add(0, v, penalty.count);
  const LogitBlock<Backend> block(logits, vocabulary);
  apply(block, edits, Variant::checked);
  CAPTURE(penalty.presence, penalty.frequency, penalty.repetition, penalty.count);
  CHECK(block.patterns() == expected_patterns<typename Backend::logit>(logits, vocabulary, edits));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("penalties change the listed tokens of the listed rows and nothing else",
                        "", Backends) {
  using Logit = typename TestType::logit;
  RandomValues random(2);
  for (const std::int64_t vocabulary : {1, 33, 1000, 4097}) {
    const auto logits = random.logits(6 * vocabulary);
    Penalties edits;
    edits.add_row(5, 0.5f, 0.25f, 1.1f);
    edits.add_row(0, -1.5f, 0.1f, 0.8f);
    edits.add_row(3, 0.0f, 0.0f, 1.0f);
    edits.add_row(2, 0.0f, 0.0f, 1.7f);
    for (std::int32_t position = 3; position >= 0; --position) {
      for (std::int32_t v = 0; v < vocabulary;
           v += static_cast<std::int32_t>(1 + random.below(4))) {
        edits.add(position, v, static_cast<std::int32_t>(1 + random.below(9)));
      }
    }
    for (const auto variant : {Variant::plain, Variant::checked}) {
      const LogitBlock<TestType> block(logits, vocabulary);
      apply(block, edits, variant);
      CHECK(block.patterns() == expected_patterns<Logit>(logits, vocabulary, edits));
      CHECK(block.padding_is_untouched());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the additive penalties come first, then the repetition penalty", "",
                        Backends) {
  const std::vector<float> logits{2.0f, -2.0f, 0.0f, -0.0f, 1.0f, 0.75f, 1.25f};
  check_row<TestType>(logits, {1.0f, 0.0f, 2.0f, 1});
  check_row<TestType>(logits, {0.5f, 0.25f, 2.0f, 3});
  check_row<TestType>(logits, {-1.0f, 0.0f, 0.5f, 1});
  check_row<TestType>(logits, {0.0f, 0.0f, 1.5f, 1});
  check_row<TestType>(logits, {0.1f, 0.3f, 1.3f, 7});
  check_row<TestType>(logits, {1.0f, -0.5f, 1.0f, 2});  // u = 0, yet not skipped
}

TEMPLATE_LIST_TEST_CASE("known penalties give known logits", "", Backends) {
  // (2 - 1) / 2, (0.5 - 1) * 2, (1 - 1) / 2
  const std::vector<float> logits{2.0f, 0.5f, 1.0f};
  Penalties edits;
  edits.add_row(0, 0.5f, 0.25f, 2.0f);
  for (std::int32_t v = 0; v < 3; ++v) edits.add(0, v, 2);
  const LogitBlock<TestType> block(logits, 3);
  apply(block, edits);
  using Logit = typename TestType::logit;
  CHECK(block.patterns() == std::vector<std::uint32_t>{pattern_of<Logit>(0.5f),
                                                       pattern_of<Logit>(-1.0f),
                                                       pattern_of<Logit>(0.0f)});
}

TEMPLATE_LIST_TEST_CASE("penalties (0, 0, 1) leave every bit alone", "", Backends) {
  const std::vector<float> logits{-0.0f,    0.0f,      1.0f,    not_a_number,
                                  infinity, -infinity, FLT_MAX, FLT_TRUE_MIN};
  for (const float zero : {0.0f, -0.0f}) {
    Penalties edits;
    edits.add_row(0, zero, zero, 1.0f);
    for (std::int32_t v = 0; v < 8; ++v) edits.add(0, v, 3);
    const LogitBlock<TestType> block(logits, 8);
    const auto before = block.patterns();
    apply(block, edits, Variant::checked);
    CHECK(block.patterns() == before);
  }
}

TEMPLATE_LIST_TEST_CASE("a penalized logit that overflows stays just inside the range", "",
                        Backends) {
  const std::vector<float> logits{1e30f, -1e30f, FLT_MAX, -0x1.fffffcp127f, 3e4f, -3e4f, 0.0f};
  check_row<TestType>(logits, {0.0f, 0.0f, 1e-20f, 1});
  check_row<TestType>(logits, {0.0f, 0.0f, FLT_TRUE_MIN, 1});
  check_row<TestType>(logits, {0.0f, 0.0f, FLT_MAX, 1});
  check_row<TestType>(logits, {FLT_MAX, 0.0f, 1.0f, 1});
  check_row<TestType>(logits, {-FLT_MAX, 0.0f, 1.0f, 1});
  check_row<TestType>(logits, {0.0f, FLT_MAX, 1.5f, 3});
  check_row<TestType>(logits, {-FLT_MAX, FLT_MAX, 1.5f, 3});
  if constexpr (std::same_as<typename TestType::logit, float>) {
    Penalties edits;
    edits.add_row(0, 0.0f, 0.0f, 1e-20f);
    edits.add(0, 0, 1);
    const LogitBlock<TestType> block({1e30f}, 1);
    apply(block, edits);
    CHECK(block.patterns()[0] == pattern_of<float>(0x1.fffffcp127f));
  }
}

TEMPLATE_LIST_TEST_CASE("NaN, infinite and masked logits keep their value under any penalty", "",
                        Backends) {
  using Logit = typename TestType::logit;
  std::vector<float> logits{not_a_number, infinity, -infinity};
  if (std::same_as<Logit, float>) logits.push_back(-FLT_MAX);
  Penalties edits;
  edits.add_row(0, 0.5f, 0.5f, 0.5f);
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(logits.size()); ++v) edits.add(0, v, 1);
  const LogitBlock<TestType> block(logits, static_cast<std::int64_t>(logits.size()));
  const auto before = block.patterns();
  apply(block, edits);
  CHECK(block.patterns() == before);
}

TEMPLATE_LIST_TEST_CASE("a count above 2^24 is rounded to float32", "", Backends) {
  constexpr std::int32_t exact = 1 << 24;
  for (const std::int32_t count : {exact + 1, exact + 3, (1 << 30) + 33, 2147483647}) {
    check_row<TestType>({5.0f, -5.0f}, {0.0f, 0x1p-24f, 1.0f, count});
    check_row<TestType>({5.0f, -5.0f}, {0.5f, 0x1p-28f, 1.0f, count});
  }
}

TEMPLATE_LIST_TEST_CASE("a penalty outside the logits is left out and flags its row", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  const std::vector<float> logits(12, 1.0f);
  Penalties edits;
  edits.add_row(2, 0.5f, 0.0f, 1.0f);
  edits.add_row(3, 0.5f, 0.0f, 1.0f);  // no such row
  edits.add_row(0, 0.5f, 0.0f, 1.0f);
  edits.add(0, 4, 1);
  edits.add(0, -1, 1);
  edits.add(1, 0, 1);
  edits.add(3, 0, 1);
  edits.add(-1, 0, 1);
  edits.add(2, 1, 1);
  Penalties legal;
  legal.add_row(0, 0.5f, 0.0f, 1.0f);
  legal.add(0, 1, 1);
  const LogitBlock<TestType> block(logits, 4);
  const auto status = on_device<Memory>(std::vector<std::int32_t>{0, 0, 4});
  apply<TestType>(block, edits, Variant::plain, status);
  CHECK(block.patterns() == expected_patterns<typename TestType::logit>(logits, 4, legal));
  CHECK(on_host(status) == std::vector<std::int32_t>{0, 0, 4 | tokkos::RowStatus::invalid_edit});
}

TEMPLATE_LIST_TEST_CASE(
    "penalties that are no finite numbers above 0 are left out and flag their row", "", Backends) {
  using Memory = typename TestType::memory_space;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {0.0f, -0.0f, -1.0f, infinity, nan}) {
    CAPTURE(bad);
    const std::vector<float> logits(8, 1.0f);
    Penalties edits;
    edits.add_row(0, 0.0f, 0.0f, bad);
    edits.add_row(1, 0.5f, 0.0f, 1.0f);
    edits.add(0, 1, 1);
    edits.add(1, 1, 1);
    Penalties legal;
    legal.add_row(1, 0.5f, 0.0f, 1.0f);
    legal.add(0, 1, 1);
    const LogitBlock<TestType> block(logits, 4);
    const auto status = on_device<Memory>(std::vector<std::int32_t>{0, 0});
    apply<TestType>(block, edits, Variant::plain, status);
    CHECK(block.patterns() == expected_patterns<typename TestType::logit>(logits, 4, legal));
    CHECK(on_host(status) == std::vector<std::int32_t>{tokkos::RowStatus::invalid_edit, 0});
  }
}

TEMPLATE_LIST_TEST_CASE("the checked variant names the bad penalty and changes nothing", "",
                        Backends) {
  const LogitBlock<TestType> block(std::vector<float>(14, 1.0f), 7);
  const auto before = block.patterns();
  const auto error_with = [&](std::int64_t index, const auto& change) {
    Penalties edits;
    edits.add_row(1, 0.5f, 0.25f, 1.5f);
    edits.add_row(0, 0.5f, 0.25f, 1.5f);
    edits.add(0, 0, 1);
    edits.add(1, 3, 2);
    change(edits);
    const auto error = thrown_by([&] { apply(block, edits, Variant::checked); });
    REQUIRE(error.has_value());
    CHECK(error->index() == index);
    CHECK(block.patterns() == before);
    return error->field();
  };
  CHECK(error_with(1, [](Penalties& p) { p.tokens[1] = 7; }) == "token_ids");
  CHECK(error_with(1, [](Penalties& p) { p.tokens[1] = -1; }) == "token_ids");
  CHECK(error_with(1, [](Penalties& p) { p.counts[1] = 0; }) == "token_cnt");
  CHECK(error_with(0, [](Penalties& p) { p.counts[0] = -4; }) == "token_cnt");
  CHECK(error_with(1, [](Penalties& p) { p.positions[1] = 2; }) == "pos2seq_id");
  CHECK(error_with(1, [](Penalties& p) { p.positions[1] = -1; }) == "pos2seq_id");
  CHECK(error_with(0, [](Penalties& p) { p.seq_ids[0] = 2; }) == "seq_ids");
  CHECK(error_with(1, [](Penalties& p) { p.seq_ids[1] = 1; }) == "seq_ids");  // twice
  CHECK(error_with(2, [](Penalties& p) { p.add(1, 3, 1); }) == "token_ids");  // twice
  for (const float bad : {not_a_number, infinity, -infinity}) {
    for (std::size_t i = 0; i < 6; ++i) {
      const auto field =
          error_with(static_cast<std::int64_t>(i / 3), [&](Penalties& p) { p.penalties[i] = bad; });
      CHECK(field.find("penalties") == 0);
    }
  }
  for (const float bad : {0.0f, -0.0f, -1.0f}) {
    CHECK(error_with(1, [&](Penalties& p) { p.penalties[5] = bad; }).find("penalties") == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("penalty arrays of the wrong length are an error", "", Backends) {
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 4);
  const auto before = block.patterns();
  const auto field_with = [&](const auto& change) {
    Penalties edits;
    edits.add_row(0, 0.5f, 0.0f, 1.0f);
    edits.add(0, 0, 1);
    edits.add(0, 1, 1);
    change(edits);
    for (const auto variant : {Variant::plain, Variant::checked}) {
      const auto error = thrown_by([&] { apply(block, edits, variant); });
      REQUIRE(error.has_value());
      if (variant == Variant::checked) return error->field();
    }
    return std::string();
  };
  CHECK(field_with([](Penalties& p) { p.positions.pop_back(); }).find("pos2seq_id") == 0);
  CHECK(field_with([](Penalties& p) { p.counts.push_back(1); }).find("token_cnt") == 0);
  CHECK(field_with([](Penalties& p) { p.seq_ids.push_back(1); }).find("penalties") == 0);
  CHECK(block.patterns() == before);
}

TEMPLATE_LIST_TEST_CASE("no penalties and no rows are legal", "", Backends) {
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 4);
  const auto before = block.patterns();
  Penalties unused;
  unused.add_row(1, 0.5f, 0.5f, 1.5f);
  CHECK_NOTHROW(apply(block, unused, Variant::checked));
  CHECK_NOTHROW(apply(block, unused, Variant::plain));
  CHECK(block.patterns() == before);
}
