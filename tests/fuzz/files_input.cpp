// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/files_input.hpp"

#include <utility>

#include "fuzz/faults.hpp"
#include "fuzz/json_writer.hpp"
#include "fuzz/trees_input.hpp"

namespace tokkos::test {

namespace {

/// A value's text, and whether it may stand there.
struct Choice {
  const char* text;
  bool good;
};

/// Adds one of the values; none of them in half of all cases.
void add_choice(FuzzBytes& bytes, JsonText& object, const char* key,
                std::initializer_list<Choice> good, std::initializer_list<Choice> bad,
                bool& is_good) {
  if (!bytes.flag()) return;
  const Choice choice = bytes.mostly(good, bad);
  object.add(key, choice.text);
  is_good = is_good && choice.good;
}

/// Numbers as a JSON array.
template <class Numbers>
std::string array_text(const Numbers& numbers) {
  JsonText array('[');
  for (const auto number : numbers) array.add(std::to_string(number));
  return array.text();
}

/// Adds a tensor to a header; `begin` moves to its end.
void add_tensor(FuzzBytes& bytes, JsonText& header, std::uint64_t& begin, FuzzHeader& result) {
  using Type = std::pair<const char*, std::uint64_t>;
  const Type type = bytes.mostly<Type>(
      {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I32", 4}, {"I64", 8}, {"BOOL", 1}, {"F64", 8}},
      {{"f32", 0}, {"", 0}, {"F4", 0}});
  std::vector<std::uint64_t> shape(static_cast<std::size_t>(bytes.below(4)));
  std::uint64_t size = type.second;
  for (std::uint64_t& extent : shape) {
    extent = static_cast<std::uint64_t>(bytes.below(5));
    size *= extent;
  }
  std::string name(1, 't');
  name += std::to_string(result.tensors);
  std::string shape_text = array_text(shape);
  bool good = type.second != 0;
  if (bytes.rarely()) {  // of the right size or not, none of these is a shape that fits
    good = false;
    shape_text = bytes.one_of({"[-1]", "[1.0,3]", "[9223372036854775807,9]", "\"4\"", "null",
                               "[18446744073709551616]", "[[4]]", "[4294967296,4294967296,8]"});
  }
  std::uint64_t from = begin, to = begin + size;
  if (bytes.rarely()) {
    good = false;
    const int change = 1 + bytes.below(3);
    if (bytes.flag()) from += static_cast<std::uint64_t>(change);
    to += static_cast<std::uint64_t>(change);  // in both cases some byte has no tensor or two
    if (size == 0 && from == to) to += 1;
  }
  JsonText tensor('{');
  tensor.add("dtype", '"' + std::string(type.first) + '"');
  tensor.add("shape", shape_text);
  tensor.add("data_offsets", array_text(std::vector<std::uint64_t>{from, to}));
  if (bytes.rarely()) {
    good = false;
    tensor.add("more", "1");
  }
  if (bytes.rarely() && result.tensors > 0) {
    good = false;
    name = "t0";
  }
  header.add(name, tensor.text());
  result.good = result.good && good;
  ++result.tensors;
  begin += size;
}

std::string draft_text(FuzzBytes& bytes, std::int64_t vocabulary, std::int64_t rows, bool& good) {
  std::vector<DraftTree> trees = make_draft_trees(bytes, static_cast<int>(vocabulary), 4);
  if (trees.empty()) trees.emplace_back();
  const DraftTree& tree = trees.front();
  Faults faults;
  add_faults(tree, static_cast<int>(vocabulary), "", faults);
  good = good && faults.empty();
  std::vector<std::int64_t> nodes;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto size = static_cast<std::int64_t>(tree.size());
    nodes.push_back(bytes.mostly<std::int64_t>({-1, size - 1}, {-2, size, 1ll << 40}));
    good = good && nodes.back() >= -1 && nodes.back() < size;
  }
  if (bytes.rarely()) {
    nodes.push_back(-1);
    good = false;
  }
  JsonText draft('{');
  draft.add("token_ids", array_text(tree.token_ids));
  draft.add("parents", array_text(tree.parents));
  draft.add("rows", array_text(nodes));
  return draft.text();
}

std::string tokens_text(FuzzBytes& bytes, std::int64_t vocabulary, bool& good) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(bytes.below(5)));
  for (std::int64_t& token : tokens) {
    token = bytes.mostly<std::int64_t>({bytes.byte() % vocabulary},
                                       {-1, vocabulary, 1ll << 32, 1ll << 62});
    good = good && token >= 0 && token < vocabulary;
  }
  return array_text(tokens);
}

void add_bias(FuzzBytes& bytes, JsonText& request, std::int64_t vocabulary, bool& good) {
  JsonText bias('{');
  const int entries = bytes.below(3);
  for (int i = 0; i < entries && i < vocabulary; ++i) {
    bias.add(std::to_string(i),
             bytes.mostly({"1.5", "-100", "\"-Infinity\"", "0"}, {"1.5", "-3", "2e1", "-0.0"}));
  }
  if (bytes.rarely()) {
    const Choice entry = bytes.one_of<Choice>({{"\"00\":1", false},
                                               {"\"-1\":1", false},
                                               {"\"99999\":1", false},
                                               {"\"x\":1", false},
                                               {"\"\":1", false},
                                               {"\"0x1\":2", false},
                                               {"\" 1\":2", false}});
    good = false;
    bias.add(entry.text);
  }
  request.add("logit_bias", bias.text());
}

