// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/philox_by_hand.hpp"
#include "engine/random_step.hpp"

namespace tokkos::test {
namespace {

std::uint32_t generated_of(const OwnedStep& step, std::size_t request) {
  return static_cast<std::uint32_t>(step.histories[request].generated().size());
}

std::uint32_t depth_of(const DraftTree& tree, std::int32_t node) {
  std::uint32_t depth = 0;
  for (; node != -1; node = tree.parents[static_cast<std::size_t>(node)]) ++depth;
  return depth;
}

}  // namespace

TEST_CASE("Philox and FNV-1a by hand give the published answers", "[engine]") {
  // Random123's kat_vectors: counter and key 0 give 6627e8d5, all ones 408f276d.
  CHECK(philox_by_hand(0, 0, 0, 0, 0) == static_cast<float>(0x6627e8d5u >> 8) * 0x1p-24f);
  CHECK(philox_by_hand(~std::uint64_t{0}, ~0u, ~0u, ~0u, ~0u) ==
        static_cast<float>(0x408f276du >> 8) * 0x1p-24f);
  CHECK(fnv_by_hand("") == 0x811c9dc5u);
  CHECK(fnv_by_hand("a") == 0xe40c292cu);
  CHECK(fnv_by_hand("foobar") == 0xbf9cf968u);
}

TEST_CASE("a row's uniform is Philox of its request's seed, position, purpose and id", "[engine]") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const RandomStep step = make_random_step_with_histories(100, 100, seed);
    const StepRequests requests = step.step.requests();
    for (const Purpose purpose : {Purpose::sample, Purpose::draft, Purpose::bonus}) {
      const std::vector<float> uniforms = step_uniforms(requests, step.rows, purpose);
      std::vector<float> expected;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        std::vector<std::int32_t> nodes_before;
        for (std::int64_t row = requests.first_row(i); row < requests.end_row(i); ++row) {
          std::uint32_t position = generated_of(step.step, i);
          std::int32_t node = -1;
          if (step.step.indices) {
            const auto local = static_cast<std::size_t>(row - requests.first_row(i));
            node = (*step.step.indices)[i][local];
            position += depth_of((*step.step.trees)[i], node);
          }
          const auto draw = static_cast<std::uint32_t>(std::ranges::count(nodes_before, node));
          nodes_before.push_back(node);
          expected.push_back(philox_by_hand(step.step.configs[i].seed, position, draw,
                                            static_cast<std::uint32_t>(purpose),
                                            fnv_by_hand(step.step.ids[i])));
        }
      }
      CHECK(uniforms == expected);
    }
  }
}

TEST_CASE("a request without a history has no place in its random stream", "[engine]") {
  OwnedStep step;
  step.add({});
  step.add({});
  step.states[1].history = nullptr;
  try {
    step_uniforms(step.requests(), 2);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.field() == "sequence_states[1].history");
  }
  CHECK_THROWS_AS(verify_uniforms(step.requests()), Error);
}

TEST_CASE("a request's uniforms do not depend on the others or on its place", "[engine]") {
  GenerationConfig config;
  config.seed = 77;
  OwnedStep one, two;
  one.add(config);
  one.ids = {"x"};
  two.add({});
  two.add(config);
  two.ids = {"y", "x"};
  CHECK(step_uniforms(one.requests(), 1)[0] == step_uniforms(two.requests(), 2)[1]);
}

TEST_CASE("a request's own number names its stream, whatever its id and its place in the batch",
          "[engine]") {
  const auto step_of = [](const std::vector<std::pair<std::string, GenerationConfig>>& requests) {
    OwnedStep step;
    for (const auto& [id, config] : requests) {
      step.add(config, TokenHistory({1, 2}));
      step.ids.back() = id;
    }
    return step;
  };
  const GenerationConfig seven{.seed = 5, .stream = 7}, last{.seed = 5, .stream = 0xffffffffu},
      zero{.seed = 5, .stream = 0}, hashed{.seed = 5};
  const OwnedStep step =
      step_of({{"a", seven}, {"b", last}, {"c", seven}, {"a", hashed}, {"a", zero}});
  const std::vector<float> uniforms = step_uniforms(step.requests(), 5);
  CHECK(uniforms == std::vector<float>{
                        philox_by_hand(5, 0, 0, 0, 7), philox_by_hand(5, 0, 0, 0, 0xffffffffu),
                        philox_by_hand(5, 0, 0, 0, 7), philox_by_hand(5, 0, 0, 0, fnv_by_hand("a")),
                        philox_by_hand(5, 0, 0, 0, 0)});
  CHECK(std::set<float>(uniforms.begin(), uniforms.end()).size() == 4);
  const OwnedStep turned = step_of({{"a", hashed}, {"d", last}, {"e", zero}, {"", seven}});
  CHECK(step_uniforms(turned.requests(), 4) ==
        std::vector<float>{uniforms[3], uniforms[1], uniforms[4], uniforms[0]});
  const VerifyUniforms verify = verify_uniforms(step.requests());
  CHECK(verify.bonus[0] == philox_by_hand(5, 0, 0, 3, 7));
  CHECK(verify.bonus[2] == verify.bonus[0]);
  CHECK(verify.bonus[1] == philox_by_hand(5, 0, 0, 3, 0xffffffffu));
  CHECK(verify.bonus[3] == philox_by_hand(5, 0, 0, 3, fnv_by_hand("a")));
}

