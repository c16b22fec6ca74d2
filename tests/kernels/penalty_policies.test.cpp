// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Penalties of a named policy: the policies of PenaltyEdits, which the seed's kernel has not.
#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "backends.hpp"
#include "kernels/logit_block.hpp"
#include "reference/edits_reference.hpp"
#include "reference/penalty_policies.hpp"
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
constexpr float no_bias = std::numeric_limits<float>::quiet_NaN();

constexpr ReferencePolicy all_policies[] = {ReferencePolicy::seed, ReferencePolicy::openai,
                                            ReferencePolicy::hugging_face,
                                            ReferencePolicy::llama_cpp};

std::int32_t number_of(ReferencePolicy policy) {
  switch (policy) {
    case ReferencePolicy::openai:
      return static_cast<std::int32_t>(tokkos::PenaltyPolicy::openai);
    case ReferencePolicy::hugging_face:
      return static_cast<std::int32_t>(tokkos::PenaltyPolicy::hugging_face);
    case ReferencePolicy::llama_cpp:
      return static_cast<std::int32_t>(tokkos::PenaltyPolicy::llama_cpp);
    default:
      return static_cast<std::int32_t>(tokkos::PenaltyPolicy::seed);
  }
}

/// Penalties of row i in group i.
struct PolicyEdits {
  std::vector<std::int32_t> rows, policies;
  std::vector<float> penalties;
  std::vector<std::int32_t> positions, tokens, counts;
  std::vector<float> biases;

  void add_row(const ReferencePenalties& p) {
    rows.push_back(static_cast<std::int32_t>(rows.size()));
    policies.push_back(number_of(p.policy));
    penalties.insert(penalties.end(), {p.presence, p.frequency, p.repetition});
  }
  /// To the last row.
  void add(std::int32_t token, std::int32_t count, float bias = no_bias) {
    positions.push_back(rows.back());
    tokens.push_back(token);
    counts.push_back(count);
    biases.push_back(bias);
  }
};

enum class Through { apply_penalty, apply_edits };

template <class Backend>
void apply(const LogitBlock<Backend>& block, const PolicyEdits& edits, Through through,
           const tokkos::Vector<std::int32_t, typename Backend::memory_space>& status = {}) {
  using Memory = typename Backend::memory_space;
  using Space = typename Backend::execution_space;
  using Logit = typename Backend::logit;
  const Space space;
  const auto rows = on_device<Memory>(edits.rows);
  const auto policies = on_device<Memory>(edits.policies);
  const auto positions = on_device<Memory>(edits.positions);
  const auto tokens = on_device<Memory>(edits.tokens);
  const auto counts = on_device<Memory>(edits.counts);
  const auto biases = on_device<Memory>(edits.biases);
  const auto penalties = on_device<Memory>(edits.penalties, 3, 2, 99.0f);
  const tokkos::PenaltyEdits<Memory> on_rows = {
      rows,   positions, tokens, counts, without_padding<const float>(penalties, 3),
      biases, policies};
  if (through == Through::apply_penalty) {
    tokkos::detail::apply_penalty<Space, Logit>(space, block.logits(), on_rows, status);
  } else {
    tokkos::apply_edits<Space, Logit>(space, block.logits(), {}, on_rows, status);
  }
  space.fence("tokkos::test::apply");
}

/// What a count means in the policy's oracle.
ReferenceOccurrences occurrences_of(std::int32_t count) {
  return {true, count, count};
}

