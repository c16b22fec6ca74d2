// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/replay_files.hpp"
#include "tools/replay_reference.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<float> random_logits(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::vector<float> logits(count);
  for (float& x : logits) x = normal(generator);
  return logits;
}

/// Checks one row of an output file against the plain reference.
void check_row(const std::map<std::string, StoredTensor>& out, std::size_t row,
               const ReplayRow& reference, double u) {
  CAPTURE(row);
  const std::size_t columns = reference.logits.size();
  const auto active = static_cast<std::size_t>(reference.active_vocabulary);
  const auto edited = reference_edits(reference);
  const auto distribution =
      reference_distribution(edited, reference.active_vocabulary, reference.temperature);
  CHECK(out.at("row_status").as<std::int32_t>()[row] == distribution.status);
  const auto token = out.at("tokens").as<std::int32_t>()[row];
  const float lse = out.at("log_sum_exp").as<float>()[row];
  if (distribution.status != 0) {
    CHECK(token == -1);
    CHECK(lse == -INFINITY);
  } else {
    CHECK(is_drawn(distribution.probabilities, token, u, 1e-5));
    CHECK(std::abs(static_cast<double>(lse) - distribution.log_sum_exp) <=
          1e-6 * (1.0 + std::abs(distribution.log_sum_exp)));
  }
  if (!out.contains("logits")) return;
  const auto logits = out.at("logits").as<float>();
  const auto probs = out.at("probs").as<float>();
  std::size_t wrong_logits = 0;
  double worst = 0.0;
  for (std::size_t v = 0; v < columns; ++v) {
    const float ours = logits[row * columns + v];
    if (v < active && !(ours == edited[v] || (std::isnan(ours) && std::isnan(edited[v])))) {
      ++wrong_logits;
    }
    const double p = distribution.probabilities[v];
    const double difference = std::abs(static_cast<double>(probs[row * columns + v]) - p);
    worst = std::max(worst, p == 0.0 ? difference * 1e30 : difference / p);
  }
  CHECK(wrong_logits == 0);
  CHECK(worst <= 1e-5);
}

constexpr const char* mixed_requests = R"({"active_vocab_size": 68, "requests": [
  {"id": "plain", "temperature": 0.7},
  {"id": "edited", "logit_bias": {"3": -2.5, "69": 4.0, "5": "-Infinity"}, "temperature": 1.5,
   "presence_penalty": 0.5, "frequency_penalty": 0.25, "repetition_penalty": 1.2,
   "prompt_token_ids": [1, 2], "generated_token_ids": [7, 8, 7, 69], "num_tokens": 3,
   "draft": {"token_ids": [7, 9, 3], "parents": [-1, 0, -1], "rows": [-1, 1, 2]}, "seed": 77},
  {"id": "unmasked", "masked": false, "temperature": 0.0},
  {"id": "greedy", "temperature": 0.00001},
  {"id": "nothing allowed"}]})";

/// The rows of mixed_requests.
std::vector<ReplayRow> mixed_rows(const std::vector<float>& logits,
                                  const std::vector<std::int32_t>& mask) {
  constexpr std::size_t columns = 70;
  constexpr std::size_t words = 3;
  std::vector<ReplayRow> rows(7);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows[row].logits.assign(logits.begin() + static_cast<std::ptrdiff_t>(row * columns),
                            logits.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
    rows[row].active_vocabulary = 68;
    for (std::size_t w = 0; w < words; ++w) {
      rows[row].mask.push_back(static_cast<std::uint32_t>(mask[row * words + w]));
    }
  }
  rows[0].temperature = 0.7f;
  for (std::size_t row = 1; row < 4; ++row) {
    rows[row].bias = {{3, -2.5f}, {5, -INFINITY}, {69, 4.0f}};
    rows[row].counts = {{7, 2}, {8, 1}, {69, 1}};
    rows[row].presence = 0.5f;
    rows[row].frequency = 0.25f;
    rows[row].repetition = 1.2f;
    rows[row].temperature = 1.5f;
  }
  ++rows[2].counts[7];
  ++rows[2].counts[9];
  ++rows[3].counts[3];
  rows[4].mask.clear();
  rows[4].temperature = 0.0f;
  rows[5].temperature = 1e-5f;
  return rows;
}

}  // namespace

