// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/generator.hpp"

#include "backends.hpp"
#include "tools/decode/corpus.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;

namespace {

const std::string licence =
    (std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "LICENSE")
        .string();

const Corpus& corpus() {
  static const Corpus texts = read_corpus(std::vector<std::string>{licence});
  return texts;
}

struct Models {
  NgramModel target{corpus().tokens, corpus().vocabulary.size(), 4};
  NgramModel draft{corpus().tokens, corpus().vocabulary.size(), 3};
};

const Models& models() {
  static const Models both;
  return both;
}

GeneratorSettings settings_with(const std::string& tree) {
  GeneratorSettings settings;
  settings.prompt = corpus().tokenize("prompt", "You may");
  settings.max_tokens = 60;
  settings.speculate = !tree.empty();
  if (settings.speculate) settings.tree = parse_tree_shape(tree);
  return settings;
}

template <class ExecutionSpace>
Generator<ExecutionSpace> finished(const GeneratorSettings& settings) {
  Generator<ExecutionSpace> generator(ExecutionSpace(), models().target, models().draft, settings);
  while (generator.step()) {
  }
  return generator;
}

using Texts = std::vector<std::vector<TokenId>>;

Texts texts_of(const std::vector<DecodeRequest>& requests) {
  Texts texts;
  for (const DecodeRequest& request : requests) {
    texts.emplace_back(request.history.generated().begin(), request.history.generated().end());
  }
  return texts;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a seed gives the same texts on every backend and in every batch",
                        "[sameness]", test::ExecutionSpaces) {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x2");
  GeneratorSettings settings = settings_with(tree);
  settings.max_tokens = 30;
  settings.config.seed = 5;
  settings.config.frequency_penalty = 0.1f;
  settings.batch = 3;
  const Texts batch = texts_of(finished<TestType>(settings).requests());
  CHECK(batch[0] != batch[1]);
  CHECK(batch == texts_of(finished<Kokkos::Serial>(settings).requests()));
  settings.batch = 1;
  CHECK(texts_of(finished<TestType>(settings).requests()) == Texts{batch[0]});
  settings.config.seed = 6;
  CHECK(texts_of(finished<TestType>(settings).requests()) != Texts{batch[0]});
}

TEST_CASE("a chain of four drafts has at least one accepted a step") {
  GeneratorSettings settings = settings_with("chain:4");
  settings.batch = 4;
  settings.max_tokens = 200;
  const auto generator = finished<Kokkos::DefaultExecutionSpace>(settings);
  const Statistics& statistics = generator.statistics();
  CHECK(statistics.tokens == 800);
  CHECK(statistics.accepted >= statistics.request_steps);
  // Every step of a request ends with a token that was no draft, but for its last.
  CHECK(statistics.tokens - statistics.accepted <= statistics.request_steps);
  CHECK(statistics.tokens - statistics.accepted >= statistics.request_steps - 4);
  CHECK(statistics.staged_bytes > 0);
  CHECK(statistics.bad_rows == 0);
}

TEST_CASE("a text that obeys a constraint ends where the constraint ends") {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x3");
  CAPTURE(tree);
  GeneratorSettings settings = settings_with(tree);
  settings.batch = 8;
  settings.max_tokens = 2000;
  const Vocabulary& vocabulary = corpus().vocabulary;
  settings.rule = std::make_shared<const ConstraintRule>(
      parse_constraint("pattern:distribut* * Work ,", vocabulary));
  const auto pattern = finished<Kokkos::DefaultExecutionSpace>(settings);
  for (const auto& text : texts_of(pattern.requests())) {
    REQUIRE(text.size() == 4);
    CHECK(vocabulary.text(text[0]).starts_with("distribut"));
    CHECK(is_word(vocabulary.text(text[1])));
    CHECK(vocabulary.text(text[2]) == "Work");
    CHECK(vocabulary.text(text[3]) == ",");
  }
  CHECK(pattern.statistics().bad_rows == 0);

  settings.rule = std::make_shared<const ConstraintRule>(parse_constraint("sentence", vocabulary));
  for (const auto& text : texts_of(finished<Kokkos::DefaultExecutionSpace>(settings).requests())) {
    REQUIRE(text.size() < 2000);
    for (std::size_t i = 0; i < text.size(); ++i) {
      CHECK((vocabulary.text(text[i]) == ".") == (i + 1 == text.size()));
    }
  }
}

TEST_CASE("a forbidden word never comes, and with all forbidden the request stops") {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x2");
  GeneratorSettings settings = settings_with(tree);
  settings.batch = 2;
  const TokenId the = *corpus().vocabulary.find("the");
  constexpr double never = -std::numeric_limits<double>::infinity();
  settings.config.logit_bias = {{the, never}};
  for (const auto& text : texts_of(finished<Kokkos::DefaultExecutionSpace>(settings).requests())) {
    CHECK(text.size() == 60);
    for (const TokenId token : text) CHECK(token != the);
  }
  for (TokenId token = 0; token < corpus().vocabulary.size(); ++token) {
    settings.config.logit_bias.emplace_back(token, never);
  }
  const auto stuck = finished<Kokkos::DefaultExecutionSpace>(settings);
  CHECK(texts_of(stuck.requests()) == Texts{{}, {}});
  CHECK(stuck.statistics().bad_rows == 2);
}

TEMPLATE_LIST_TEST_CASE("a drawn sibling is stored with its distribution and taken out of it", "",
                        test::ExecutionSpaces) {
  using Space = TestType;
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> remaining("remaining", 4, 4);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> stored("stored", 6, 4);
  const Kokkos::View<TokenId*, Space> drawn("drawn", 4);
  const auto rows = Kokkos::create_mirror_view(remaining);
  const auto tokens = Kokkos::create_mirror_view(drawn);
  const float given[4][4] = {
      {0.5f, 0.25f, 0.25f, 0.0f}, {0.0f, 0.0f, 1.0f, 0.0f}, {0, 0, 0, 0}, {0, 0x1p-17f, 1.0f, 0}};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t v = 0; v < 4; ++v) rows(row, v) = given[row][v];
  }
  tokens(0) = 0;
  tokens(1) = 2;
  tokens(2) = -1;
  tokens(3) = 2;
  Kokkos::deep_copy(remaining, rows);
  Kokkos::deep_copy(drawn, tokens);
  const Space space;
  store_and_exclude(space, Matrix<float, MemoryOf<Space>>(remaining),
                    Vector<const TokenId, MemoryOf<Space>>(drawn), {2, 3, 1},
                    Matrix<float, MemoryOf<Space>>(stored));
  space.fence();
  const auto left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), remaining);
  const auto kept = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stored);
  const float expected_left[4][4] = {{0, 0.5f, 0.5f, 0}, {}, {}, {}};
  const float expected_kept[6][4] = {{},           {0.5f, 0.25f, 0.25f, 0}, {0, 0, 1, 0}, {},
                                     {1, 0, 0, 0}, {0, 0x1p-17f, 1, 0}};
  for (std::size_t v = 0; v < 4; ++v) {
    for (std::size_t row = 0; row < 4; ++row) CHECK(left(row, v) == expected_left[row][v]);
    for (std::size_t row = 0; row < 6; ++row) CHECK(kept(row, v) == expected_kept[row][v]);
  }
}
