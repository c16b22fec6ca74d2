// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/constraint.hpp"
#include "tools/decode/corpus.hpp"
#include "tools/decode/text_file.hpp"
#include "tools/decode/tokenizer.hpp"
#include "tools/decode/tree_shape.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;
using Catch::Matchers::ContainsSubstring;
using Strings = std::vector<std::string>;

namespace {

std::string write(const Strings& tokens) {
  TextWriter writer;
  for (const std::string& token : tokens) writer.append(token);
  return writer.text();
}

// A file that goes away with the test.
struct TemporaryFile {
  std::string path;
  TemporaryFile(const std::string& name, const std::string& content)
      : path((std::filesystem::temp_directory_path() / ("tokkos-" + name)).string()) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

std::vector<std::int32_t> allowed_tokens(Constraint& constraint, TokenId vocabulary) {
  std::vector<std::int32_t> words((static_cast<std::size_t>(vocabulary) + 31) / 32, 0);
  constraint.fill_next_bitmask(words);
  std::vector<std::int32_t> tokens;
  for (TokenId token = 0; token < vocabulary; ++token) {
    const auto word = static_cast<std::uint32_t>(words[static_cast<std::size_t>(token) / 32]);
    if ((word >> (token % 32)) & 1u) tokens.push_back(token);
  }
  return tokens;
}

Vocabulary vocabulary_of(const Strings& words) {
  Vocabulary vocabulary;
  for (const std::string& word : words) vocabulary.add(word);
  return vocabulary;
}

}  // namespace

TEST_CASE("words keep their inner marks, other punctuation stands alone") {
  CHECK(split_words("You're free (as in \"non-free\"), see 3.0--or\nhttps://fsf.org/.") ==
        Strings{"You're", "free", "(", "as", "in", "\"", "non-free", "\"", ")", ",", "see", "3.0",
                "--", "or", "https://fsf.org", "/", "."});
  CHECK(split_words("na\xc3\xafve \xe2\x80\x9c\xce\xbb\xe2\x80\x9d") ==
        Strings{"na\xc3\xafve", "\xe2\x80\x9c", "\xce\xbb", "\xe2\x80\x9d"});
  CHECK(split_words("===== x") == Strings{"=====", "x"});
}

TEST_CASE("blank lines between words are paragraph breaks, at the ends they are nothing") {
  const std::string mark(paragraph_break_text);
  CHECK(split_words("\n\n a\nb\r\n \t\r\n\n c\n\n") == Strings{"a", "b", mark, "c"});
  CHECK(split_words(" \n\n ").empty());
}

TEST_CASE("written text reads like the original") {
  for (const std::string text :
       {"You're free (as in \"non-free\"), see [3.0]; or http://a.b/c: that's it!",
        "He said \"yes\". \"No!\" she said.", "Two paragraphs.\n\n\"The second.\""}) {
    CHECK(write(split_words(text)) == text);
  }
  CHECK(write(split_words("\"open\n\nnext \"a\"")) == "\"open\n\nnext \"a\"");
}

TEST_CASE("text that was written splits into the same tokens, whatever they are") {
  const Strings any = {"a", "b.c", ".",         "..", "...", "'", "it's", "/",
                       "(", ")",   "\"",        "-",  "--",  ":", "//",   "\xe2\x80\x99",
                       "7", "$",   "\xc3\xa9n", ","};
  const Strings without_spaces = {"(", "[", "{", "<", "`", "/", ":", "//", "a", "-", ".", "'"};
  const Strings pool = GENERATE_COPY(any, without_spaces);
  std::uint32_t state = 1;
  for (int repeat = 0; repeat < 300; ++repeat) {
    Strings tokens;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525u + 1013904223u;
      tokens.push_back(pool[(state >> 16) % pool.size()]);
    }
    const std::string text = write(tokens);
    INFO(text);
    REQUIRE(split_words(text) == tokens);
    REQUIRE(split_words(wrap_lines(text, 12)) == tokens);
  }
}

TEST_CASE("writing more never changes what was written") {
  TextWriter writer;
  std::string before;
  for (const char* token :
       {"It", "'", "s", "(", "\"", "x", "\"", ")", ".", "\n\n", "\n\n", "End"}) {
    writer.append(token);
    REQUIRE(writer.text().starts_with(before));
    before = writer.text();
  }
  CHECK(before == "It' s (\"x\").\n\nEnd");
}