TEST_CASE("a request with a stream number needs no id", "[engine]") {
  OwnedStep step;
  step.add({.stream = 1});
  step.add({.stream = 2});
  step.ids.clear();
  CHECK(step_uniforms(step.requests(), 2) ==
        std::vector<float>{philox_by_hand(0, 0, 0, 0, 1), philox_by_hand(0, 0, 0, 0, 2)});
  step.configs[1].stream.reset();
  try {
    step_uniforms(step.requests(), 2);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.field() == "request_ids.size");
    CHECK(std::string(error.what()).find("generation_configs[1].stream") != std::string::npos);
  }
  CHECK_THROWS_AS(verify_uniforms(step.requests()), Error);
}

TEST_CASE("several rows of one request draw independently, siblings share their position's uniform",
          "[engine]") {
  OwnedStep step;
  step.add({});
  step.add({});
  step.ids = {"drafts", "several"};
  step.trees = {{{1, 2, 3}, {-1, -1, 0}}, {}};
  step.indices = {{-1, 0, 1, 2}, {-1, -1, -1}};
  step.cum_num_token = {0, 4, 7};
  const std::vector<float> uniforms = step_uniforms(step.requests(), 7);
  CHECK(uniforms[1] == uniforms[2]);
  CHECK(std::set<float>(uniforms.begin(), uniforms.end()).size() == 6);
  for (std::uint32_t draw = 0; draw < 3; ++draw) {
    CHECK(uniforms[4 + draw] == philox_by_hand(0, 0, draw, 0, fnv_by_hand("several")));
  }
}

TEST_CASE("verification's uniforms are refused for rows in another order than the nodes'",
          "[engine]") {
  struct Rows {
    std::vector<std::int32_t> nodes;
    const char* field;
    std::optional<std::int64_t> index;
    const char* value;
  };
  const Rows rows = GENERATE(Rows{{-1, 1, 0, 2}, "draft_token_indices[1]", 1, "1"},
                             Rows{{0, 1, 2, -1}, "draft_token_indices[1]", 0, "0"},
                             Rows{{-1, 0, 1, 1}, "draft_token_indices[1]", 3, "1"},
                             Rows{{-1, 0, 1}, "draft_token_indices[1].size", {}, "3"},
                             Rows{{-1, 0, 1, 2, 2}, "draft_token_indices[1].size", {}, "5"},
                             Rows{{2}, "draft_token_indices[1].size", {}, "1"},
                             Rows{{}, "draft_token_indices[1].size", {}, "0"});
  OwnedStep step;
  step.add({});
  step.add({});
  step.trees = {{{}, {}}, {{1, 2, 3}, {-1, 0, -1}}};
  step.indices = {{-1}, rows.nodes};
  step.cum_num_token = {0, 1, 1 + static_cast<std::int32_t>(rows.nodes.size())};
  try {
    verify_uniforms(step.requests());
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.field() == rows.field);
    CHECK(error.index() == rows.index);
    CHECK(error.value() == rows.value);
    CHECK(error.request() == 1);
  }
  // In their order, and in a step of its own, of which rows say nothing.
  step.indices = {{-1}, {-1, 0, 1, 2}};
  step.cum_num_token = {0, 1, 5};
  const VerifyUniforms ordered = verify_uniforms(step.requests());
  step.indices = {{-1}, {-1}};
  step.cum_num_token.reset();
  const VerifyUniforms alone = verify_uniforms(step.requests());
  CHECK(ordered.nodes == alone.nodes);
  CHECK(ordered.bonus == alone.bonus);
}

TEST_CASE("verification's uniforms are Philox of node and depth, the bonus's of its own purpose",
          "[engine]") {
  OwnedStep step;
  GenerationConfig config;
  config.seed = 0x123456789abcdefu;
  TokenHistory history({1});
  for (int i = 0; i < 4; ++i) history.commit(i);
  step.add(config, history);
  step.add({}, {});
  step.add(config, {});
  step.trees = {{{1, 2, 3}, {-1, 0, -1}}, {}, {{4}, {-1}}};
  step.indices = {{-1, 0, 1, 2}, {-1}, {-1, 0}};
  step.cum_num_token = {0, 4, 5, 7};
  const VerifyUniforms uniforms = verify_uniforms(step.requests());
  REQUIRE(uniforms.nodes.size() == 7);
  REQUIRE(uniforms.bonus.size() == 3);
  const std::uint32_t stream = fnv_by_hand(step.ids[0]);
  CHECK(uniforms.nodes[1] == philox_by_hand(config.seed, 5, 0, 2, stream));
  CHECK(uniforms.nodes[2] == philox_by_hand(config.seed, 6, 1, 2, stream));
  CHECK(uniforms.nodes[3] == philox_by_hand(config.seed, 5, 2, 2, stream));
  CHECK(uniforms.nodes[6] == philox_by_hand(config.seed, 1, 0, 2, fnv_by_hand(step.ids[2])));
  CHECK(uniforms.bonus[0] == philox_by_hand(config.seed, 4, 0, 3, stream));
  CHECK(uniforms.bonus[1] == philox_by_hand(0, 0, 0, 3, fnv_by_hand(step.ids[1])));
  CHECK(uniforms.bonus[2] == philox_by_hand(config.seed, 0, 0, 3, fnv_by_hand(step.ids[2])));
}

}  // namespace tokkos::test
