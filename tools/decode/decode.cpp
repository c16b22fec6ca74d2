// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode.hpp"

#include "tools/command/bad_rows.hpp"
#include "tools/command/step_progress.hpp"
#include "tools/decode/corpus.hpp"
#include "tools/decode/decode_options.hpp"
#include "tools/decode/generator.hpp"
#include "tools/decode/lm_head_target.hpp"
#include "tools/decode/score_lines.hpp"
#include "tools/decode/text_file.hpp"
#include "tools/io/output_file.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/engine/chrome_trace_recorder.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tokkos::tools {

namespace {

constexpr std::size_t target_order = 4;
constexpr std::size_t draft_order = 3;
constexpr std::size_t line_width = 80;

std::vector<std::pair<TokenId, double>> find_biases(const DecodeOptions& options,
                                                    const Corpus& corpus) {
  std::vector<std::pair<TokenId, double>> biases;
  for (std::size_t i = 0; i < options.word_bias.size(); ++i) {
    const auto& [word, value] = options.word_bias[i];
    const auto token = corpus.vocabulary.find(word);
    if (!token) {
      throw Error("--bias", static_cast<std::int64_t>(i), "\"" + word + "\"",
                  "a word of the text files");
    }
    biases.emplace_back(*token, value);
  }
  return biases;
}

std::vector<RequestSettings> make_requests(const DecodeOptions& options, const Corpus& corpus) {
  std::vector<std::vector<TokenId>> prompts;
  for (const std::string& prompt : options.prompts) {
    check_utf8("--prompt", prompt);
    prompts.push_back(corpus.tokenize("--prompt", prompt));
  }
  std::vector<std::shared_ptr<const ConstraintRule>> rules;
  for (const std::string& constraint : options.constraints) {
    rules.push_back(constraint == "none" ? nullptr
                                         : std::make_shared<const ConstraintRule>(
                                               parse_constraint(constraint, corpus.vocabulary)));
  }
  if (rules.empty()) rules.emplace_back();
  const auto biases = find_biases(options, corpus);
  std::vector<RequestSettings> requests;
  for (std::size_t i = 0; i < options.configs.size(); ++i) {
    requests.push_back({options.configs[i], prompts[i % prompts.size()], rules[i % rules.size()]});
    requests.back().config.logit_bias = biases;
  }
  return requests;
}

GeneratorSettings make_settings(const DecodeOptions& options, const Corpus& corpus) {
  GeneratorSettings settings;
  settings.requests = make_requests(options, corpus);
  settings.max_tokens = options.max_tokens;
  settings.tree = options.tree;
  settings.speculate = !options.no_speculation;
  settings.most_likely = options.most_likely;

  const std::int64_t nodes = settings.speculate ? settings.tree.nodes() + 1 : 1;
  const std::int64_t step_logits = options.batch * nodes * corpus.vocabulary.size();
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

void write_generated(std::ostream& file, const std::vector<Text>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    file << (i == 0 ? "" : "\n") << texts[i].generated() << '\n';
  }
}

void check_separate_files(const DecodeOptions& options) {
  namespace fs = std::filesystem;
  if (!options.text_file) return;
  std::error_code no_such_folder;  // which OutputFile reports
  // A relative name of no file is left as it stands, "a" and "./a" differing.
  const auto place = [&](const std::string& name) {
    return fs::weakly_canonical(fs::absolute(name), no_such_folder);
  };
  const fs::path text = place(*options.text_file);
  if (no_such_folder || text != place(*options.trace_file)) return;
  throw Error("--trace", std::nullopt, *options.trace_file, "another file than --text");
}

// Where requests differ: what each was given, and what came of it.
std::vector<TableLine> lines_of_requests(const DecodeOptions& options,
                                         const std::vector<DecodeRequest>& requests) {
  std::vector<TableLine> lines;
  if (options.mixed.empty()) return lines;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const DecodeRequest& request = requests[i];
    std::ostringstream line;
    line << mixed_parameters(options, i) << ": " << request.history.generated().size()
         << " tokens in " << request.steps << " steps";
    if (!options.no_speculation) line << ", " << request.accepted << " accepted drafts";
    lines.push_back({request.id, line.str()});
  }
  return lines;
}

using Target = TargetModel<Kokkos::DefaultExecutionSpace>;

std::shared_ptr<Target> train_target(const DecodeOptions& options,
                                     const GeneratorSettings& settings, const Corpus& corpus) {
  const std::int64_t rows = settings.speculate ? settings.tree.nodes() + 1 : 1;
  StepProgress progress("training", lm_head_batches(corpus.tokens.size()));
  return make_lm_head_target(corpus.tokens, corpus.vocabulary.size(), options.configs[0].seed,
                             options.batch * rows, [&progress] { progress.advance(); });
}

void report_left_out(std::ostream& out, const ChromeTraceRecorder& trace) {
  if (trace.dropped_stages() == 0) return;
  out << "stages left out of the trace  " << trace.dropped_stages() << '\n';
}

}  // namespace

