// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A score of which anything is wrong is refused before the first of its kernels is launched.
#include <tokkos/tokkos.h>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "interop/good_score.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::string text_of_type(std::int32_t type) {
  const std::vector<std::string> names{"0",     "float32", "bfloat16", "float16",
                                       "int32", "int64",   "6"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace

TEST_CASE("a right score works", "[interop]") {
  const RefusingScorer scorer;
  const GoodScore good;
  check_ok(scorer.score(good));
  CHECK(good.is_written());
  for (const ScoreMember& member : score_members) {  // nothing of it has to be there, but pairs
    GoodScore fewer;
    fewer.score.*member.pointer = nullptr;
    if (member.is_columns) {
      fewer.score.given_tokens = fewer.score.given_logprobs = nullptr;
      fewer.score.uniforms = fewer.score.tokens = nullptr;
    }
    if (member.is_written && !member.is_vector) {
      fewer.score.top_tokens = fewer.score.top_logprobs = nullptr;
    }
    if (std::string(member.name) == "bitmask") fewer.score.bitmask_row_index = nullptr;
    if (std::string(member.name) == "row_index") fewer.logits.shape[0] = 3;
    CAPTURE(member.name);
    check_ok(scorer.score(fewer));
  }
}

TEST_CASE("arrays of a score have their type", "[interop]") {
  const RefusingScorer scorer;
  for (const ScoreMember& member : score_members) {
    const std::string name = member.name;
    for (std::int32_t type = 0; type <= 6; ++type) {
      if (type == member.type) continue;
      scorer.refuses(name + ".type", -1, text_of_type(type),
                     [&](GoodScore& score) { (score.*member.array).type = type; });
    }
  }
  for (const std::int32_t type : {0, 4, 5, 6}) {
    scorer.refuses("logits.type", -1, text_of_type(type),
                   [&](GoodScore& score) { score.logits.type = type; });
  }
}

TEST_CASE("arrays of a score have their number of dimensions", "[interop]") {
  const RefusingScorer scorer;
  for (const ScoreMember& member : score_members) {
    for (const std::int32_t ndim : {-1, 0, 1, 2, 3, 77}) {
      const bool is_right =
          member.is_columns ? ndim == 1 || ndim == 2 : ndim == (member.is_vector ? 1 : 2);
      if (is_right) continue;
      scorer.refuses(std::string(member.name) + ".ndim", -1, std::to_string(ndim),
                     [&](GoodScore& score) { (score.*member.array).ndim = ndim; });
    }
  }
  // The results of each row have as many as what they are of.
  scorer.refuses("given_logprobs.ndim", -1, "1",
                 [](GoodScore& score) { score.given_logprobs.ndim = 1; });
  scorer.refuses("given_logprobs.ndim", -1, "2",
                 [](GoodScore& score) { score.given_tokens.ndim = 1; });
  scorer.refuses("tokens.ndim", -1, "1", [](GoodScore& score) { score.tokens.ndim = 1; });
  scorer.refuses("tokens.ndim", -1, "2", [](GoodScore& score) { score.uniforms.ndim = 1; });
}

TEST_CASE("arrays of a score have as many rows as it", "[interop]") {
  const RefusingScorer scorer;
  for (const ScoreMember& member : score_members) {
    const std::string name = member.name;
    if (name == "row_index" || name == "bitmask") continue;  // say how many, or have any number
    for (const std::int64_t rows : {0, 1, 2, 4, 1000}) {
      const bool is_parameter = member.is_vector && !member.is_written;
      if (is_parameter && rows == 1 && name != "bitmask_row_index") continue;  // one for all rows
      scorer.refuses(name + ".shape", 0, std::to_string(rows),
                     [&](GoodScore& score) { (score.*member.array).shape[0] = rows; });
    }
    scorer.refuses(name + ".shape", 0, "-1",
                   [&](GoodScore& score) { (score.*member.array).shape[0] = -1; });
    scorer.refuses(name + ".shape", 0, "0", [&](GoodScore& score) {  // without memory too
      (score.*member.array).shape[0] = 0;
      (score.*member.array).data = nullptr;
    });
  }
}

TEST_CASE("one parameter of a score is for all of its rows", "[interop]") {
  const RefusingScorer scorer;
  GoodScore one, each;
  one.temperature.shape[0] = one.top_k.shape[0] = one.top_p.shape[0] = one.min_p.shape[0] = 1;
  one.top_k_memory[0] = each.top_k_memory[0] = each.top_k_memory[1] = each.top_k_memory[2] = 9;
  each.temperature_memory = {1.0f, 1.0f, 1.0f};
  each.top_p_memory = {1.0f, 1.0f, 1.0f};
  each.min_p_memory = {0.0f, 0.0f, 0.0f};
  check_ok(scorer.score(one));
  check_ok(scorer.score(each));
  CHECK(one.token_memory == each.token_memory);
  CHECK(one.logprob_memory == each.logprob_memory);
  CHECK(one.top_logprob_memory == each.top_logprob_memory);
}

TEST_CASE("a score has at most the rows that its scorer was made for", "[interop]") {
  const RefusingScorer scorer;
  for (const std::int64_t rows : {std::int64_t{5}, std::int64_t{6}, std::int64_t{1} << 31}) {
    const auto listed = [&](GoodScore& score) { score.row_index.shape[0] = rows; };
    scorer.refuses("row_index.shape", 0, std::to_string(rows), listed);
    CHECK(scorer.refused(listed).expected == "at most max_rows = 4");
    scorer.refuses("logits.shape", 0, std::to_string(rows), [&](GoodScore& score) {
      score.score.row_index = nullptr;
      score.logits.shape[0] = rows;
    });
  }
  for (const std::int64_t rows : {-1, -2, -1000}) {
    scorer.refuses("row_index.shape", 0, std::to_string(rows),
                   [&](GoodScore& score) { score.row_index.shape[0] = rows; });
    scorer.refuses("logits.shape", 0, std::to_string(rows),
                   [&](GoodScore& score) { score.logits.shape[0] = rows; });
  }
  GoodScore taller;  // where rows are listed, the logits may have more
  std::vector<float> memory(4000 * GoodScore::vocabulary, 1.0f);
  taller.logits.data = memory.data();
  taller.logits.shape[0] = 4000;
  check_ok(scorer.score(taller));
  CHECK(taller.is_written());
}

TEST_CASE("logits of a score have the scorer's vocabulary", "[interop]") {
  const RefusingScorer scorer;
  for (const std::int64_t columns : {0, 1, 99, 101}) {
    scorer.refuses("logits.shape", 1, std::to_string(columns),
                   [&](GoodScore& score) { score.logits.shape[1] = columns; });
    const Complaint said = scorer.refused([&](GoodScore& score) {
      score.score.row_index = nullptr;
      score.logits.shape[0] = 3;
      score.logits.shape[1] = columns;
    });
    CHECK(said.field == "logits.shape");
    CHECK(said.expected == "vocabulary = 100");
  }
}

TEST_CASE("arrays of a score that belong together come together", "[interop]") {
  const RefusingScorer scorer;
  const auto refuses = [&](const tokkos_array* tokkos_score::*missing, const char* name,
                           const char* other) {
    const auto change = [&](GoodScore& score) { score.score.*missing = nullptr; };
    scorer.refuses(name, -1, "null", change);
    CHECK(scorer.refused(change).expected ==
          std::string("an array, because ") + other + " is given");
  };
  refuses(&tokkos_score::given_tokens, "given_tokens", "given_logprobs");
  refuses(&tokkos_score::given_logprobs, "given_logprobs", "given_tokens");
  refuses(&tokkos_score::uniforms, "uniforms", "tokens");
  refuses(&tokkos_score::tokens, "tokens", "uniforms");
  refuses(&tokkos_score::top_tokens, "top_tokens", "top_logprobs");
  refuses(&tokkos_score::top_logprobs, "top_logprobs", "top_tokens");
  refuses(&tokkos_score::bitmask, "bitmask", "bitmask_row_index");
}

TEST_CASE("results of a score have as many columns as what they are of", "[interop]") {
  const RefusingScorer scorer;
  for (const std::int64_t columns : {0, 1, 3, 5}) {
    const std::string value = std::to_string(columns);
    scorer.refuses("given_logprobs.shape", 1, value,
                   [&](GoodScore& score) { score.given_logprobs.shape[1] = columns; });
    scorer.refuses("tokens.shape", 1, value,
                   [&](GoodScore& score) { score.tokens.shape[1] = columns; });
    scorer.refuses("top_logprobs.shape", 1, value, [&](GoodScore& score) {
      score.top_tokens.shape[1] = 4;
      score.top_logprobs.shape[1] = columns;
    });
  }
  for (const std::int64_t columns : {129, 130, 100000}) {
    scorer.refuses("top_tokens.shape", 1, std::to_string(columns), [&](GoodScore& score) {
      score.top_tokens.shape[1] = score.top_logprobs.shape[1] = columns;
    });
  }
  for (const std::int64_t draws : {std::int64_t{1} << 31, std::int64_t{1} << 32}) {
    scorer.refuses("tokens.shape", 1, std::to_string(draws), [&](GoodScore& score) {
      score.uniforms.shape[1] = score.tokens.shape[1] = draws;
    });
  }
  scorer.refuses("top_tokens.shape", 0, "0", [](GoodScore& score) {  // both without memory
    for (tokkos_array* array : {&score.top_tokens, &score.top_logprobs}) {
      array->data = nullptr;
      array->shape[0] = 0;
    }
  });
  GoodScore none;
  for (tokkos_array* array : {&none.given_tokens, &none.given_logprobs, &none.uniforms,
                              &none.tokens, &none.top_tokens, &none.top_logprobs}) {
    array->shape[1] = 0;
  }
  check_ok(scorer.score(none));
}

TEST_CASE("masks of a score have a bit for each token and a row for each row", "[interop]") {
  const RefusingScorer scorer;
  for (const std::int64_t words : {0, 1, 3}) {
    scorer.refuses("bitmask.shape", 1, std::to_string(words),
                   [&](GoodScore& score) { score.bitmask.shape[1] = words; });
  }
  for (const std::int64_t rows : {0, 1, 2}) {
    scorer.refuses("bitmask.shape", 0, std::to_string(rows), [&](GoodScore& score) {
      score.score.bitmask_row_index = nullptr;
      score.bitmask.shape[0] = rows;
    });
  }
  scorer.refuses("bitmask.shape", 0, "0", [](GoodScore& score) { score.bitmask.shape[0] = 0; });
  for (const bool has_index : {false, true}) {  // no masks are no array, and not an empty one
    scorer.refuses("bitmask.shape", 1, "0", [&](GoodScore& score) {
      if (!has_index) score.score.bitmask_row_index = nullptr;
      score.bitmask.shape[0] = score.bitmask.shape[1] = 0;
      score.bitmask.data = nullptr;
    });
  }
}

TEST_CASE("rows of a score's arrays lie where they can", "[interop]") {
  const RefusingScorer scorer;
  for (const ScoreMember& member : score_members) {
    const std::string name = member.name;
    for (const std::int64_t stride : {std::int64_t{-1}, std::int64_t{-7}, -most}) {
      scorer.refuses(name + ".strides", 0, std::to_string(stride),
                     [&](GoodScore& score) { (score.*member.array).strides[0] = stride; });
    }
    if (member.is_vector) continue;
    scorer.refuses(name + ".strides", 0, "1",
                   [&](GoodScore& score) { (score.*member.array).strides[0] = 1; });
    for (const std::int64_t stride : {2, 3, 5}) {
      scorer.refuses(name + ".strides", 1, std::to_string(stride),
                     [&](GoodScore& score) { (score.*member.array).strides[1] = stride; });
    }
  }
  for (const std::int64_t stride : {1, 50, 99}) {
    scorer.refuses("logits.strides", 0, std::to_string(stride),
                   [&](GoodScore& score) { score.logits.strides[0] = stride; });
  }
}

TEST_CASE("arrays of a score have memory that may be written where it is", "[interop]") {
  const RefusingScorer scorer;
  for (const ScoreMember& member : score_members) {
    const std::string name = member.name;
    scorer.refuses(name + ".data", -1, "null",
                   [&](GoodScore& score) { (score.*member.array).data = nullptr; });
    CHECK(scorer
              .refused([&](GoodScore& score) {
                auto* const data = static_cast<char*>((score.*member.array).data);
                (score.*member.array).data = data + 1;
              })
              .field == name + ".data");
    for (const std::int32_t flags : {2, 3, -1}) {
      scorer.refuses(name + ".flags", -1, std::to_string(flags),
                     [&](GoodScore& score) { (score.*member.array).flags = flags; });
    }
    if (!member.is_written) continue;
    scorer.refuses(name + ".flags", -1, "read-only",
                   [&](GoodScore& score) { (score.*member.array).flags = TOKKOS_ARRAY_READ_ONLY; });
  }
}

TEST_CASE("results of a score lie apart from what is read and from each other", "[interop]") {
  const RefusingScorer scorer;
  for (const ScoreMember& member : score_members) {
    if (!member.is_written) continue;
    const auto lies_in = [&](tokkos_array GoodScore::*other) {
      return [&, other](GoodScore& score) { (score.*member.array).data = (score.*other).data; };
    };
    scorer.refuses(member.name, -1, "memory that overlaps the logits", lies_in(&GoodScore::logits));
    for (const ScoreMember& other : score_members) {
      if (other.array == member.array) continue;
      const Complaint said = scorer.refused(lies_in(other.array));
      CAPTURE(member.name, other.name, said.message);
      const std::string name = member.name, in = other.name;
      const bool is_named = said.field == name && said.value == "memory that overlaps " + in;
      const bool is_reversed = said.field == in && said.value == "memory that overlaps " + name;
      CHECK((is_named || (is_reversed && other.is_written)));
    }
  }
}

TEST_CASE("ties of a score go one of two ways", "[interop]") {
  const RefusingScorer scorer;
  for (const std::int32_t ties : {-1, 2, 77}) {
    scorer.refuses("ties", -1, std::to_string(ties),
                   [&](GoodScore& score) { score.score.ties = ties; });
  }
}

TEST_CASE("a score is a struct with logits", "[interop]") {
  const Context context = context_on<Kokkos::Serial>();
  const Scorer scorer = scorer_on(context, limits_of(4, 100));
  const GoodScore good;
  CHECK(complaint_of(tokkos_scorer_score(scorer.get(), nullptr, &good.score)).field == "logits");
  CHECK(complaint_of(tokkos_scorer_score(scorer.get(), &good.logits, nullptr)).field == "score");
  CHECK(good.is_untouched());
}

TEST_CASE("limits that no scorer can have are refused", "[interop]") {
  const Context context = context_on<Kokkos::Serial>();
  tokkos_scorer* scorer = nullptr;
  const auto refuses = [&](const tokkos_limits& limits, const char* field, std::int64_t value) {
    scorer = reinterpret_cast<tokkos_scorer*>(&scorer);
    const Complaint said = complaint_of(tokkos_scorer_create(context.get(), &limits, &scorer));
    CHECK(scorer == nullptr);
    CHECK(said.field == field);
    CHECK(said.value == std::to_string(value));
  };
  for (const std::int64_t rows : {std::int64_t{-1}, std::int64_t{1} << 31, most}) {
    refuses(limits_of(rows, 100), "max_rows", rows);
  }
  for (const std::int64_t vocabulary : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 31}) {
    refuses(limits_of(4, vocabulary), "vocabulary", vocabulary);
  }
  for (const std::int64_t active : {-1, 101, 1 << 30}) {
    refuses(limits_of(4, 100, active), "active_vocabulary", active);
  }
  CHECK(tokkos_scorer_create(context.get(), nullptr, &scorer) == TOKKOS_ERROR_INVALID_ARGUMENT);
  const tokkos_limits limits = limits_of(4, 100);
  CHECK(complaint_of(tokkos_scorer_create(context.get(), &limits, nullptr)).field == "scorer");
}

}  // namespace tokkos::test
