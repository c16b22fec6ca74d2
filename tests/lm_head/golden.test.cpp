// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// Products in a fixed order, and all that an LM head says of them, have the bits whose hashes stand
// in golden_hashes.txt on every backend, number of threads and processor. When a change of the bits
// is meant, write the file again with
//
//   tokkos-test-lm-head "[write-golden-hashes]"
//
// (a hidden case, which runs only when it is asked for) and say so under "Numerics" in
// CHANGELOG.md.
#include "lm_head/head_on_device.hpp"
#include "rounding_mode.hpp"
#include "sameness/any_space.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_results.hpp"
#include "sameness/result_hash.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cfenv>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace tokkos::test {

namespace {

const std::string golden_file = TOKKOS_GOLDEN_HASHES;

struct GoldenCase {
  std::string name;
  HeadCase head;
};

/// One row and several, one chunk and many, with everything that a step can have and with nothing.
std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  for (const auto& [rows, vocabulary, size] :
       {std::array{1, 300, 1}, std::array{3, 4097, 17}, std::array{9, 9000, 64},
        std::array{2, 20000, 130}}) {
    const std::string shape =
        std::to_string(rows) + "x" + std::to_string(vocabulary) + "x" + std::to_string(size);
    cases.push_back({shape + "/plain", plain_case(rows, vocabulary, size, 41)});
    cases.push_back({shape + "/full", full_case(rows, vocabulary, size, 42)});
    cases.back().head.options.block_tokens = 4096;
  }
  return cases;
}

template <class Space, class Weight>
void add_head(GoldenResults& results, const Space& space, const GoldenCase& golden) {
  const DeviceHead<Backend<Space, Weight>> device(golden.head, space);
  const std::string name = std::string("/") + type_name<Weight>() + "/" + golden.name;
  const HeadResults found = device.stream();
  results.add("lm_head_tokens" + name, ResultHash().add(found.tokens).add(found.status));
  results.add("lm_head_log_probabilities" + name, ResultHash()
                                                      .add(found.log_sum_exp)
                                                      .add(found.token_logprobs)
                                                      .add(found.given_logprobs)
                                                      .add(found.top_tokens)
                                                      .add(found.top_logprobs));
  results.add("lm_head_logits" + name, ResultHash().add(device.logits()));
}

GoldenResults all_results(const AnySpace& any, const std::vector<GoldenCase>& cases) {
  GoldenResults results;
  std::visit(
      [&]<class Space>(const Space& space) {
        for (const GoldenCase& golden : cases) {
          add_head<Space, float>(results, space, golden);
          add_head<Space, bfloat16>(results, space, golden);
          add_head<Space, float16>(results, space, golden);
        }
      },
      any);
  return results;
}

void check_against_file(const AnySpace& space, const GoldenResults& results) {
  const auto found = results.differences_from(GoldenResults::read(golden_file));
  CAPTURE(name_of(space), golden_file, found);
  CHECK(found.empty());
}

}  // namespace

TEST_CASE("an LM head gives the golden bits on every space and number of threads",
          "[lm_head][sameness]") {
  const auto cases = golden_cases();
  for (const AnySpace& space : instances_of_all(ExecutionSpaces{})) {
    check_against_file(space, all_results(space, cases));
  }
}

TEST_CASE("an LM head gives a caller that rounds upward the golden bits", "[lm_head][sameness]") {
  const auto cases = golden_cases();
  const auto check_default_instance = [&]<class Space>(const Space& space) {
    volatile float one = 1.0f;
    GoldenResults results;
    {
      const RoundingMode mode(FE_UPWARD);
      one = one + 0x1p-30f;
      results = all_results(space, cases);
    }
    CHECK(one > 1.0f);
    check_against_file(space, results);
  };
  std::apply([&](const auto&... spaces) { (check_default_instance(spaces), ...); },
             ExecutionSpaces{});
}

TEST_CASE("the golden bits of an LM head are written", "[.][write-golden-hashes]") {
  const auto results = all_results(Kokkos::Serial(), golden_cases());
  results.write(golden_file, "tokkos-test-lm-head");
  CHECK(GoldenResults::read(golden_file).hashes() == results.hashes());
}

}  // namespace tokkos::test
