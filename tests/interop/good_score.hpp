// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {

/// A score of three of four rows on host memory, all of it given and right.
struct GoodScore {
  static constexpr std::int64_t vocabulary = 100, max_rows = 4, rows = 3;
  static constexpr std::int32_t untouched = -77, status = TOKKOS_ROW_ZERO_RESIDUAL;

  using Ids = std::vector<std::int32_t>;
  using Floats = std::vector<float>;
  Floats logit_memory = apart(Floats(4 * vocabulary, 0.5f));
  Ids row_memory = apart(Ids{3, 0, 1});
  Floats temperature_memory = apart(Floats{1.0f, 0.5f, 2.0f});
  Ids top_k_memory = apart(Ids{0, 40, 7});
  Floats top_p_memory = apart(Floats{1.0f, 0.9f, 0.5f});
  Floats min_p_memory = apart(Floats{0.0f, 0.1f, 0.0f});
  Ids mask_memory = apart(Ids(16, -1));
  Ids mask_row_memory = apart(Ids{-1, 3, 0});
  Ids given_memory = apart(Ids{1, 2, 3, 4, 5, -1});
  Floats uniform_memory = apart(Floats{0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f});
  Floats logprob_memory = apart(Floats(6, untouched));
  Ids token_memory = apart(Ids(6, untouched));
  Ids top_token_memory = apart(Ids(15, untouched));
  Floats top_logprob_memory = apart(Floats(15, untouched));
  Floats sum_memory = apart(Floats(3, untouched));
  Ids status_memory = apart(Ids(3, status));

  tokkos_array logits = read(tokkos_matrix(logit_memory.data(), TOKKOS_FLOAT32, 4, vocabulary, 0));
  tokkos_array row_index = read(tokkos_vector(row_memory.data(), TOKKOS_INT32, rows));
  tokkos_array temperature = read(tokkos_vector(temperature_memory.data(), TOKKOS_FLOAT32, rows));
  tokkos_array top_k = read(tokkos_vector(top_k_memory.data(), TOKKOS_INT32, rows));
  tokkos_array top_p = read(tokkos_vector(top_p_memory.data(), TOKKOS_FLOAT32, rows));
  tokkos_array min_p = read(tokkos_vector(min_p_memory.data(), TOKKOS_FLOAT32, rows));
  tokkos_array bitmask = read(tokkos_matrix(mask_memory.data(), TOKKOS_INT32, 4, 4, 0));
  tokkos_array bitmask_row_index = read(tokkos_vector(mask_row_memory.data(), TOKKOS_INT32, rows));
  tokkos_array given_tokens = read(tokkos_matrix(given_memory.data(), TOKKOS_INT32, rows, 2, 0));
  tokkos_array given_logprobs = tokkos_matrix(logprob_memory.data(), TOKKOS_FLOAT32, rows, 2, 0);
  tokkos_array uniforms = read(tokkos_matrix(uniform_memory.data(), TOKKOS_FLOAT32, rows, 2, 0));
  tokkos_array tokens = tokkos_matrix(token_memory.data(), TOKKOS_INT32, rows, 2, 0);
  tokkos_array top_tokens = tokkos_matrix(top_token_memory.data(), TOKKOS_INT32, rows, 5, 0);
  tokkos_array top_logprobs = tokkos_matrix(top_logprob_memory.data(), TOKKOS_FLOAT32, rows, 5, 0);
  tokkos_array log_sum_exp = tokkos_vector(sum_memory.data(), TOKKOS_FLOAT32, rows);
  tokkos_array row_status = tokkos_vector(status_memory.data(), TOKKOS_INT32, rows);
  tokkos_score score = tokkos_score_default();

  GoodScore() {
    score.row_index = &row_index;
    score.temperature = &temperature;
    score.top_k = &top_k;
    score.top_p = &top_p;
    score.min_p = &min_p;
    score.bitmask = &bitmask;
    score.bitmask_row_index = &bitmask_row_index;
    score.given_tokens = &given_tokens;
    score.given_logprobs = &given_logprobs;
    score.uniforms = &uniforms;
    score.tokens = &tokens;
    score.top_tokens = &top_tokens;
    score.top_logprobs = &top_logprobs;
    score.log_sum_exp = &log_sum_exp;
    score.row_status = &row_status;
  }
  GoodScore(const GoodScore&) = delete;
  GoodScore& operator=(const GoodScore&) = delete;

