// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode_options.hpp"

#include <tokkos/core/error.hpp>

#include <cxxopts.hpp>

#include <cfloat>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace tokkos::tools {

namespace {

cxxopts::Options describe_options() {
  cxxopts::Options options(
      "tokkos decode",
      "Builds a small and a large word model from text files and generates text with them: a tree "
      "of\n"
      "draft tokens from the small model, verified losslessly against the large one.\n");
  options.custom_help("[options] FILE...");
  const auto text = [](const char* value) {
    return cxxopts::value<std::string>()->default_value(value);
  };
  const auto number = [&](const char* value) { return text(value); };
  cxxopts::OptionAdder add = options.add_options();
  add("batch", "Requests, each with a random stream of its own", number("1"), "N");
  add("tree", "Draft tree: chain:K, or AxBxC for A children with B children with C",
      text("chain:4"), "TREE");
  add("prompt", "Words that the text goes on from, all of them words of the files", text(""),
      "TEXT");
  add("max-tokens", "Tokens to generate per request", number("128"), "N");
  add("temperature", "0 takes the most probable word", number("1"), "T");
  add("top-p", "Not available yet: 1 (off)", number("1"), "P");
  add("top-k", "Not available yet: 0 (off)", number("0"), "K");
  add("min-p", "Not available yet: 0 (off)", number("0"), "P");
  add("presence-penalty", "Subtracted once from words generated before", number("0"), "X");
  add("frequency-penalty", "Subtracted once per time that a word was generated", number("0"), "X");
  add("repetition-penalty", "Above 1 makes words generated before less probable", number("1"), "X");
  add("seed", "Same seed, same text", number("0"), "N");
  add("bias", "Added to the logit of a word, -inf forbids it; may be repeated",
      cxxopts::value<std::string>(), "WORD=X");
  add("constraint",
      "words (no punctuation), sentence (ends at the first full stop), or \"pattern:ITEM ITEM "
      "...\" "
      "(a word per item; * stands for any letters, ? for one)",
      text(""), "RULE");
  add("no-speculation", "One token a step, without drafts: the same distribution");
  add("trace", "Not available yet", text(""), "FILE");
  add("text", "Write the generated text alone to a file", text(""), "FILE");
  add("strict", "Exit with status 1 if a row of logits had a bad status");
  add("threads", "OpenMP threads (before or after the subcommand)", text(""), "N");
  add("h,help", "Print this help");
  return options;
}

// The whole text as a number in decimal notation, or nothing.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shown(const std::string& value) {
  return value.empty() ? "empty" : value;
}

class Values {
 public:
  explicit Values(const cxxopts::ParseResult& result) : m_result(result) {}

  std::string text(const std::string& name) const { return m_result[name].as<std::string>(); }

  template <class T, class Accepts>
  T number(const std::string& name, const char* expected, const Accepts& accepts) const {
    const auto value = parse_number<T>(text(name));
    if (!value || !accepts(*value))
      throw Error("--" + name, std::nullopt, shown(text(name)), expected);
    return *value;
  }

  std::int32_t count(const std::string& name, std::int32_t most) const {
    const std::string range = "1 to " + std::to_string(most);
    return number<std::int32_t>(name, range.c_str(),
                                [&](std::int32_t n) { return n >= 1 && n <= most; });
  }

  float real(const std::string& name, double least, const char* expected) const {
    return static_cast<float>(number<double>(
        name, expected, [&](double x) { return x >= least && x <= double{FLT_MAX}; }));
  }

 private:
  const cxxopts::ParseResult& m_result;
};

std::pair<std::string, double> parse_bias(const std::string& text, std::int64_t index) {
  const std::size_t equals = text.rfind('=');
  const bool has_word = equals != std::string::npos && equals > 0;
  const auto value = has_word ? parse_number<double>(text.substr(equals + 1)) : std::nullopt;
  if (!value || !(std::abs(*value) <= double{FLT_MAX} || *value == -INFINITY)) {
    throw Error("--bias", index, "\"" + text + "\"",
                "WORD=X with a number X in the range of float32, or -inf");
  }
  return {text.substr(0, equals), *value};
}

