// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Structs of older and newer callers: what grows, and what is refused.
#include <tokkos/tokkos.h>
#include <tokkos/core/row_status.hpp>
#include <tokkos/request/generation_config.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {
namespace {

/// The options of a program that was compiled with `size` bytes of them, followed by 0xEE.
struct OptionsOfSize {
  alignas(8) std::array<unsigned char, sizeof(tokkos_context_options) + 64> bytes;

  explicit OptionsOfSize(std::size_t size) {
    bytes.fill(0xEE);
    tokkos_context_options_init(options(), size);
  }
  tokkos_context_options* options() {
    return reinterpret_cast<tokkos_context_options*>(bytes.data());
  }
  tokkos_status create() {
    tokkos_context* context = nullptr;
    const tokkos_status status = tokkos_context_create(options(), &context);
    tokkos_context_destroy(context);
    return status;
  }
};

constexpr std::size_t whole = sizeof(tokkos_context_options);

}  // namespace

TEST_CASE("defaults write as many bytes as the caller has", "[interop]") {
  for (const std::size_t size : {sizeof(std::size_t), std::size_t{16}, whole, whole + 16}) {
    OptionsOfSize given(size);
    CHECK(given.options()->size == size);
    for (std::size_t i = size; i < given.bytes.size(); ++i) REQUIRE(given.bytes[i] == 0xEE);
  }
  tokkos_context_options_init(nullptr, whole);
  OptionsOfSize too_small(4);
  CHECK(too_small.bytes[0] == 0xEE);
}

TEST_CASE("a struct of an older caller has defaults where it ends", "[interop]") {
  for (std::size_t size = sizeof(std::size_t); size <= whole; size += sizeof(std::size_t)) {
    OptionsOfSize older(size);  // what lies behind it would be refused
    CHECK(older.create() == TOKKOS_OK);
  }
}

TEST_CASE("a struct of a newer caller is taken if its news are zero", "[interop]") {
  OptionsOfSize newer(whole + 16);
  CHECK(newer.create() == TOKKOS_OK);
  newer.bytes[whole + 9] = 1;
  const Complaint said = complaint_of(newer.create());
  CHECK(said.field == "options.size");
  CHECK(said.value == std::to_string(whole + 16));
  CHECK(said.names("size"));
}

TEST_CASE("a score of an older or newer caller is read as far as it goes", "[interop]") {
  const Context context = context_on<Kokkos::Serial>();
  const Scorer scorer = scorer_on(context, limits_of(1, 8));
  std::array<float, 8> memory{};
  const tokkos_array logits = tokkos_matrix(memory.data(), TOKKOS_FLOAT32, 1, 8, 0);
  alignas(8) std::array<unsigned char, sizeof(tokkos_score) + 16> bytes;
  auto* const score = reinterpret_cast<tokkos_score*>(bytes.data());
  for (std::size_t size = sizeof(std::size_t); size <= bytes.size(); size += sizeof(std::size_t)) {
    bytes.fill(0xEE);  // what lies behind an older one would be refused
    tokkos_score_init(score, size);
    CHECK(tokkos_scorer_score(scorer.get(), &logits, score) == TOKKOS_OK);
  }
  bytes[sizeof(tokkos_score)] = 1;
  CHECK(complaint_of(tokkos_scorer_score(scorer.get(), &logits, score)).field == "score.size");
}

TEST_CASE("sizes that no struct has are refused", "[interop]") {
  OptionsOfSize given(whole);
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, whole + 4, std::size_t{5000},
                                 static_cast<std::size_t>(-8)}) {
    given.options()->size = size;
    CHECK(complaint_of(given.create()).field == "options.size");
  }
}

TEST_CASE("results are written as far as the caller's struct goes", "[interop]") {
  tokkos_error older = tokkos_error_default();
  older.size = 16;
  older.field = "kept";
  CHECK(tokkos_context_fence(nullptr) == TOKKOS_ERROR_INVALID_HANDLE);
  check_ok(tokkos_last_error_parts(&older));
  CHECK(std::string(older.message) == tokkos_last_error());
  CHECK(std::string(older.field) == "kept");
}