TEST_CASE("replay agrees with the plain reference on a mixed batch") {
  Replay replay;
  const auto logits = random_logits(7 * 70, 1);
  std::vector<std::int32_t> mask(7 * 3, 0x5a5a5a5a);
  std::fill(mask.end() - 3, mask.end(), 0);
  const std::vector<float> uniforms{0.0f, 0.25f, 0.5f, 0.75f, 0.5f, 0.999f, 0.5f};
  replay.input.add("logits", "F32", {7, 70}, logits);
  replay.input.add("bitmask", "I32", {7, 3}, mask);
  replay.input.add("uniforms", "F32", {7}, uniforms);
  replay.requests = mixed_requests;
  const auto rows = mixed_rows(logits, mask);

  const auto out = replay.run();
  CHECK(out.size() == 5);
  for (std::size_t row = 0; row < rows.size(); ++row) check_row(out, row, rows[row], uniforms[row]);
  CHECK_THAT(replay.printed, ContainsSubstring("row 6  status empty"));

  SECTION("the token-only path draws the same tokens and writes no large tensor") {
    const auto small = replay.run({"--no-probs"});
    CHECK(small.size() == 3);
    for (const char* name : {"tokens", "row_status", "log_sum_exp"}) {
      CHECK(small.at(name).bytes == out.at(name).bytes);
    }
  }
  SECTION("repeating prints timings and changes nothing") {
    const auto again = replay.run({"--repeat", "3"});
    for (const auto& [name, tensor] : out) CHECK(again.at(name).bytes == tensor.bytes);
    CHECK_THAT(replay.printed, ContainsSubstring("softmax median"));
    CHECK_THAT(replay.printed, ContainsSubstring("logits per second"));
  }
  SECTION("strict refuses the empty row after writing the output") {
    CHECK_THROWS_AS(replay.run({"--strict"}), tools::BadStatus);
    CHECK(std::filesystem::exists(replay.folder.file("out.safetensors")));
  }
  SECTION("a comparison with its own output finds nothing") {
    const std::string file = replay.folder.file("other.safetensors");
    std::filesystem::copy_file(replay.folder.file("out.safetensors"), file);
    replay.run({"--compare", file});
    CHECK_THAT(replay.printed, ContainsSubstring("logits  0 of 476 differ"));
    CHECK_THAT(replay.printed, ContainsSubstring("probs  0 of 490 differ"));
  }
}

TEST_CASE("replay penalizes by the policy that the file names") {
  const std::pair<const char*, ReferencePolicy> cases[] = {
      {"seed", ReferencePolicy::seed},
      {"openai", ReferencePolicy::openai},
      {"hugging_face", ReferencePolicy::hugging_face},
      {"llama_cpp", ReferencePolicy::llama_cpp}};
  const auto logits = random_logits(7 * 70, 4);
  const std::vector<std::int32_t> mask(7 * 3, 0x5a5a5a5a);
  const std::vector<float> uniforms{0.0f, 0.25f, 0.5f, 0.75f, 0.5f, 0.999f, 0.5f};
  std::set<std::string> different;
  for (const auto& [name, policy] : cases) {
    CAPTURE(name);
    Replay replay;
    replay.input.add("logits", "F32", {7, 70}, logits);
    replay.input.add("bitmask", "I32", {7, 3}, mask);
    replay.input.add("uniforms", "F32", {7}, uniforms);
    replay.requests = R"({"policy": ")" + std::string(name) + "\", " + (mixed_requests + 1);
    auto rows = mixed_rows(logits, mask);
    for (std::size_t row = 1; row < 4; ++row) {
      rows[row].policy = policy;
      rows[row].prompt = {1, 2};
      rows[row].output = {7, 8, 7, 69};
    }
    rows[2].output.insert(rows[2].output.end(), {7, 9});
    rows[3].output.push_back(3);
    const auto out = replay.run();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      check_row(out, row, rows[row], uniforms[row]);
    }
    different.insert(out.at("logits").bytes);
  }
  CHECK(different.size() == 4);
}