TEST_CASE("lines are wrapped at spaces and counted in code points") {
  CHECK(wrap_lines("aa bb cc", 5) == "aa bb\ncc");
  CHECK(wrap_lines("aa bb cc", 4) == "aa\nbb\ncc");
  CHECK(wrap_lines("aaaaaaaa b", 4) == "aaaaaaaa\nb");
  CHECK(wrap_lines("\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9 x", 5) ==
        "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\nx");
  CHECK(wrap_lines("a b\n\nc d", 3) == "a b\n\nc d");
}

TEST_CASE("bytes that are not UTF-8 are named with their offset") {
  struct Bad {
    std::string bytes;
    const char* value;
  };
  const Bad bad =
      GENERATE(Bad{"\xff", "byte 0xff"}, Bad{"\x80", "byte 0x80"}, Bad{"\xc0\x80", "byte 0xc0"},
               Bad{"\xc1\xbf", "byte 0xc1"}, Bad{"\xe0\x9f\xbf", "byte 0xe0"},
               Bad{"\xed\xa0\x80", "byte 0xed"}, Bad{"\xf0\x8f\xbf\xbf", "byte 0xf0"},
               Bad{"\xf4\x90\x80\x80", "byte 0xf4"}, Bad{"\xf5\x80\x80\x80", "byte 0xf5"},
               Bad{"\xc3", "byte 0xc3"}, Bad{"\xe2\x82", "byte 0xe2"}, Bad{"\xc3(", "byte 0xc3"},
               Bad{std::string(1, '\0'), "byte 0x00"});
  try {
    check_utf8("notes.txt", "a\xc3\xa9" + bad.bytes);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.field() == "notes.txt");
    CHECK(error.index() == 3);
    CHECK(error.value() == bad.value);
  }
}

TEST_CASE("the first and last code points of every length are UTF-8") {
  const std::string text =
      "\x01\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80"
      "\xf4\x8f\xbf\xbf";
  CHECK_NOTHROW(check_utf8("text", text));
  CHECK(code_point_at("\xf4\x8f\xbf\xbf", 0).value == 0x10ffff);
  CHECK(code_point_at("\xe2\x82\xac", 0).value == 0x20ac);
  CHECK(code_point_at("\xc3\xa9", 0).bytes == 2);
  CHECK(code_point_at(std::string_view("\xe2\x82\xac").substr(0, 2), 0).bytes == 0);
}

TEST_CASE("files that are no text end in an error that says why") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THROWS_WITH(read_text_file(folder), ContainsSubstring("a folder"));
  CHECK_THROWS_WITH(read_text_file(folder + "/tokkos-not-there"),
                    ContainsSubstring("No such file"));
  const TemporaryFile empty("empty.txt", "");
  CHECK_THROWS_WITH(read_text_file(empty.path), ContainsSubstring("empty.txt is empty"));
  const TemporaryFile binary("binary.txt", "ab\xfe");
  CHECK_THROWS_WITH(read_text_file(binary.path), ContainsSubstring("binary.txt[2] is byte 0xfe"));
  const TemporaryFile marked("marked.txt", "\xef\xbb\xbfone two");
  CHECK(read_text_file(marked.path) == "one two");
}

TEST_CASE("a text needs two different words") {
  Corpus corpus;
  CHECK_THROWS_WITH(corpus.add("a.txt", " \n"), ContainsSubstring("a.txt is text without words"));
  CHECK_THROWS_WITH(corpus.add("a.txt", "... --"), ContainsSubstring("without words"));
  CHECK_THROWS_WITH(corpus.add("a.txt", "one"), ContainsSubstring("one word only"));
  CHECK_THROWS_WITH(corpus.add("a.txt", "one one, one."), ContainsSubstring("one word only"));
  CHECK(corpus.tokens.empty());
  corpus.add("a.txt", "one two");
  corpus.add("b.txt", "two. Three");
  CHECK(corpus.tokens == std::vector<TokenId>{0, 1, 2, 0, 2, 3, 4, 0});
}

TEST_CASE("lines drawn with marks are layout, not text") {
  Corpus corpus;
  corpus.add("a.txt", "Title\n=====\nfirst -- second\n* * *\n-\nthird\n--");
  std::string words;
  for (const TokenId token : corpus.tokens) words += corpus.vocabulary.text(token) + "|";
  CHECK(words == "\n\n|Title|\n\n|first|--|second|\n\n|third|\n\n|");
}

TEST_CASE("a prompt may hold only words of the files") {
  Corpus corpus;
  corpus.add("a.txt", "one two");
  CHECK(corpus.tokenize("--prompt", "two one\n\ntwo") == std::vector<TokenId>{2, 1, 0, 2});
  CHECK_THROWS_WITH(corpus.tokenize("--prompt", "one three"),
                    ContainsSubstring("--prompt[1] is \"three\""));
}

