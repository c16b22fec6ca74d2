// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "reference/log_probability_reference.hpp"
#include "reference/softmax_reference.hpp"
#include "reference/truncation_reference.hpp"
#include "tools/replay_files.hpp"
#include "tools/replay_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t columns = 5000;  // two chunks
constexpr std::size_t words = (columns + 31) / 32;
constexpr std::int64_t active = 4990;
constexpr std::size_t row_count = 9;
constexpr std::size_t listed = 8;  // the largest top_logprobs

constexpr const char* mixed_requests = R"({"active_vocab_size": 4990, "requests": [
  {"id": "top_k", "top_k": 5, "logprobs": "processed", "top_logprobs": 3},
  {"id": "top_p", "top_p": 0.9, "temperature": 0.8, "logit_bias": {"7": 9.0, "8": "-Infinity"},
   "num_tokens": 2, "logprobs": "raw", "top_logprobs": 5},
  {"id": "min_p", "min_p": 0.05, "masked": false, "logprobs": "processed", "top_logprobs": 2},
  {"id": "all", "top_k": 4, "top_p": 0.999, "min_p": 0.0001, "temperature": 1.5,
   "logprobs": "processed", "top_logprobs": 8},
  {"id": "plain", "logprobs": "processed"},
  {"id": "greedy", "temperature": 0.0, "top_k": 2, "logprobs": "processed", "top_logprobs": 4},
  {"id": "silent", "top_p": 0.5},
  {"id": "empty", "top_k": 3, "logprobs": "processed", "top_logprobs": 2}]})";

/// What a row asks for, beside its logits.
struct Wanted {
  ReplayRow row;
  ReferenceLimits limits;
  char kind = 'p';  // processed, raw or none
  std::size_t top = 0;
};

struct MixedStep {
  std::vector<float> logits;
  std::vector<std::int32_t> mask;
  std::vector<float> uniforms{0.0f, 0.25f, 0.5f, 0.75f, 0.5f, 0.9990234375f, 0.5f, 0.125f, 0.375f};
  std::vector<Wanted> rows;

  MixedStep() : logits(row_count * columns), mask(row_count * words, 0x7ff7fbff), rows(row_count) {
    std::mt19937 generator(5);
    std::normal_distribution<float> normal(0.0f, 3.0f);
    // Coarse, so that equal logits stand at the edges too.
    for (float& x : logits) x = std::round(normal(generator) * 8.0f) / 8.0f;
    std::fill(mask.end() - static_cast<std::ptrdiff_t>(words), mask.end(), 0);
    for (std::size_t r = 0; r < row_count; ++r) {
      ReplayRow& row = rows[r].row;
      const auto at = logits.begin() + static_cast<std::ptrdiff_t>(r * columns);
      row.logits.assign(at, at + columns);
      row.active_vocabulary = active;
      for (std::size_t w = 0; w < words; ++w) {
        row.mask.push_back(static_cast<std::uint32_t>(mask[r * words + w]));
      }
    }
    rows[0].limits.top_k = 5;
    rows[0].top = 3;
    for (std::size_t r = 1; r < 3; ++r) {
      rows[r].limits.top_p = 0.9f;
      rows[r].row.temperature = 0.8f;
      rows[r].row.bias = {{7, 9.0f}, {8, -INFINITY}};
      rows[r].kind = 'r';
      rows[r].top = 5;
    }
    rows[3].limits.min_p = 0.05f;
    rows[3].row.mask.clear();
    rows[3].top = 2;
    rows[4].limits = {4, 0.999f, 0.0001f};
    rows[4].row.temperature = 1.5f;
    rows[4].top = 8;
    rows[6].limits.top_k = 2;
    rows[6].row.temperature = 0.0f;
    rows[6].top = 4;
    rows[7].limits.top_p = 0.5f;
    rows[7].kind = 'n';
    rows[8].limits.top_k = 3;
    rows[8].top = 2;
  }
};