TEST_CASE("without uniforms replay draws by Philox from seed, position and id") {
  Replay replay;
  const auto logits = random_logits(3 * 500, 2);
  replay.input.add("logits", "F32", {3, 500}, logits);
  replay.requests = R"({"requests": [
    {"id": "first", "seed": 81985529216486895, "generated_token_ids": [1, 2, 3], "num_tokens": 2,
     "draft": {"token_ids": [4], "parents": [-1], "rows": [-1, 0]}},
    {"seed": 5}]})";
  const auto out = replay.run();
  const std::uint64_t seed = 0x0123456789abcdefu;
  const std::uint32_t stream = reference_fnv("first");
  const float uniforms[] = {reference_philox(seed, 3, 0, 0, stream),
                            reference_philox(seed, 4, 0, 0, stream),
                            reference_philox(5, 0, 0, 0, reference_fnv(""))};
  for (std::size_t row = 0; row < 3; ++row) {
    ReplayRow reference;
    reference.logits.assign(logits.begin() + static_cast<std::ptrdiff_t>(row * 500),
                            logits.begin() + static_cast<std::ptrdiff_t>((row + 1) * 500));
    reference.active_vocabulary = 500;
    check_row(out, row, reference, static_cast<double>(uniforms[row]));
  }
}

TEST_CASE("16-bit logits are widened before anything else") {
  // A bias that bfloat16 and binary16 could not hold beside 256: the edit is made in float32.
  const auto check = [](const char* dtype, std::uint16_t two_hundred_fifty_six) {
    CAPTURE(dtype);
    Replay replay;
    replay.input.add("logits", dtype, {1, 2}, std::vector<std::uint16_t>{two_hundred_fifty_six, 0});
    replay.requests = R"({"requests": [{"logit_bias": {"0": 0.00390625}}]})";
    const auto out = replay.run();
    CHECK(out.at("logits").dtype == "F32");
    CHECK(out.at("logits").as<float>() == std::vector<float>{256.00390625f, 0.0f});
  };
  check("F16", 0x5c00);
  check("BF16", 0x4380);
}

TEST_CASE("unusable rows get a status and leave the others alone") {
  Replay replay;
  auto logits = random_logits(4 * 40, 3);
  logits[45] = NAN;
  logits[85] = INFINITY;
  logits[125] = NAN;  // forbidden by the mask
  std::vector<std::int32_t> mask(4 * 2, -1);
  mask[6] = ~(1 << 5);
  replay.input.add("logits", "F32", {4, 40}, logits);
  replay.input.add("bitmask", "I32", {4, 2}, mask);
  replay.requests = R"({"requests": [{}, {}, {}, {}]})";
  const auto out = replay.run();
  CHECK(out.at("row_status").as<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2, 0});
  const auto tokens = out.at("tokens").as<std::int32_t>();
  CHECK(tokens[0] >= 0);
  CHECK(tokens[1] == -1);
  CHECK(tokens[2] == -1);
  CHECK(tokens[3] >= 0);
  const auto probs = out.at("probs").as<float>();
  CHECK(std::all_of(probs.begin() + 40, probs.begin() + 120, [](float p) { return p == 0.0f; }));
  CHECK(out.at("logits").as<float>()[125] == -FLT_MAX);
}

TEST_CASE("zero rows are legal") {
  Replay replay;
  replay.input.add<float>("logits", "F32", {0, 8}, {});
  replay.requests = R"({"requests": []})";
  const auto out = replay.run();
  CHECK(out.at("probs").shape == std::vector<std::int64_t>{0, 8});
  CHECK(out.at("tokens").shape == std::vector<std::int64_t>{0});
}

TEST_CASE("a bitmask as wide as the active vocabulary is enough") {
  Replay replay;
  replay.input.add("logits", "F32", {1, 70}, std::vector<float>(70, 0.0f));
  replay.input.add("bitmask", "I32", {1, 2}, std::vector<std::int32_t>{0, 1 << 3});
  replay.requests = R"({"active_vocab_size": 64, "requests": [{}]})";
  CHECK(replay.run().at("tokens").as<std::int32_t>() == std::vector<std::int32_t>{35});
}

}  // namespace tokkos::test