TEST_CASE("tree shapes are chains or products") {
  CHECK(parse_tree_shape("chain:4").children == std::vector<std::int32_t>{1, 1, 1, 1});
  CHECK(parse_tree_shape("3").children == std::vector<std::int32_t>{3});
  const TreeShape tree = parse_tree_shape("2x3x1");
  CHECK(tree.children == std::vector<std::int32_t>{2, 3, 1});
  CHECK(tree.width(0) == 1);
  CHECK(tree.width(2) == 6);
  CHECK(tree.nodes() == 14);
  CHECK(parse_tree_shape("chain:1024").nodes() == 1024);
}

TEST_CASE("tree shapes that are none end in an error") {
  const std::string text = GENERATE(std::string(""), "chain:", "chain:0", "chain:-1", "chain:1025",
                                    "chain:4x2", "chain:4 ", "0", "2x0", "x2", "2x", "2xx2", "2X3",
                                    "1025", "32x32", "99999999999x2", "1000x1000x1000", "a");
  CHECK_THROWS_WITH(parse_tree_shape(text), ContainsSubstring("--tree is \"" + text + "\""));
}

TEST_CASE("constraint words forbids punctuation and paragraph breaks for ever") {
  const Vocabulary vocabulary = vocabulary_of({"a", ".", "b-c", "--", "7"});
  Constraint constraint(
      std::make_shared<const ConstraintRule>(parse_constraint("words", vocabulary)));
  for (int i = 0; i < 3; ++i) {
    CHECK(allowed_tokens(constraint, vocabulary.size()) == std::vector<std::int32_t>{1, 3, 5});
    CHECK_FALSE(constraint.accept(2));
    CHECK_FALSE(constraint.accept(0));
    CHECK_FALSE(constraint.accept(-1));
    CHECK_FALSE(constraint.accept(6));
    CHECK(constraint.accept(3));
    CHECK_FALSE(constraint.finished());
  }
}

TEST_CASE("constraint sentence ends at a full stop and comes back by rollback") {
  const Vocabulary vocabulary = vocabulary_of({"a", ".", "..."});
  Constraint constraint(
      std::make_shared<const ConstraintRule>(parse_constraint("sentence", vocabulary)));
  CHECK(constraint.accept(1));
  CHECK(constraint.accept(3));
  CHECK(allowed_tokens(constraint, vocabulary.size()) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(constraint.accept(2));
  CHECK(constraint.finished());
  CHECK(allowed_tokens(constraint, vocabulary.size()).empty());
  CHECK_FALSE(constraint.accept(1));
  constraint.rollback(1);
  CHECK_FALSE(constraint.finished());
  CHECK(allowed_tokens(constraint, vocabulary.size()) == std::vector<std::int32_t>{1, 2, 3});
  constraint.rollback(2);
  CHECK_THROWS_AS(constraint.rollback(1), Error);
}

TEST_CASE("constraint pattern gives each place its words and then the end") {
  const Vocabulary vocabulary = vocabulary_of({"the", "free", "freedom", ",", "tree", "*"});
  Constraint constraint(std::make_shared<const ConstraintRule>(
      parse_constraint("pattern:the *ree* ?ree , *", vocabulary)));
  const std::vector<std::vector<std::int32_t>> expected = {
      {1}, {2, 3, 5}, {2, 5}, {4}, {1, 2, 3, 5, 6}};
  for (const auto& tokens : expected) {
    CHECK_FALSE(constraint.finished());
    CHECK(allowed_tokens(constraint, vocabulary.size()) == tokens);
    REQUIRE(constraint.accept(tokens.back()));
  }
  CHECK(constraint.finished());
  constraint.rollback(4);
  CHECK(allowed_tokens(constraint, vocabulary.size()) == expected[1]);
}

TEST_CASE("constraints that no text can obey end in an error") {
  const Vocabulary vocabulary = vocabulary_of({"a", "bc"});
  CHECK_THROWS_WITH(parse_constraint("sentence", vocabulary), ContainsSubstring("full stop"));
  CHECK_THROWS_WITH(parse_constraint("verse", vocabulary), ContainsSubstring("\"verse\""));
  CHECK_THROWS_WITH(parse_constraint("pattern: ", vocabulary), ContainsSubstring("one item"));
  CHECK_THROWS_WITH(parse_constraint("pattern:a x*", vocabulary),
                    ContainsSubstring("--constraint[1] is \"x*\""));
  CHECK_THROWS_WITH(parse_constraint("pattern:b", vocabulary), ContainsSubstring("\"b\""));
  CHECK_THROWS_WITH(parse_constraint("pattern:???", vocabulary), ContainsSubstring("\"???\""));
}