/// The kept token whose inclusive prefix of masses, by id, is the first past floor(u * sum).
std::int64_t drawn_token(const SortedRow& sorted, const ReferenceCut& cut, float u) {
  std::vector<std::pair<std::int64_t, std::int64_t>> kept;
  for (std::size_t i = 0; i < static_cast<std::size_t>(cut.count); ++i) {
    kept.emplace_back(sorted.tokens()[i], sorted.masses()[i]);
  }
  std::sort(kept.begin(), kept.end());
  // u is a multiple of 2^-24 here.
  __extension__ using int128 = __int128;
  const auto units = static_cast<std::int64_t>(std::ldexp(u, 24));
  REQUIRE(std::ldexp(static_cast<float>(units), -24) == u);
  const auto target = static_cast<std::int64_t>((static_cast<int128>(units) * cut.mass) >> 24);
  std::int64_t prefix = 0;
  for (const auto& [token, mass] : kept) {
    prefix += mass;
    if (prefix > target) return token;
  }
  return -1;
}

template <class T>
std::vector<T> row_of(const StoredTensor& tensor, std::size_t row, std::size_t width) {
  const auto all = tensor.as<T>();
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(row * width);
  return std::vector<T>(at, at + static_cast<std::ptrdiff_t>(width));
}

/// Checks the log-probabilities of a row that asks for them.
/// @param kept tokens of the order that may be listed; -1: all, 0: none
void check_log_probabilities(const std::map<std::string, StoredTensor>& out, std::size_t row,
                             const ReferenceRow& reference, std::int64_t kept, std::size_t top) {
  const auto expected = reference_log_probabilities(reference, kept);
  const auto token = out.at("tokens").as<std::int32_t>()[row];
  const float logprob = out.at("logprobs").as<float>()[row];
  if (token < 0) {
    CHECK(logprob == -INFINITY);
  } else {
    CHECK(is_close(expected, token, logprob));
  }
  auto order = ordered_tokens(reference);
  if (kept >= 0) order.resize(std::min(order.size(), static_cast<std::size_t>(kept)));
  order.resize(std::min(order.size(), top));
  const auto tokens = row_of<std::int32_t>(out.at("top_tokens"), row, listed);
  const auto values = row_of<float>(out.at("top_logprobs"), row, listed);
  for (std::size_t i = 0; i < listed; ++i) {
    CAPTURE(i);
    CHECK(tokens[i] == (i < order.size() ? order[i] : -1));
    if (i < order.size()) {
      CHECK(is_close(expected, order[i], values[i]));
    } else {
      CHECK(values[i] == -INFINITY);
    }
  }
}

void check_truncated(const std::map<std::string, StoredTensor>& out, std::size_t row,
                     const SortedRow& sorted, const ReferenceCut& cut) {
  const auto truncated = row_of<float>(out.at("truncated_probs"), row, columns);
  if (cut.count == -1) {
    CHECK(truncated == row_of<float>(out.at("probs"), row, columns));
    return;
  }
  std::vector<float> expected(columns, 0.0f);
  for (std::size_t i = 0; i < static_cast<std::size_t>(cut.count); ++i) {
    expected[static_cast<std::size_t>(sorted.tokens()[i])] =
        static_cast<float>(sorted.masses()[i]) / static_cast<float>(cut.mass);
  }
  CHECK(truncated == expected);
}