  /// Whether nothing was written.
  bool is_untouched() const {
    return logit_memory == Floats(4 * vocabulary, 0.5f) && logprob_memory == Floats(6, untouched) &&
           token_memory == Ids(6, untouched) && top_token_memory == Ids(15, untouched) &&
           top_logprob_memory == Floats(15, untouched) && sum_memory == Floats(3, untouched) &&
           status_memory == Ids(3, status);
  }
  /// Whether every result was.
  bool is_written() const {
    const auto is_new = [](const auto& values, std::size_t count) {
      for (const auto value : values) count -= value != untouched ? 1 : 0;
      return count == 0;
    };
    return is_new(logprob_memory, 6) && is_new(token_memory, 6) && is_new(top_token_memory, 15) &&
           is_new(top_logprob_memory, 15) && is_new(sum_memory, 3) &&
           status_memory == Ids(3, status);
  }

 private:
  /// Memory in which any other array that begins there ends too.
  template <class Values>
  static Values apart(Values values) {
    values.reserve(64);
    return values;
  }
  static tokkos_array read(tokkos_array array) {
    array.flags = TOKKOS_ARRAY_READ_ONLY;
    return array;
  }
};

/// An array of a GoodScore, the member of tokkos_score that points to it, and what it has to be.
struct ScoreMember {
  const char* name;
  tokkos_array GoodScore::*array;
  const tokkos_array* tokkos_score::*pointer;
  std::int32_t type;
  bool is_written = false;
  bool is_vector = false;   ///< of one dimension
  bool is_columns = false;  ///< of one or two
};

inline const std::vector<ScoreMember> score_members{
    {"row_index", &GoodScore::row_index, &tokkos_score::row_index, TOKKOS_INT32, false, true},
    {"temperature", &GoodScore::temperature, &tokkos_score::temperature, TOKKOS_FLOAT32, false,
     true},
    {"top_k", &GoodScore::top_k, &tokkos_score::top_k, TOKKOS_INT32, false, true},
    {"top_p", &GoodScore::top_p, &tokkos_score::top_p, TOKKOS_FLOAT32, false, true},
    {"min_p", &GoodScore::min_p, &tokkos_score::min_p, TOKKOS_FLOAT32, false, true},
    {"bitmask", &GoodScore::bitmask, &tokkos_score::bitmask, TOKKOS_INT32},
    {"bitmask_row_index", &GoodScore::bitmask_row_index, &tokkos_score::bitmask_row_index,
     TOKKOS_INT32, false, true},
    {"given_tokens", &GoodScore::given_tokens, &tokkos_score::given_tokens, TOKKOS_INT32, false,
     false, true},
    {"given_logprobs", &GoodScore::given_logprobs, &tokkos_score::given_logprobs, TOKKOS_FLOAT32,
     true, false, true},
    {"uniforms", &GoodScore::uniforms, &tokkos_score::uniforms, TOKKOS_FLOAT32, false, false, true},
    {"tokens", &GoodScore::tokens, &tokkos_score::tokens, TOKKOS_INT32, true, false, true},
    {"top_tokens", &GoodScore::top_tokens, &tokkos_score::top_tokens, TOKKOS_INT32, true},
    {"top_logprobs", &GoodScore::top_logprobs, &tokkos_score::top_logprobs, TOKKOS_FLOAT32, true},
    {"log_sum_exp", &GoodScore::log_sum_exp, &tokkos_score::log_sum_exp, TOKKOS_FLOAT32, true,
     true},
    {"row_status", &GoodScore::row_status, &tokkos_score::row_status, TOKKOS_INT32, true, true}};

/// A scorer that refuses scores, and works on.
class RefusingScorer {
 public:
  tokkos_status score(const GoodScore& good) const {
    return tokkos_scorer_score(m_scorer.get(), &good.logits, &good.score);
  }

  /// What a good score that is changed is refused with. Nothing may be written, and the next good
  /// one works.
  template <class Change>
  Complaint refused(const Change& change) const {
    GoodScore bad, next;
    change(bad);
    const tokkos_status status = score(bad);
    CHECK(status == TOKKOS_ERROR_INVALID_ARGUMENT);
    const Complaint said = complaint_of(status);
    CHECK(bad.is_untouched());
    check_ok(score(next));
    CHECK(next.is_written());
    return said;
  }

  /// Checks the parts of a complaint, and that they are in its text.
  template <class Change>
  void refuses(const std::string& field, std::int64_t index, const std::string& value,
               const Change& change) const {
    const Complaint said = refused(change);
    CAPTURE(field, said.message);
    CHECK(said.field == field);
    CHECK(said.index.value_or(-1) == index);
    CHECK(said.value == value);
    std::string place;
    if (index >= 0) place.append("[").append(std::to_string(index)).append("]");
    CHECK(said.message == field + place + " is " + value + ", expected " + said.expected);
  }

 private:
  Context m_context = context_on<Kokkos::Serial>();
  Scorer m_scorer = scorer_on(m_context, limits_of(GoodScore::max_rows, GoodScore::vocabulary));
};

}  // namespace tokkos::test
