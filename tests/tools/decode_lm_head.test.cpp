// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "tools/decode/corpus.hpp"
#include "tools/decode/decode.hpp"
#include "tools/decode/generator.hpp"
#include "tools/decode/head_target.hpp"
#include "tools/licence.hpp"
#include "tools/tensor_file.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;
using Catch::Matchers::ContainsSubstring;

namespace {

using test::licence;

const Corpus& corpus() {
  static const Corpus texts = read_corpus(std::vector<std::string>{licence});
  return texts;
}

const NeuralModel& trained() {
  static const NeuralModel model(corpus().tokens, corpus().vocabulary.size(), 7);
  return model;
}

/// Logits of every word after a context, in double.
std::vector<double> logits_after(const NeuralModel& model, std::span<const TokenId> context) {
  std::vector<float> state(NeuralModel::hidden_size);
  model.hidden(context, state);
  std::vector<double> logits;
  for (std::size_t v = 0; v < static_cast<std::size_t>(model.vocabulary()); ++v) {
    double sum = 0.0;
    for (std::size_t k = 0; k < state.size(); ++k) {
      sum += static_cast<double>(state[k]) *
             static_cast<double>(model.output()[v * NeuralModel::hidden_size + k]);
    }
    logits.push_back(sum);
  }
  return logits;
}

/// Mean ln p of every tenth word of the text.
double mean_log_probability(const NeuralModel& model, std::span<const TokenId> text) {
  double sum = 0.0;
  int count = 0;
  for (std::size_t i = 5; i < text.size(); i += 10, ++count) {
    const auto logits = logits_after(model, text.subspan(i - 4, 4));
    const double maximum = *std::ranges::max_element(logits);
    double mass = 0.0;
    for (const double x : logits) mass += std::exp(x - maximum);
    sum += logits[static_cast<std::size_t>(text[i])] - maximum - std::log(mass);
  }
  return sum / count;
}

double mean_log_probability(const NgramModel& model, std::span<const TokenId> text) {
  std::vector<float> row(static_cast<std::size_t>(model.vocabulary()));
  double sum = 0.0;
  int count = 0;
  for (std::size_t i = 5; i < text.size(); i += 10, ++count) {
    model.score(text.subspan(i - 4, 4), row);
    sum += static_cast<double>(row[static_cast<std::size_t>(text[i])]);
  }
  return sum / count;
}

GeneratorSettings settings_with(const std::string& tree, const GenerationConfig& config) {
  GeneratorSettings settings;
  RequestSettings request;
  request.config = config;
  request.prompt = corpus().tokenize("prompt", "You may");
  settings.requests.assign(3, request);
  settings.max_tokens = 40;
  settings.speculate = !tree.empty();
  if (settings.speculate) settings.tree = parse_tree_shape(tree);
  return settings;
}

/// The same model, but for its short way from hidden states to tokens.
template <class ExecutionSpace>
class WholeRows final : public TargetModel<ExecutionSpace> {
 public:
  using typename TargetModel<ExecutionSpace>::memory_space;
  explicit WholeRows(HeadTarget<ExecutionSpace> head) : m_head(std::move(head)) {}
  TokenId vocabulary() const override { return m_head.vocabulary(); }
  Matrix<float, memory_space> score(const ExecutionSpace& space, const StepBatch& batch,
                                    std::size_t count, const ModelRows<ExecutionSpace>& rows,
                                    Statistics& statistics) override {
    return m_head.score(space, batch, count, rows, statistics);
  }

 private:
  HeadTarget<ExecutionSpace> m_head;
};

struct Generated {
  std::vector<std::vector<TokenId>> texts;
  std::vector<float> scores;
  std::int64_t accepted = 0;
};

template <class ExecutionSpace>
Generated generate(const std::shared_ptr<TargetModel<ExecutionSpace>>& target,
                   const GeneratorSettings& settings) {
  const NgramModel draft(corpus().tokens, corpus().vocabulary.size(), 3);
  Generator<ExecutionSpace> generator(ExecutionSpace(), target, draft, settings);
  while (generator.step()) {
  }
  Generated generated;
  generated.accepted = generator.statistics().accepted;
  for (const DecodeRequest& request : generator.requests()) {
    const auto tokens = request.history.generated();
    generated.texts.emplace_back(tokens.begin(), tokens.end());
    for (const TokenScore& score : request.scores) {
      generated.scores.push_back(score.log_probability);
      for (const auto& [token, value] : score.most_likely) generated.scores.push_back(value);
    }
  }
  return generated;
}

template <class ExecutionSpace>
HeadTarget<ExecutionSpace> head_target() {
  return HeadTarget<ExecutionSpace>(ExecutionSpace(), trained(), 3 * 8);
}

std::string decode(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {licence, "--lm-head", "--prompt", "You may", "--strict"});
  std::ostringstream out;
  run_decode(parse_decode(arguments), out);
  return out.str();
}

std::string text_of(const std::string& printed) {
  return printed.substr(0, printed.find("\ntokens "));
}

}  // namespace