void check_row(const std::map<std::string, StoredTensor>& out, std::size_t row,
               const Wanted& wanted, float u) {
  CAPTURE(row);
  const auto edited = reference_edits(wanted.row);
  const ReferenceRow processed{edited, {}, active, wanted.row.temperature};
  const ReferenceRow raw{wanted.row.logits, {}, active, 1.0f};
  const SortedRow sorted(processed);
  const ReferenceCut cut = sorted.cut(wanted.limits);
  check_truncated(out, row, sorted, cut);
  const auto token = out.at("tokens").as<std::int32_t>()[row];
  if (cut.count == -1) {
    CHECK(distance_from_share(reference_softmax(processed), token, u) < 1e-5);
  } else {
    CHECK(token == (cut.count == 0 ? -1 : drawn_token(sorted, cut, u)));
  }
  if (wanted.kind == 'n') {
    CHECK(out.at("logprobs").as<float>()[row] == -INFINITY);
    CHECK(row_of<std::int32_t>(out.at("top_tokens"), row, listed) ==
          std::vector<std::int32_t>(listed, -1));
    CHECK(row_of<float>(out.at("top_logprobs"), row, listed) ==
          std::vector<float>(listed, -INFINITY));
  } else if (wanted.kind == 'r') {
    check_log_probabilities(out, row, raw, -1, wanted.top);
  } else {
    check_log_probabilities(out, row, processed, cut.count, wanted.top);
  }
}

void fill(Replay& replay, const MixedStep& step) {
  replay.input.add("logits", "F32", {row_count, columns}, step.logits);
  replay.input.add("bitmask", "I32", {row_count, words}, step.mask);
  replay.input.add("uniforms", "F32", {row_count}, step.uniforms);
  replay.requests = mixed_requests;
}

}  // namespace

TEST_CASE("replay truncates and tells log-probabilities as each request asks") {
  const MixedStep step;
  Replay replay;
  fill(replay, step);
  const auto out = replay.run({"--truncated"});
  CHECK(out.size() == 9);
  CHECK(out.at("logprobs").shape == std::vector<std::int64_t>{row_count});
  CHECK(out.at("top_logprobs").shape == std::vector<std::int64_t>{row_count, listed});
  CHECK(out.at("top_tokens").dtype == "I32");
  for (std::size_t row = 0; row < row_count; ++row) {
    check_row(out, row, step.rows[row], step.uniforms[row]);
  }
  CHECK(out.at("row_status").as<std::int32_t>() ==
        std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 0, 0, 4});

  SECTION("the token-only path gives the same tokens and log-probabilities") {
    const auto small = replay.run({"--no-probs"});
    CHECK(small.size() == 6);
    for (const auto& [name, tensor] : small) CHECK(tensor.bytes == out.at(name).bytes);
  }
  SECTION("repeating changes nothing") {
    const auto again = replay.run({"--truncated", "--repeat", "2"});
    for (const auto& [name, tensor] : out) CHECK(again.at(name).bytes == tensor.bytes);
    for (const char* stage : {"truncation", "log-probabilities", "truncated softmax"}) {
      CHECK_THAT(replay.printed, ContainsSubstring(std::string(stage) + " median"));
    }
  }
  SECTION("a comparison with its own output finds nothing") {
    const std::string file = replay.folder.file("other.safetensors");
    std::filesystem::copy_file(replay.folder.file("out.safetensors"), file);
    replay.run({"--truncated", "--compare", file});
    CHECK_THAT(replay.printed, ContainsSubstring("truncated_probs  0 of 45000 differ"));
    CHECK_THAT(replay.printed, ContainsSubstring("logprobs  0 of 9 differ"));
    CHECK_THAT(replay.printed, ContainsSubstring("top_logprobs  0 of 72 differ"));
    CHECK_THAT(replay.printed, ContainsSubstring("top_tokens  0 of 72 differ"));
  }
  SECTION("a comparison with the untruncated step finds the differences") {
    const std::string file = replay.folder.file("other.safetensors");
    std::filesystem::rename(replay.folder.file("out.safetensors"), file);
    replay.requests = R"({"active_vocab_size": 4990, "requests": [{"num_tokens": 9}]})";
    replay.run({"--truncated", "--compare", file});
    CHECK_THAT(replay.printed, ContainsSubstring("logprobs  only in"));
    CHECK_THAT(replay.printed, !ContainsSubstring("truncated_probs  0 of"));
  }
}

}  // namespace tokkos::test
