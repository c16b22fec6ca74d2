// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "tools/replay_files.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace tokkos::test {

TEST_CASE("only what a request asks for is written") {
  Replay replay;
  replay.input.add<float>("logits", "F32", {1, 4}, {0.0f, 1.0f, 2.0f, 3.0f});
  replay.requests = R"({"requests": [{"logprobs": "raw"}]})";
  const auto out = replay.run();
  CHECK(out.contains("logprobs"));
  CHECK_FALSE(out.contains("top_logprobs"));
  CHECK_FALSE(out.contains("top_tokens"));
  CHECK_FALSE(out.contains("truncated_probs"));
}

TEST_CASE("requests without rows may ask for log-probabilities") {
  Replay replay;
  replay.input.add<float>("logits", "F32", {0, 4}, {});
  replay.requests =
      R"({"requests": [{"num_tokens": 0, "logprobs": "raw", "top_logprobs": 2, "top_k": 1},
                       {"num_tokens": 0, "logprobs": "processed"}]})";
  const auto out = replay.run({"--truncated"});
  CHECK(out.at("logprobs").shape == std::vector<std::int64_t>{0});
  CHECK(out.at("top_tokens").shape == std::vector<std::int64_t>{0, 2});
  CHECK(out.at("truncated_probs").shape == std::vector<std::int64_t>{0, 4});
}

TEST_CASE("raw log-probabilities look at logits that the mask forbids") {
  Replay replay;
  replay.input.add<float>("logits", "F32", {2, 3}, {0.0f, 5.0f, 1.0f, NAN, 0.0f, 1.0f});
  replay.input.add<std::int32_t>("bitmask", "I32", {2, 1}, {0b101, 0b010});
  replay.requests = R"({"requests": [{"logprobs": "raw", "top_logprobs": 1, "top_k": 1},
                                     {"logprobs": "raw"}]})";
  const auto out = replay.run();
  CHECK(out.at("tokens").as<std::int32_t>() == std::vector<std::int32_t>{2, 1});
  CHECK(out.at("top_tokens").as<std::int32_t>() == std::vector<std::int32_t>{1, -1});
  const double expected = 1.0 - std::log(std::exp(0.0) + std::exp(5.0) + std::exp(1.0));
  CHECK(std::abs(static_cast<double>(out.at("logprobs").as<float>()[0]) - expected) < 1e-6);
  // The second row has none, and is none the worse for it.
  CHECK(out.at("logprobs").as<float>()[1] == -INFINITY);
  CHECK(out.at("row_status").as<std::int32_t>() == std::vector<std::int32_t>{0, 0});
}

}  // namespace tokkos::test
