// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode.hpp"

#include "tools/command/bad_rows.hpp"
#include "tools/command/step_progress.hpp"
#include "tools/decode/corpus.hpp"
#include "tools/decode/decode_options.hpp"
#include "tools/decode/generator.hpp"
#include "tools/decode/text_file.hpp"

#include <tokkos/core/error.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

namespace tokkos::tools {

namespace {

constexpr std::size_t target_order = 4;
constexpr std::size_t draft_order = 3;
constexpr std::size_t line_width = 80;

GeneratorSettings make_settings(const DecodeOptions& options, const Corpus& corpus) {
  GeneratorSettings settings;
  settings.config = options.config;
  for (std::size_t i = 0; i < options.word_bias.size(); ++i) {
    const auto& [word, value] = options.word_bias[i];
    const auto token = corpus.vocabulary.find(word);
    if (!token) {
      throw Error("--bias", static_cast<std::int64_t>(i), "\"" + word + "\"",
                  "a word of the text files");
    }
    settings.config.logit_bias.emplace_back(*token, value);
  }
  check_utf8("--prompt", options.prompt);
  settings.prompt = corpus.tokenize("--prompt", options.prompt);
  if (!options.constraint.empty()) {
    settings.rule = std::make_shared<const ConstraintRule>(
        parse_constraint(options.constraint, corpus.vocabulary));
  }
  settings.batch = options.batch;
  settings.max_tokens = options.max_tokens;
  settings.tree = options.tree;
  settings.speculate = !options.no_speculation;

  const std::int64_t nodes = settings.speculate ? settings.tree.nodes() + 1 : 1;
  const std::int64_t step_logits = settings.batch * nodes * corpus.vocabulary.size();
  require(step_logits <= (std::int64_t{1} << 28), "batch x nodes of the tree x vocabulary",
          std::nullopt, step_logits, "at most 2^28 logits a step");
  return settings;
}

struct Text {
  std::string with_prompt;
  std::size_t prompt_bytes = 0;

  // What was generated: as it stands behind the prompt, without space at its ends.
  std::string generated() const {
    constexpr const char* space = " \n";
    const std::size_t begin = with_prompt.find_first_not_of(space, prompt_bytes);
    if (begin == std::string::npos) return "";
    return with_prompt.substr(begin, with_prompt.find_last_not_of(space) + 1 - begin);
  }
};

Text write_text(const TokenHistory& history, const Vocabulary& vocabulary) {
  TextWriter writer;
  for (const TokenId token : history.prompt()) writer.append(vocabulary.text(token));
  const std::size_t prompt_bytes = writer.text().size();
  for (const TokenId token : history.generated()) writer.append(vocabulary.text(token));
  return {wrap_lines(writer.text(), line_width), prompt_bytes};
}

void write_text_file(const std::string& path, const std::vector<Text>& texts) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    file << (i == 0 ? "" : "\n") << texts[i].generated() << '\n';
  }
  file.close();
  if (!file) {
    throw Error(path, std::nullopt, std::string("not writable (") + std::strerror(errno) + ")",
                "a file that can be written");
  }
}

}  // namespace

int run_decode(int argc, char** argv) {
  const DecodeOptions options = parse_decode_options(argc, argv);
  if (!options.help.empty()) {
    std::cout << options.help;
    return 0;
  }
  const Corpus corpus = read_corpus(options.files);
  const GeneratorSettings settings = make_settings(options, corpus);
  if (!options.text_file.empty()) write_text_file(options.text_file, {});

  const TokenId vocabulary = corpus.vocabulary.size();
  const NgramModel target(corpus.tokens, vocabulary, target_order);
  const NgramModel draft(corpus.tokens, vocabulary, draft_order);
  Generator<Kokkos::DefaultExecutionSpace> generator(Kokkos::DefaultExecutionSpace(), target, draft,
                                                     settings);
  {
    StepProgress progress("tokens", std::int64_t{settings.batch} * settings.max_tokens);
    for (std::int64_t shown = 0; generator.step();) {
      for (; shown < generator.statistics().tokens; ++shown) progress.advance();
    }
  }

  std::vector<Text> texts;
  for (const DecodeRequest& request : generator.requests()) {
    texts.push_back(write_text(request.history, corpus.vocabulary));
    if (settings.batch > 1) std::cout << "[" << request.id << "]\n";
    std::cout << texts.back().with_prompt << "\n\n";
  }
  print_table(std::cout, generator.statistics());
  std::cout.flush();
  if (!options.text_file.empty()) write_text_file(options.text_file, texts);
  if (options.strict && generator.statistics().bad_rows > 0) {
    throw BadStatus("rows with a bad status", std::nullopt,
                    to_text(generator.statistics().bad_rows), "none (--strict)");
  }
  return 0;
}

}  // namespace tokkos::tools