OptionSet parse_decode(std::span<const std::string> arguments) {
  return OptionSet(
      {"decode",
       "Builds a small and a large word model from text files and generates text with them: a tree "
       "of\ndraft tokens from the small model, verified losslessly against the large one. Requests "
       "may differ:\neach option from --temperature to --seed takes a list, as 0,0.7,1, and "
       "--prompt "
       "and --constraint\nmay be repeated; request i has value i modulo their number.\n",
       {{"batch", "N", "Requests, each with a random stream of its own", "1"},
        {"tree", "TREE", "Draft tree: chain:K, or AxBxC for A children with B children with C",
         "chain:4"},
        {"prompt", "TEXT", "Words that the text goes on from, all of them words of the files", "",
         true},
        {"max-tokens", "N", "Tokens to generate per request", "128"},
        {"temperature", "T", "0 takes the most probable word", "1"},
        {"top-k", "K", "Only the K most probable words may come; 0: all", "0"},
        {"top-p", "P", "Of these, only the most probable ones that have the share P together", "1"},
        {"min-p", "P", "Of these, only those at least P times as probable as the most probable one",
         "0"},
        {"presence-penalty", "X", "Subtracted once from words generated before", "0"},
        {"frequency-penalty", "X", "Subtracted once per time that a word was generated", "0"},
        {"repetition-penalty", "X", "Above 1 makes words generated before less probable", "1"},
        {"policy", "NAME", "Which words are penalized how: seed, openai, hugging_face or llama_cpp",
         "seed"},
        {"penalty-window", "N", "Words that policy llama_cpp looks back, -1 for all", "64"},
        {"seed", "N", "Same seed, same text", "0"},
        {"bias", "WORD=X", "Added to the logit of a word, -inf forbids it; may be repeated", "",
         true},
        {"constraint", "RULE",
         "words (no punctuation), sentence (ends at the first full stop), or \"pattern:ITEM ITEM "
         "...\" (a word per item; * stands for any letters, ? for one), or none",
         "", true},
        {"lm-head", "",
         "Generate from a neural model instead, trained on the files with the first --seed; the "
         "small "
         "word model still drafts"},
        {"no-speculation", "", "One token a step, without drafts: the same distribution"},
        {"logprobs", "N",
         "Print the log-probability of each word generated and of the N most probable ones there",
         "", false, "0"},
        {"trace", "FILE", "Write a Chrome trace of the stages of each request to a file"},
        {"text", "FILE", "Write the generated text alone to a file"},
        {"strict", "", "Exit with status 1 if a row of logits had a bad status"}},
       "FILE..."},
      arguments);
}

void run_decode(const OptionSet& given, std::ostream& out) {
  const DecodeOptions options = read_decode_options(given);
  if (options.lm_head) require_lm_head();
  std::optional<OutputFile> text_file;
  if (options.text_file) text_file.emplace(*options.text_file, options.files);
  std::optional<OutputFile> trace_file;
  std::optional<ChromeTraceRecorder> trace;
  if (options.trace_file) {
    check_separate_files(options);
    trace_file.emplace(*options.trace_file, options.files);
    trace.emplace();
  }
  const auto files = static_cast<std::int64_t>(options.files.size());
  std::optional<StepProgress> models(std::in_place, "models", files + 2);
  const Corpus corpus = read_corpus(options.files, [&models] { models->advance(); });
  GeneratorSettings settings = make_settings(options, corpus);
  settings.trace = trace ? &*trace : nullptr;

  const NgramModel draft(corpus.tokens, corpus.vocabulary.size(), draft_order);
  models->advance();
  std::optional<NgramModel> counted;
  if (!options.lm_head) counted.emplace(corpus.tokens, corpus.vocabulary.size(), target_order);
  models.reset();
  const std::shared_ptr<Target> target =
      counted ? std::make_shared<NgramTarget<Kokkos::DefaultExecutionSpace>>(*counted)
              : train_target(options, settings, corpus);
  Generator<Kokkos::DefaultExecutionSpace> generator(Kokkos::DefaultExecutionSpace(), target, draft,
                                                     settings);
  {
    StepProgress progress("tokens", std::int64_t{options.batch} * settings.max_tokens);
    for (std::int64_t shown = 0; generator.step();) {
      for (; shown < generator.statistics().tokens; ++shown) progress.advance();
    }
  }

  std::vector<Text> texts;
  for (const DecodeRequest& request : generator.requests()) {
    texts.push_back(write_text(request.history, corpus.vocabulary));
  }
  if (text_file) {
    text_file->write([&texts](std::ostream& file) { write_generated(file, texts); });
  }
  if (trace_file) trace_file->write([&trace](std::ostream& file) { trace->write(file); });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const DecodeRequest& request = generator.requests()[i];
    if (options.batch > 1) out << "[" << request.id << "]\n";
    out << texts[i].with_prompt << "\n\n";
    if (!settings.most_likely) continue;
    print_scores(out, request.history.generated(), request.scores, corpus.vocabulary);
    out << '\n';
  }
  print_table(out, generator.statistics(), lines_of_requests(options, generator.requests()));
  if (trace) report_left_out(out, *trace);
  if (text_file) text_file->publish(out);
  if (trace_file) trace_file->publish(out);
  if (options.strict && generator.statistics().bad_rows > 0) {
    throw BadStatus("rows with a bad status", std::nullopt,
                    to_text(generator.statistics().bad_rows), "none (--strict)");
  }
}

}  // namespace tokkos::tools
