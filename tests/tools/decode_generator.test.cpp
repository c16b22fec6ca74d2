// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/generator.hpp"

#include "backends.hpp"
#include "tools/decode/corpus.hpp"
#include "tools/licence.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;

namespace {

using test::licence;

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

GeneratorSettings settings_with(const std::string& tree, RequestSettings request = {},
                                std::size_t batch = 1) {
  GeneratorSettings settings;
  request.prompt = corpus().tokenize("prompt", "You may");
  settings.requests.assign(batch, request);
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

// The distribution that the i-th generated word was drawn from, in double, by the definitions of
// bias, frequency penalty, temperature and top-p.
std::vector<double> next_word_probabilities(const GenerationConfig& config,
                                            const TokenHistory& history, std::size_t i) {
  const auto generated = history.generated().first(i);
  std::vector<TokenId> context = {0};  // a paragraph break stands before the prompt
  context.insert(context.end(), history.prompt().begin(), history.prompt().end());
  context.insert(context.end(), generated.begin(), generated.end());
  context.erase(context.begin(), context.end() - std::min<std::ptrdiff_t>(3, std::ssize(context)));
  std::vector<float> logits(static_cast<std::size_t>(corpus().vocabulary.size()));
  models().target.score(context, logits);
  std::vector<double> p(logits.begin(), logits.end());
  for (const auto& [token, bias] : config.logit_bias) {
    p[static_cast<std::size_t>(token)] += bias;
  }
  for (const TokenId token : generated) {
    p[static_cast<std::size_t>(token)] -= static_cast<double>(config.frequency_penalty);
  }
  for (double& x : p) x = std::exp(x / static_cast<double>(config.temperature));
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  const double wanted =
      static_cast<double>(config.top_p) * std::accumulate(p.begin(), p.end(), 0.0);
  double before = 0.0;
  double kept = 0.0;
  for (const std::size_t token : order) {
    const double share = p[token];
    if (before >= wanted) p[token] = 0.0;
    before += share;
    kept += p[token];
  }
  for (double& value : p) value /= kept;
  return p;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a seed gives the same texts on every backend and in every batch",
                        "[sameness]", test::ExecutionSpaces) {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x2");
  RequestSettings request;
  request.config.seed = 5;
  request.config.frequency_penalty = 0.1f;
  request.config.top_p = 0.97f;
  request.config.min_p = 0.001f;
  GeneratorSettings settings = settings_with(tree, request, 3);
  settings.max_tokens = 30;
  const Texts batch = texts_of(finished<TestType>(settings).requests());
  CHECK(batch[0] != batch[1]);
  CHECK(batch == texts_of(finished<Kokkos::Serial>(settings).requests()));
  settings.requests.resize(1);
  CHECK(texts_of(finished<TestType>(settings).requests()) == Texts{batch[0]});
  settings.requests[0].config.seed = 6;
  CHECK(texts_of(finished<TestType>(settings).requests()) != Texts{batch[0]});
}

TEST_CASE("requests of a mixed batch get the texts that they get among their like") {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x2");
  CAPTURE(tree);
  GeneratorSettings mixed = settings_with(tree, {}, 6);
  mixed.max_tokens = 20;
  mixed.requests[1].config.temperature = 0.0f;
  mixed.requests[2].config = {.temperature = 1.3f, .top_k = 30, .repetition_penalty = 1.2f};
  mixed.requests[3].config = {.top_p = 0.8f, .penalty_policy = PenaltyPolicy::openai};
  mixed.requests[3].config.presence_penalty = 1.0f;
  mixed.requests[4].config.seed = 9;
  mixed.requests[4].prompt = {};
  mixed.requests[5].config.penalty_policy = PenaltyPolicy::llama_cpp;
  mixed.requests[5].config.frequency_penalty = 0.5f;
  mixed.requests[5].rule =
      std::make_shared<const ConstraintRule>(parse_constraint("words", corpus().vocabulary));
  const auto texts = texts_of(finished<Kokkos::DefaultExecutionSpace>(mixed).requests());
  for (std::size_t i = 0; i < mixed.requests.size(); ++i) {
    CAPTURE(i);
    GeneratorSettings same = mixed;
    same.requests.assign(mixed.requests.size(), mixed.requests[i]);
    CHECK(texts_of(finished<Kokkos::DefaultExecutionSpace>(same).requests())[i] == texts[i]);
  }
}

TEST_CASE("a generated word's log-probability is that of its place, with drafts and without") {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x2");
  CAPTURE(tree);
  RequestSettings given;
  given.config.temperature = 0.7f;
  given.config.frequency_penalty = 0.2f;
  given.config.top_p = 0.95f;
  given.config.logit_bias = {{*corpus().vocabulary.find("the"), -1.0}};
  GeneratorSettings settings = settings_with(tree, given, 3);
  settings.requests[1].config.top_p = 1.0f;
  settings.requests[2].config.temperature = 1.2f;
  settings.requests[2].config.frequency_penalty = 0.5f;
  const auto unscored = texts_of(finished<Kokkos::DefaultExecutionSpace>(settings).requests());
  settings.most_likely = 2;
  const auto generator = finished<Kokkos::DefaultExecutionSpace>(settings);
  CHECK(texts_of(generator.requests()) == unscored);
  double sum = 0.0;
  for (const DecodeRequest& request : generator.requests()) {
    CAPTURE(request.id);
    REQUIRE(request.scores.size() == request.history.generated().size());
    for (std::size_t i = 0; i < request.scores.size(); ++i) {
      CAPTURE(i);
      const auto expected = next_word_probabilities(request.config, request.history, i);
      const auto is_log_of = [](float value, double p) {
        return std::abs(static_cast<double>(value) - std::log(p)) < 1e-4;
      };
      const TokenScore& score = request.scores[i];
      sum += static_cast<double>(score.log_probability);
      const auto token = static_cast<std::size_t>(request.history.generated()[i]);
      CHECK(is_log_of(score.log_probability, expected[token]));
      REQUIRE_FALSE(score.most_likely.empty());
      REQUIRE(score.most_likely.size() <= 2);
      for (const auto& [likely, value] : score.most_likely) {
        CHECK(is_log_of(value, expected[static_cast<std::size_t>(likely)]));
      }
      CHECK(is_log_of(score.most_likely[0].second, *std::ranges::max_element(expected)));
    }
  }
  CHECK(std::abs(generator.statistics().log_probability - sum) < 1e-3);
  CHECK(generator.statistics().scored == generator.statistics().tokens);
}

TEST_CASE("a chain of four drafts has at least one accepted a step") {
  GeneratorSettings settings = settings_with("chain:4", {}, 4);
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
  const Vocabulary& vocabulary = corpus().vocabulary;
  const auto obeying = [&](const char* constraint) {
    const auto rule =
        std::make_shared<const ConstraintRule>(parse_constraint(constraint, vocabulary));
    GeneratorSettings settings = settings_with(tree, {{}, {}, rule}, 8);
    settings.max_tokens = 2000;
    return settings;
  };
  const auto pattern =
      finished<Kokkos::DefaultExecutionSpace>(obeying("pattern:distribut* * Work ,"));
  for (const auto& text : texts_of(pattern.requests())) {
    REQUIRE(text.size() == 4);
    CHECK(vocabulary.text(text[0]).starts_with("distribut"));
    CHECK(is_word(vocabulary.text(text[1])));
    CHECK(vocabulary.text(text[2]) == "Work");
    CHECK(vocabulary.text(text[3]) == ",");
  }
  CHECK(pattern.statistics().bad_rows == 0);

  const auto sentences = finished<Kokkos::DefaultExecutionSpace>(obeying("sentence"));
  for (const auto& text : texts_of(sentences.requests())) {
    REQUIRE(text.size() < 2000);
    for (std::size_t i = 0; i < text.size(); ++i) {
      CHECK((vocabulary.text(text[i]) == ".") == (i + 1 == text.size()));
    }
  }
}

TEST_CASE("a forbidden word never comes, and with all forbidden the request stops") {
  const std::string tree = GENERATE(std::string(""), "chain:4", "2x2");
  const TokenId the = *corpus().vocabulary.find("the");
  constexpr double never = -std::numeric_limits<double>::infinity();
  RequestSettings request;
  request.config.logit_bias = {{the, never}};
  GeneratorSettings settings = settings_with(tree, request, 2);
  for (const auto& text : texts_of(finished<Kokkos::DefaultExecutionSpace>(settings).requests())) {
    CHECK(text.size() == 60);
    for (const TokenId token : text) CHECK(token != the);
  }
  for (TokenId token = 0; token < corpus().vocabulary.size(); ++token) {
    for (RequestSettings& given : settings.requests) {
      given.config.logit_bias.emplace_back(token, never);
    }
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