cxxopts::ParseResult parse(cxxopts::Options& description, int argc, char** argv) {
  constexpr const char* expected = "one of those in tokkos decode --help";
  try {
    const cxxopts::ParseResult result = description.parse(argc, argv);
    for (const auto& argument : result.arguments()) {
      if (argument.key() == "bias" || result.count(argument.key()) == 1) continue;
      throw Error("--" + argument.key(), std::nullopt,
                  "given " + std::to_string(result.count(argument.key())) + " times", "once");
    }
    return result;
  } catch (const cxxopts::exceptions::exception& problem) {
    throw Error("option", std::nullopt, std::string("wrong (") + problem.what() + ")", expected);
  }
}

// Truncation and traces are checked like everything else, and must be off.
void check_unavailable(const Values& values) {
  const auto off = [](const char* name, const std::string& value, const char* expected) {
    throw Error(std::string("--") + name, std::nullopt, value, expected);
  };
  const auto in_unit = [](double x) { return x >= 0.0 && x <= 1.0; };
  const auto top_p = values.number<double>("top-p", "a number above 0 and at most 1",
                                           [](double x) { return x > 0.0 && x <= 1.0; });
  if (top_p != 1.0) off("top-p", values.text("top-p"), "1 (off): truncation is not available yet");
  const auto top_k = values.number<std::int32_t>("top-k", "an integer of at least 0",
                                                 [](std::int32_t k) { return k >= 0; });
  if (top_k != 0) off("top-k", values.text("top-k"), "0 (off): truncation is not available yet");
  const auto min_p = values.number<double>("min-p", "a number from 0 to 1", in_unit);
  if (min_p != 0.0) off("min-p", values.text("min-p"), "0 (off): truncation is not available yet");
  if (!values.text("trace").empty()) {
    off("trace", values.text("trace"), "no file: traces are not available yet");
  }
}

}  // namespace

DecodeOptions parse_decode_options(int argc, char** argv) {
  cxxopts::Options description = describe_options();
  const cxxopts::ParseResult result = parse(description, argc, argv);
  const Values values(result);
  DecodeOptions options;
  if (result.count("help") > 0) {
    options.help = description.help();
    return options;
  }
  constexpr double lowest = -FLT_MAX;
  options.files = result.unmatched();
  options.batch = values.count("batch", 1024);
  options.tree = parse_tree_shape(values.text("tree"));
  options.prompt = values.text("prompt");
  options.max_tokens = values.count("max-tokens", 1 << 24);
  options.config.temperature = values.real("temperature", 0.0, "a finite number of at least 0");
  options.config.presence_penalty = values.real("presence-penalty", lowest, "a finite number");
  options.config.frequency_penalty = values.real("frequency-penalty", lowest, "a finite number");
  options.config.repetition_penalty = values.real(
      "repetition-penalty", std::numeric_limits<float>::denorm_min(), "a finite number above 0");
  options.config.seed = values.number<std::uint64_t>("seed", "an integer from 0 to 2^64 - 1",
                                                     [](std::uint64_t) { return true; });
  for (const auto& argument : result.arguments()) {
    if (argument.key() != "bias") continue;
    options.word_bias.push_back(
        parse_bias(argument.value(), static_cast<std::int64_t>(options.word_bias.size())));
  }
  options.constraint = values.text("constraint");
  options.text_file = values.text("text");
  options.no_speculation = result.count("no-speculation") > 0;
  options.strict = result.count("strict") > 0;
  check_unavailable(values);
  if (options.files.empty()) {
    throw Error("FILE", std::nullopt, "missing", "at least one file of UTF-8 text");
  }
  return options;
}

}  // namespace tokkos::tools
