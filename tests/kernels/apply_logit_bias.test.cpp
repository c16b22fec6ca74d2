// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_logit_bias.hpp>

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
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Biases {
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> tokens;
  std::vector<float> biases;

  void add(std::int32_t row, std::int32_t token, float bias) {
    rows.push_back(row);
    tokens.push_back(token);
    biases.push_back(bias);
  }
};

enum class Variant { plain, checked };

template <class Backend>
void apply(const LogitBlock<Backend>& block, const Biases& edits, Variant variant = Variant::plain,
           const tokkos::Vector<std::int32_t, typename Backend::memory_space>& status = {}) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const auto rows = on_device<Memory>(edits.rows);
  const auto tokens = on_device<Memory>(edits.tokens);
  const auto biases = on_device<Memory>(edits.biases);
  if (variant == Variant::plain) {
    tokkos::apply_logit_bias_inplace(space, block.logits(), rows, tokens, biases, status);
  } else {
    tokkos::apply_logit_bias_inplace_checked(space, block.logits(), rows, tokens, biases, status);
  }
  space.fence("tokkos::test::apply");
}

/// Patterns after the edits, by the reference.
template <class Logit>
std::vector<std::uint32_t> expected_patterns(const std::vector<float>& logits,
                                             std::int64_t vocabulary, const Biases& edits) {
  std::vector<std::uint32_t> patterns;
  for (const float x : logits) patterns.push_back(pattern_of<Logit>(x));
  for (std::size_t i = 0; i < edits.rows.size(); ++i) {
    const auto at = edits.rows[i] * vocabulary + edits.tokens[i];
    const float edited = reference_bias(stored_value<Logit>(logits[at]), edits.biases[i]);
    patterns[at] = pattern_of<Logit>(edited);
  }
  return patterns;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("biases are added to their own logits and to nothing else", "", Backends) {
  using Logit = typename TestType::logit;
  RandomValues random(1);
  for (const std::int64_t vocabulary : {1, 31, 33, 1000, 4097}) {
    const auto logits = random.logits(5 * vocabulary);
    Biases edits;
    for (std::int32_t row = 4; row >= 0; row -= 2) {
      for (std::int32_t v = 0; v < vocabulary;
           v += static_cast<std::int32_t>(1 + random.below(4))) {
        edits.add(row, v, (random.uniform() - 0.5f) * 200.0f);
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

TEMPLATE_LIST_TEST_CASE("a biased logit that overflows stays allowed, only -inf masks", "",
                        Backends) {
  using Logit = typename TestType::logit;
  const std::vector<float> logits{3e38f, -3e38f,   FLT_MAX,  -0x1.fffffcp127f,
                                  1.0f,  60000.0f, -60000.0f};
  Biases edits;
  const std::vector<float> biases{3e38f, -3e38f, FLT_MAX, -FLT_MAX, -infinity, 60000.0f, -60000.0f};
  for (std::int32_t v = 0; v < 7; ++v) edits.add(0, v, biases[v]);
  const LogitBlock<TestType> block(logits, 7);
  apply(block, edits, Variant::checked);
  const auto patterns = block.patterns();
  CHECK(patterns == expected_patterns<Logit>(logits, 7, edits));
  CHECK(patterns[4] == pattern_of<Logit>(-infinity));
  if constexpr (std::same_as<Logit, float>) {
    CHECK(patterns[0] == pattern_of<float>(0x1.fffffcp127f));
    CHECK(patterns[1] == pattern_of<float>(-0x1.fffffcp127f));
    CHECK(patterns[3] == pattern_of<float>(-0x1.fffffcp127f));
  } else {
    CHECK(patterns[0] == pattern_of<Logit>(FLT_MAX));
    CHECK(patterns[1] == pattern_of<Logit>(-FLT_MAX));
  }
}

TEMPLATE_LIST_TEST_CASE("NaN, infinite and masked logits keep their value under any bias", "",
                        Backends) {
  using Logit = typename TestType::logit;
  std::vector<float> logits{not_a_number, infinity, -infinity};
  if (std::same_as<Logit, float>) logits.push_back(-FLT_MAX);
  const auto count = static_cast<std::int32_t>(logits.size());
  for (const float bias : {1.0f, -1.0f, 3e38f, -infinity}) {
    Biases edits;
    for (std::int32_t v = 0; v < count; ++v) edits.add(0, v, bias);
    const LogitBlock<TestType> block(logits, count);
    const auto before = block.patterns();
    apply(block, edits);
    CHECK(block.patterns() == before);
  }
}

TEMPLATE_LIST_TEST_CASE("a bias is added in float32 and stored once, to nearest-even", "",
                        Backends) {
  using Logit = typename TestType::logit;
  // 16 bits: 1 + 2^-8 and 1 + 2^-11 are half-way; a bias kept in 16 bits would round differently.
  const std::vector<float> logits{1.0f, 1.0f, 1.0f, 1.0f, 0.0f, -0.0f};
  Biases edits;
  const std::vector<float> biases{0x1p-8f,         0x1.000002p-8f, 0x1p-11f,
                                  0x1.000002p-11f, 0.1f,           0x1p-149f};
  for (std::int32_t v = 0; v < 6; ++v) edits.add(0, v, biases[v]);
  const LogitBlock<TestType> block(logits, 6);
  apply(block, edits);
  CHECK(block.patterns() == expected_patterns<Logit>(logits, 6, edits));
}

TEMPLATE_LIST_TEST_CASE("an entry outside the logits is left out and flags its row", "", Backends) {
  using Memory = typename TestType::memory_space;
  const std::vector<float> logits(12, 1.0f);
  Biases edits;
  edits.add(0, -1, 2.0f);
  edits.add(1, 4, 2.0f);
  edits.add(-1, 0, 2.0f);
  edits.add(3, 0, 2.0f);
  edits.add(2, 3, 2.0f);
  Biases legal;
  legal.add(2, 3, 2.0f);
  const LogitBlock<TestType> block(logits, 4);
  const auto status = on_device<Memory>(std::vector<std::int32_t>{0, 8, 8});
  apply<TestType>(block, edits, Variant::plain, status);
  CHECK(block.patterns() == expected_patterns<typename TestType::logit>(logits, 4, legal));
  CHECK(block.padding_is_untouched());
  using tokkos::RowStatus;
  CHECK(on_host(status) ==
        std::vector<std::int32_t>{RowStatus::invalid_edit, 8 | RowStatus::invalid_edit, 8});
}

TEMPLATE_LIST_TEST_CASE("a bias that is NaN or plus infinity is left out and flags its row", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  const std::vector<float> logits(12, 1.0f);
  Biases edits;
  edits.add(0, 1, std::numeric_limits<float>::quiet_NaN());
  edits.add(1, 2, std::numeric_limits<float>::infinity());
  edits.add(2, 3, -std::numeric_limits<float>::infinity());
  Biases legal;
  legal.add(2, 3, -std::numeric_limits<float>::infinity());
  const LogitBlock<TestType> block(logits, 4);
  const auto status = on_device<Memory>(std::vector<std::int32_t>{0, 0, 0});
  apply<TestType>(block, edits, Variant::plain, status);
  CHECK(block.patterns() == expected_patterns<typename TestType::logit>(logits, 4, legal));
  const std::int32_t bad = tokkos::RowStatus::invalid_edit;
  CHECK(on_host(status) == std::vector<std::int32_t>{bad, bad, 0});
}

TEMPLATE_LIST_TEST_CASE("the checked variant names the bad bias and changes nothing", "",
                        Backends) {
  const std::vector<float> logits(14, 1.0f);
  const LogitBlock<TestType> block(logits, 7);
  const auto before = block.patterns();
  const auto error_with = [&](std::int32_t row, std::int32_t token, float bias) {
    Biases edits;
    edits.add(0, 0, 5.0f);
    edits.add(1, 6, 5.0f);
    edits.add(row, token, bias);
    const auto error = thrown_by([&] { apply(block, edits, Variant::checked); });
    REQUIRE(error.has_value());
    CHECK(error->index() == 2);
    CHECK(block.patterns() == before);
    return *error;
  };
  CHECK(error_with(0, -1, 1.0f).field() == "token_ids");
  CHECK(error_with(0, -1, 1.0f).value() == "-1");
  CHECK(error_with(0, 7, 1.0f).field() == "token_ids");
  CHECK(error_with(2, 1, 1.0f).field() == "pos2seq_id");
  CHECK(error_with(-1, 1, 1.0f).field() == "pos2seq_id");
  CHECK(error_with(0, 1, not_a_number).field() == "logit_bias");
  CHECK(error_with(0, 1, infinity).field() == "logit_bias");
  CHECK(error_with(0, 1, infinity).value() == "inf");
  CHECK(error_with(1, 6, 1.0f).field() == "token_ids");  // the same row and token again
}

TEMPLATE_LIST_TEST_CASE("bias arrays of different lengths are an error", "", Backends) {
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 4);
  const auto before = block.patterns();
  for (const auto variant : {Variant::plain, Variant::checked}) {
    Biases edits;
    edits.add(0, 0, 1.0f);
    edits.add(0, 1, 1.0f);
    edits.rows.pop_back();
    auto error = thrown_by([&] { apply(block, edits, variant); });
    REQUIRE(error.has_value());
    CHECK(error->field().find("pos2seq_id") == 0);
    edits.rows.push_back(0);
    edits.biases.push_back(1.0f);
    error = thrown_by([&] { apply(block, edits, variant); });
    REQUIRE(error.has_value());
    CHECK(error->field().find("logit_bias") == 0);
    CHECK(error->value() == "3");
  }
  const auto status = on_device<typename TestType::memory_space>(std::vector<std::int32_t>(3));
  Biases edits;
  edits.add(0, 0, 1.0f);
  const auto error = thrown_by([&] { apply<TestType>(block, edits, Variant::plain, status); });
  REQUIRE(error.has_value());
  CHECK(error->field().find("row_status") == 0);
  CHECK(block.patterns() == before);
}

TEMPLATE_LIST_TEST_CASE("no biases and no rows are legal", "", Backends) {
  const LogitBlock<TestType> block(std::vector<float>(8, 1.0f), 4);
  const auto before = block.patterns();
  const LogitBlock<TestType> no_rows({}, 4);
  for (const auto variant : {Variant::plain, Variant::checked}) {
    CHECK_NOTHROW(apply(block, {}, variant));
    CHECK_NOTHROW(apply(no_rows, {}, variant));
  }
  CHECK(block.patterns() == before);
}
