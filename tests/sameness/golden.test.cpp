// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// Every backend, on any number of threads, computes the bits whose hashes stand in
// golden_hashes.txt: those of the machine that wrote it. The inputs come from integers, so that the
// file holds everywhere. When a change of the bits is meant, write the file again with
//
//   tokkos-test-sameness "[write-golden-hashes]"
//
// (a hidden case, which runs only when it is asked for) and say so under "Numerics" in
// CHANGELOG.md.
#include "flush_to_zero.hpp"
#include "rounding_mode.hpp"
#include "sameness/golden_parts.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cfenv>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

const std::string golden_file = TOKKOS_GOLDEN_HASHES;

GoldenResults all_results(const AnySpace& space) {
  GoldenResults results;
  add_numerics(results, space);
  add_edits(results, space);
  add_rows(results, space);
  add_large_outputs(results, space);
  add_truncations(results, space);
  add_raw_log_probabilities(results, space);
  add_verifications(results, space);
  add_greedy_verifications(results, space);
  return results;
}

void check_against_file(const AnySpace& space, const GoldenResults& results) {
  const auto found = results.differences_from(GoldenResults::read(golden_file));
  constexpr std::size_t most = 40;
  std::string lines;
  for (std::size_t i = 0; i < found.size() && i < most; ++i) lines += "\n  " + found[i];
  if (found.size() > most) lines += "\n  ...";
  INFO(name_of(space) << ": " << found.size() << " of " << results.hashes().size()
                      << " results are not those of " << golden_file << ":" << lines);
  CHECK(found.empty());
}

}  // namespace

TEST_CASE("every space and number of threads computes the golden hashes", "[sameness]") {
  if (!processor_is_able())
    SKIP("this processor lacks instructions that the library was built for");
  for (const AnySpace& space : instances_of_all(ExecutionSpaces{})) {
    check_against_file(space, all_results(space));
  }
}

TEST_CASE("a caller that flushes to zero gets the golden hashes", "[sameness]") {
  if (!processor_is_able())
    SKIP("this processor lacks instructions that the library was built for");
  if (flush_bits == 0) SKIP("no such mode is known for this processor");
  const auto check_default_instance = []<class Space>(const Space& space) {
    float flushed = -1.0f;
    GoldenResults results;
    {
      const FlushToZero mode;
      flushed = doubled_subnormal();
      results = all_results(space);
    }
    CHECK(flushed == 0.0f);
    check_against_file(space, results);
  };
  std::apply([&](const auto&... spaces) { (check_default_instance(spaces), ...); },
             ExecutionSpaces{});
}

TEST_CASE("a caller that rounds upward gets the golden hashes", "[sameness]") {
  if (!processor_is_able())
    SKIP("this processor lacks instructions that the library was built for");
  const auto check_default_instance = []<class Space>(const Space& space) {
    GoldenResults results;
    volatile float one = 1.0f;
    {
      const RoundingMode mode(FE_UPWARD);
      one = one + 0x1p-30f;
      results = all_results(space);
    }
    CHECK(one > 1.0f);
    check_against_file(space, results);
  };
  std::apply([&](const auto&... spaces) { (check_default_instance(spaces), ...); },
             ExecutionSpaces{});
}

TEST_CASE("the golden hashes are written", "[.][write-golden-hashes]") {
  const auto results = all_results(Kokkos::Serial());
  results.write(golden_file, "tokkos-test-sameness");
  CHECK(GoldenResults::read(golden_file).hashes() == results.hashes());
}

}  // namespace tokkos::test