/// One row of these logits, all of them penalized.
template <class Backend>
void check_row(const std::vector<float>& logits, const ReferencePenalties& penalties,
               std::int32_t count) {
  using Logit = typename Backend::logit;
  PolicyEdits edits;
  edits.add_row(penalties);
  std::vector<std::uint32_t> expected;
  for (std::size_t v = 0; v < logits.size(); ++v) {
    edits.add(static_cast<std::int32_t>(v), count);
    expected.push_back(pattern_of<Logit>(
        penalized_logit(stored_value<Logit>(logits[v]), penalties, occurrences_of(count))));
  }
  CAPTURE(penalties.policy, penalties.presence, penalties.frequency, penalties.repetition, count);
  for (const auto through : {Through::apply_penalty, Through::apply_edits}) {
    const LogitBlock<Backend> block(logits, static_cast<std::int64_t>(logits.size()));
    apply(block, edits, through);
    CHECK(block.patterns() == expected);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("rows of different policies are penalized each by its own definition", "",
                        Backends) {
  using Logit = typename TestType::logit;
  constexpr std::int64_t vocabulary = 1000;
  constexpr float terms[][3] = {
      {0.3f, 0.7f, 1.3f}, {0.0f, 0.0f, 1.7f}, {-1.5f, 0.1f, 0.8f}, {0.5f, 0.0f, 1.0f}};
  RandomValues random(4);
  const auto logits = random.logits(16 * vocabulary);
  std::vector<std::uint32_t> expected;
  for (const float x : logits) expected.push_back(pattern_of<Logit>(x));
  PolicyEdits edits;
  for (const auto& [presence, frequency, repetition] : terms) {
    for (const auto policy : all_policies) {
      const ReferencePenalties penalties{policy, presence, frequency, repetition};
      edits.add_row(penalties);
      const bool has_prompt =
          policy == ReferencePolicy::openai || policy == ReferencePolicy::hugging_face;
      for (std::int64_t v = random.below(3); v < vocabulary; v += 1 + random.below(4)) {
        const auto count = static_cast<std::int32_t>((has_prompt ? 0 : 1) + random.below(6));
        const bool is_biased = random.below(3) == 0;
        const float bias = is_biased ? 4.0f * random.uniform() - 2.0f : no_bias;
        edits.add(static_cast<std::int32_t>(v), count, bias);
        const auto at = static_cast<std::size_t>(edits.rows.back() * vocabulary + v);
        float x = stored_value<Logit>(logits[at]);
        if (is_biased) x = stored_value<Logit>(reference_bias(x, bias));
        expected[at] = pattern_of<Logit>(penalized_logit(x, penalties, occurrences_of(count)));
      }
    }
  }
  for (const auto through : {Through::apply_penalty, Through::apply_edits}) {
    const LogitBlock<TestType> block(logits, vocabulary);
    apply(block, edits, through);
    CHECK(block.patterns() == expected);
    CHECK(block.padding_is_untouched());
  }
}

TEMPLATE_LIST_TEST_CASE("known penalties give known logits under every policy", "", Backends) {
  using Logit = typename TestType::logit;
  // Logits 2 and -2, count 2, presence 0.5, frequency 0.25, repetition 2.
  constexpr float known[][2] = {{0.5f, -6.0f},   // (2 - 1) / 2, (-2 - 1) * 2
                                {0.0f, -5.0f},   // 2 / 2 - 0.5 - 0.5, -2 * 2 - 0.5 - 0.5
                                {1.0f, -4.0f},   // 2 / 2, -2 * 2
                                {0.0f, -5.0f}};  // 2 / 2 - (0.5 + 0.5), -2 * 2 - (0.5 + 0.5)
  PolicyEdits edits;
  std::vector<float> logits;
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < 4; ++i) {
    edits.add_row({all_policies[i], 0.5f, 0.25f, 2.0f});
    for (std::int32_t v = 0; v < 2; ++v) {
      edits.add(v, 2);
      expected.push_back(pattern_of<Logit>(known[i][v]));
    }
    logits.insert(logits.end(), {2.0f, -2.0f});
  }
  const LogitBlock<TestType> block(logits, 2);
  apply(block, edits, Through::apply_edits);
  CHECK(block.patterns() == expected);
}

TEMPLATE_LIST_TEST_CASE("a token of the prompt alone gets the repetition penalty alone", "",
                        Backends) {
  using Logit = typename TestType::logit;
  PolicyEdits edits;
  for (const auto policy : {ReferencePolicy::openai, ReferencePolicy::hugging_face}) {
    edits.add_row({policy, 0.5f, 0.25f, 2.0f});
    edits.add(0, 0);
    edits.add(1, 0);
  }
  const LogitBlock<TestType> block({3.0f, -3.0f, 3.0f, -3.0f}, 2);
  apply(block, edits, Through::apply_penalty);
  const auto halved = pattern_of<Logit>(1.5f);
  const auto twice = pattern_of<Logit>(-6.0f);
  CHECK(block.patterns() == std::vector<std::uint32_t>{halved, twice, halved, twice});
}

TEMPLATE_LIST_TEST_CASE("zeros, signs and roundings of every policy are those of its definition",
                        "", Backends) {
  const std::vector<float> logits{0.0f,  -0.0f, 1.0f,   -1.0f,        3.3f,    -3.3f,
                                  1e-3f, 7e-5f, 100.1f, FLT_TRUE_MIN, FLT_MIN, -FLT_MIN};
  for (const auto policy : all_policies) {
    check_row<TestType>(logits, {policy, 0.1f, 0.3f, 1.3f}, 7);
    check_row<TestType>(logits, {policy, 0.0f, 0.0f, 3.0f}, 1);
    check_row<TestType>(logits, {policy, 1.0f, -0.5f, 1.0f}, 2);  // they cancel, yet not skipped
    check_row<TestType>(logits, {policy, 0.0f, 0x1p-24f, 1.0f}, (1 << 24) + 1);
    check_row<TestType>(logits, {policy, 0.0f, 0.0f, 1.0f}, 3);
  }
}

TEMPLATE_LIST_TEST_CASE("16-bit logits are stored once, after all of a policy's steps", "",
                        Backends) {
  using Logit = typename TestType::logit;
  if constexpr (!std::same_as<Logit, float>) {
    const float in_float = 1.0f / 3.0f - 0.33f;
    const float step_by_step = stored_value<Logit>(1.0f / 3.0f) - 0.33f;
    REQUIRE(pattern_of<Logit>(in_float) != pattern_of<Logit>(step_by_step));
    for (const auto policy : {ReferencePolicy::openai, ReferencePolicy::llama_cpp}) {
      PolicyEdits edits;
      edits.add_row({policy, 0.33f, 0.0f, 3.0f});
      edits.add(0, 1);
      const LogitBlock<TestType> block({1.0f}, 1);
      apply(block, edits, Through::apply_edits);
      CHECK(block.patterns() == std::vector<std::uint32_t>{pattern_of<Logit>(in_float)});
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a logit that overflows under any policy stays just inside the range", "",
                        Backends) {
  const std::vector<float> logits{1e30f, -1e30f, FLT_MAX, -0x1.fffffcp127f, 3e4f, -3e4f, 0.0f};
  for (const auto policy : all_policies) {
    for (const float repetition : {1e-20f, FLT_TRUE_MIN, 1.5f, 1e20f, FLT_MAX}) {
      check_row<TestType>(logits, {policy, 0.0f, 0.0f, repetition}, 1);
      for (const float frequency : {FLT_MAX, -FLT_MAX}) {
        check_row<TestType>(logits, {policy, FLT_MAX, frequency, repetition}, 3);
        check_row<TestType>(logits, {policy, -FLT_MAX, frequency, repetition}, 3);
      }
    }
  }
  if constexpr (std::same_as<typename TestType::logit, float>) {
    // Division and subtraction overflow alike: infinity less infinity is no logit.
    PolicyEdits edits;
    edits.add_row({ReferencePolicy::openai, 0.0f, FLT_MAX, 1e-20f});
    edits.add(0, 3);
    const LogitBlock<TestType> block({1e30f}, 1);
    apply(block, edits, Through::apply_edits);
    CHECK(block.patterns()[0] == pattern_of<float>(0x1.fffffcp127f));
  }
}

TEMPLATE_LIST_TEST_CASE("NaN, infinite and masked logits keep their value under every policy", "",
                        Backends) {
  using Logit = typename TestType::logit;
  std::vector<float> logits{no_bias, infinity, -infinity};
  if (std::same_as<Logit, float>) logits.push_back(-FLT_MAX);
  for (const auto policy : all_policies) {
    PolicyEdits edits;
    edits.add_row({policy, 0.5f, 0.5f, 0.5f});
    for (std::size_t v = 0; v < logits.size(); ++v) edits.add(static_cast<std::int32_t>(v), 1);
    const LogitBlock<TestType> block(logits, static_cast<std::int64_t>(logits.size()));
    const auto before = block.patterns();
    apply(block, edits, Through::apply_edits);
    CHECK(block.patterns() == before);
  }
}

TEMPLATE_LIST_TEST_CASE("a number that is no policy, or a count that it has not, flags its row", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  PolicyEdits edits;
  for (const auto policy : all_policies) {
    edits.add_row({policy, 0.5f, 0.0f, 2.0f});
    edits.add(0, policy == ReferencePolicy::seed || policy == ReferencePolicy::llama_cpp ? 0 : -1);
  }
  for (const std::int32_t policy : {4, -1, std::numeric_limits<std::int32_t>::max()}) {
    edits.add_row({});
    edits.policies.back() = policy;
    edits.penalties.back() = 2.0f;
    edits.add(0, 1);
  }
  const LogitBlock<TestType> block(std::vector<float>(7, 1.0f), 1);
  const auto before = block.patterns();
  const auto status = on_device<Memory>(std::vector<std::int32_t>(7, 0));
  apply<TestType>(block, edits, Through::apply_edits, status);
  CHECK(block.patterns() == before);
  CHECK(on_host(status) == std::vector<std::int32_t>(7, tokkos::RowStatus::invalid_edit));
}

TEMPLATE_LIST_TEST_CASE("policies of the wrong length are an error", "", Backends) {
  const LogitBlock<TestType> block({1.0f}, 1);
  PolicyEdits edits;
  edits.add_row({ReferencePolicy::openai, 0.5f, 0.0f, 2.0f});
  edits.add(0, 1);
  edits.policies.push_back(0);
  for (const auto through : {Through::apply_penalty, Through::apply_edits}) {
    const auto error = thrown_by([&] { apply(block, edits, through); });
    REQUIRE(error.has_value());
    const bool is_of_lists = through == Through::apply_edits;
    CHECK(error->field() == (is_of_lists ? "penalties.policies.extent" : "policies.extent"));
  }
}