TEST_CASE("a neural model learns what follows what") {
  const std::span<const TokenId> text = corpus().tokens;
  const NgramModel words(text, corpus().vocabulary.size(), 1);
  CHECK(mean_log_probability(trained(), text) > mean_log_probability(words, text) + 0.5);
}

TEST_CASE("a neural model is the same for the same seed and no other") {
  const auto weights = [](std::uint64_t seed) {
    const std::span<const TokenId> text = std::span(corpus().tokens).first(600);
    const NeuralModel model(text, corpus().vocabulary.size(), seed);
    return std::vector<float>(model.output().begin(), model.output().end());
  };
  const std::vector<float> first = weights(1);
  CHECK(weights(1) == first);
  CHECK(weights(2) != first);
}

TEST_CASE("a neural model refuses texts without words and words without numbers") {
  CHECK_THROWS_AS(NeuralModel({}, 5, 0), Error);
  CHECK_THROWS_AS(NeuralModel(std::vector<TokenId>{0, 5}, 5, 0), Error);
  CHECK_THROWS_AS(NeuralModel(std::vector<TokenId>{0, -1}, 5, 0), Error);
  CHECK_THROWS_AS(NeuralModel(std::vector<TokenId>{0}, 0, 0), Error);
}

TEMPLATE_LIST_TEST_CASE("tokens straight from hidden states are those of whole rows of logits", "",
                        test::ExecutionSpaces) {
  GenerationConfig config;
  config.seed = 5;
  config.temperature = 0.9f;
  config.frequency_penalty = 0.4f;
  config.repetition_penalty = 1.1f;
  config.logit_bias = {{3, -2.0}, {9, 1.5}};
  GeneratorSettings settings = settings_with("", config);
  settings.most_likely = 4;
  settings.requests[1].rule =
      std::make_shared<const ConstraintRule>(parse_constraint("words", corpus().vocabulary));
  settings.requests[2].config.temperature = 0.0f;
  const Generated streamed =
      generate<TestType>(std::make_shared<HeadTarget<TestType>>(head_target<TestType>()), settings);
  const Generated whole =
      generate<TestType>(std::make_shared<WholeRows<TestType>>(head_target<TestType>()), settings);
  CHECK(streamed.texts == whole.texts);
  CHECK(streamed.scores == whole.scores);
  CHECK(streamed.texts[0] != streamed.texts[1]);
}

TEMPLATE_LIST_TEST_CASE("drafts of counted words are verified against a neural model", "",
                        test::ExecutionSpaces) {
  GenerationConfig greedy;
  greedy.temperature = 0.0f;
  const auto target = std::make_shared<HeadTarget<TestType>>(head_target<TestType>());
  const Generated one_by_one = generate<TestType>(target, settings_with("", greedy));
  const Generated in_trees = generate<TestType>(target, settings_with("3x1", greedy));
  CHECK(in_trees.texts == one_by_one.texts);
  CHECK(in_trees.accepted > 0);
}

TEST_CASE("the command generates from a neural model, the same for the same seed") {
  const std::string first = decode({"--seed", "3", "--max-tokens", "30"});
  CHECK(first.starts_with("You may"));
  CHECK_THAT(first, ContainsSubstring("\naccepted drafts per step  "));
  CHECK_THAT(first, ContainsSubstring("\ntime target model  "));
  CHECK(text_of(decode({"--seed", "3", "--max-tokens", "30"})) == text_of(first));
  CHECK(text_of(decode({"--seed", "4", "--max-tokens", "30"})) != text_of(first));
}

TEST_CASE("the command goes straight from hidden states to tokens without drafts") {
  const std::string printed =
      decode({"--no-speculation", "--batch", "2", "--max-tokens", "20", "--logprobs", "2"});
  CHECK_THAT(printed, ContainsSubstring("\nmean log-probability "));
  CHECK_THAT(printed, ContainsSubstring("\ntime edits and sampling  "));
  CHECK_THAT(printed, !ContainsSubstring("\ntime log-probabilities  "));
  // What needs the whole row goes by the row of logits.
  const std::string truncated =
      decode({"--no-speculation", "--max-tokens", "20", "--top-k", "5", "--logprobs", "2"});
  CHECK_THAT(truncated, ContainsSubstring("\ntime log-probabilities  "));
}

TEST_CASE("steps without rows of logits are traced, and what they stage is counted") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  const std::string printed =
      decode({"--no-speculation", "--batch", "2", "--max-tokens", "4", "--bias", "the=1",
              "--presence-penalty", "0.5", "--trace", file});
  CHECK_THAT(printed, !ContainsSubstring("\nbytes staged per step  0"));
  const auto trace = nlohmann::json::parse(test::read_bytes(file));
  const auto& events = trace.is_array() ? trace : trace.at("traceEvents");
  std::map<std::string, int> begun, ended;
  for (const auto& event : events) {
    if (event.at("ph") == "B") ++begun[event.at("name").get<std::string>()];
    if (event.at("ph") == "E") ++ended[event.at("name").get<std::string>()];
  }
  CHECK(begun["update logits"] == 2 * 4);  // requests and steps
  CHECK(begun["sampling"] == 2 * 4);
  CHECK(ended == begun);
}