void add_numbers(FuzzBytes& bytes, JsonText& r, bool& good) {
  add_choice(bytes, r, "temperature", {{"1", true}, {"0", true}, {"0.7", true}, {"1e-5", true}},
             {{"-1", false}, {"1e39", false}, {"\"1\"", false}, {"null", false}, {"-1e-46", false}},
             good);
  add_choice(bytes, r, "top_p", {{"1", true}, {"0.5", true}, {"1e-45", true}, {"0.9999999", true}},
             {{"0", false}, {"1.1", false}, {"-0.5", false}, {"1e-60", false}, {"[]", false}},
             good);
  add_choice(bytes, r, "top_k", {{"0", true}, {"5", true}, {"2147483647", true}},
             {{"-1", false}, {"2147483648", false}, {"1.0", false}, {"1e1", false}}, good);
  add_choice(bytes, r, "min_p", {{"0", true}, {"1", true}, {"0.1", true}},
             {{"-0.1", false}, {"1.0001", false}, {"true", false}}, good);
  add_choice(bytes, r, "presence_penalty", {{"0.5", true}, {"-2", true}, {"3.4e38", true}},
             {{"1e39", false}, {"\"a\"", false}, {"{}", false}}, good);
  add_choice(bytes, r, "frequency_penalty", {{"0.25", true}, {"-3.4e38", true}},
             {{"-1e39", false}, {"1e400", false}, {"NaN", false}}, good);
  add_choice(bytes, r, "repetition_penalty", {{"1", true}, {"1.5", true}, {"1e-45", true}},
             {{"0", false}, {"-1", false}, {"1e-60", false}}, good);
  add_choice(bytes, r, "seed", {{"0", true}, {"18446744073709551615", true}},
             {{"-1", false}, {"18446744073709551616", false}, {"0.5", false}}, good);
  add_choice(bytes, r, "id", {{"\"a\"", true}, {"\"\"", true}, {"\"\\u00e4\"", true}},
             {{"7", false}, {"\"\\ud800\"", false}, {"\"\xff\"", false}, {"\"\n\"", false}}, good);
  add_choice(bytes, r, "masked", {{"true", true}, {"false", true}}, {{"1", false}, {"null", false}},
             good);
}

}  // namespace

FuzzHeader make_header(FuzzBytes& bytes) {
  FuzzHeader result;
  JsonText header('{');
  if (bytes.flag()) {
    const bool bad = bytes.rarely();
    header.add("__metadata__", bad ? bytes.one_of({"{\"a\":1}", "[]", "1", "{\"a\":{}}"})
                                   : bytes.one_of({"{}", "{\"a\":\"b\"}"}));
    result.good = !bad;
  }
  const int tensors = bytes.below(4);
  for (int i = 0; i < tensors; ++i) add_tensor(bytes, header, result.data_bytes, result);
  result.text = header.text();
  if (bytes.rarely()) {
    const auto change = static_cast<std::uint64_t>(1 + bytes.below(9));
    const bool less = bytes.flag() && result.data_bytes >= change;
    result.data_bytes = less ? result.data_bytes - change : result.data_bytes + change;
    result.good = false;
  }
  if (bytes.rarely()) {
    result.text.resize(result.text.size() - 1);
    result.good = false;
  }
  result.text.append(static_cast<std::size_t>(bytes.below(9)), ' ');
  return result;
}

FuzzRequests make_requests(FuzzBytes& bytes) {
  FuzzRequests result;
  result.vocabulary = bytes.one_of({5, 1, 40, 200});
  JsonText file('{'), list('[');
  add_choice(bytes, file, "policy",
             {{"\"seed\"", true}, {"\"openai\"", true}, {"\"llama_cpp\"", true}},
             {{"\"mine\"", false}, {"\"\"", false}, {"3", false}}, result.good);
  add_choice(bytes, file, "active_vocab_size", {{"1", true}},
             {{"0", false}, {"-1", false}, {"201", false}, {"9223372036854775808", false}},
             result.good);
  result.requests = static_cast<std::size_t>(bytes.below(4));
  for (std::size_t i = 0; i < result.requests; ++i) {
    JsonText request('{');
    add_numbers(bytes, request, result.good);
    add_bias(bytes, request, result.vocabulary, result.good);
    request.add("prompt_token_ids", tokens_text(bytes, result.vocabulary, result.good));
    request.add("generated_token_ids", tokens_text(bytes, result.vocabulary, result.good));
    const std::int64_t rows = bytes.below(4);
    request.add("num_tokens", std::to_string(rows));
    if (bytes.flag()) {
      request.add("draft", draft_text(bytes, result.vocabulary, rows, result.good));
    }
    const bool lists = bytes.flag();
    if (lists) request.add("logprobs", bytes.one_of({"\"raw\"", "\"processed\""}));
    if (bytes.rarely()) {
      request.add("top_logprobs", lists ? "128" : "3");
      result.good = result.good && lists;
    }
    if (bytes.rarely()) {
      request.add(bytes.one_of({"n", "temperatur", "TEMPERATURE"}), "1");
      result.good = false;
    }
    list.add(request.text());
    result.rows += rows;
  }
  file.add("requests", list.text());
  result.text = file.text();
  if (bytes.rarely()) {
    result.rows += 1;
    result.good = false;
  }
  if (bytes.rarely()) {
    result.text += bytes.one_of({"x", "{}", "]", ","});
    result.good = false;
  }
  return result;
}

}  // namespace tokkos::test