TEST_CASE("an error without a default of its own is initialized", "[interop]") {
  tokkos_error error;
  std::memset(&error, 0xff, sizeof error);
  tokkos_error_init(&error, sizeof error);
  CHECK(error.size == sizeof error);
  for (const char* text : {error.message, error.field, error.value, error.expected}) {
    CHECK(std::string(text).empty());
  }
  CHECK(error.index == -1);
  CHECK(error.request == -1);
  CHECK(error.status == TOKKOS_OK);
}

TEST_CASE("requests of a newer caller are found by its size", "[interop]") {
  struct NewerRequest {
    tokkos_request request;
    std::uint64_t news;
  };
  std::array<NewerRequest, 3> requests{};
  for (auto& one : requests) {
    tokkos_request_init(&one.request, sizeof(NewerRequest));
  }
  tokkos_step step = tokkos_step_default();
  step.requests = &requests[0].request;
  step.request_count = requests.size();
  std::vector<std::string> ids{"a", "b", "c"};
  for (std::size_t i = 0; i < 3; ++i) requests[i].request.id = ids[i].c_str();
  std::vector<History> histories(3);
  for (std::size_t i = 0; i < 3; ++i) {
    check_ok(tokkos_history_create(nullptr, 0, histories[i].put()));
    requests[i].request.history = histories[i].get();
  }
  std::array<float, 3> uniforms{};
  check_ok(tokkos_step_uniforms(&step, uniforms.data(), uniforms.size()));
  CHECK(uniforms[1] != uniforms[2]);
  requests[2].request.size = sizeof(tokkos_request);
  CHECK(complaint_of(tokkos_step_uniforms(&step, uniforms.data(), 3)).field == "requests[2].size");
}

TEST_CASE("defaults are those of C++", "[interop]") {
  const tokkos_generation_config config = tokkos_generation_config_default();
  const GenerationConfig expected;
  CHECK(config.temperature == expected.temperature);
  CHECK(config.top_k == expected.top_k);
  CHECK(config.top_p == expected.top_p);
  CHECK(config.min_p == expected.min_p);
  CHECK(config.repetition_penalty == expected.repetition_penalty);
  CHECK(config.penalty_policy == static_cast<std::int32_t>(expected.penalty_policy));
  CHECK(config.penalty_window == expected.penalty_window);
  CHECK(config.logit_bias_count == 0);
  CHECK(config.has_stream == 0);
  CHECK(tokkos_tree_links_default().type == TOKKOS_INT32);
  CHECK(tokkos_draft_tree_default().links == nullptr);
  CHECK(tokkos_request_default().rows == 1);
  CHECK(tokkos_context_options_default().device == -1);
  CHECK(tokkos_verified_draft_default().bonus_token == -1);
}

TEST_CASE("names of statuses and of row status bits", "[interop]") {
  CHECK(std::string(tokkos_status_name(TOKKOS_OK)) == "TOKKOS_OK");
  CHECK(std::string(tokkos_status_name(TOKKOS_ERROR_INTERNAL)) == "TOKKOS_ERROR_INTERNAL");
  CHECK(std::string(tokkos_status_name(static_cast<tokkos_status>(77))) == "unknown");
  const std::int32_t bits = TOKKOS_ROW_NAN_LOGIT | TOKKOS_ROW_INVALID_PROBABILITY;
  CHECK(bits == (RowStatus::nan_logit | RowStatus::invalid_probability));
  std::size_t length = 0;
  check_ok(tokkos_row_status_names(bits, nullptr, 0, &length));
  CHECK(length == row_status_names(bits).size());
  std::array<char, 64> text{};
  check_ok(tokkos_row_status_names(bits, text.data(), text.size(), nullptr));
  CHECK(std::string(text.data()) == row_status_names(bits));
  check_ok(tokkos_row_status_names(bits, text.data(), 4, nullptr));
  CHECK(std::string(text.data()) == row_status_names(bits).substr(0, 3));
}

}  // namespace tokkos::test
