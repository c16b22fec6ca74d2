// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Everything that is wrong ends in a status and a text, and nothing is written.
#include <tokkos/tokkos.h>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"
#include "interop/one_row.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = OneRow::vocabulary;

}  // namespace

TEST_CASE("a right step works", "[interop]") {
  OneRow row;
  check_ok(row.process());
  CHECK(row.drawn[0] == 25);
}

TEST_CASE("memory that cannot be had has a status of its own", "[interop]") {
  const Context context = context_on<Kokkos::Serial>();
  Processor processor;
  const tokkos_limits limits = limits_of(2147483647, 2147483647, 1000);  // 8 PiB
  CHECK(tokkos_processor_create(context.get(), &limits, processor.put()) ==
        TOKKOS_ERROR_OUT_OF_MEMORY);
  CHECK(processor.get() == nullptr);
}

TEST_CASE("arrays that reach past all addresses are refused", "[interop]") {
  OneRow row;
  row.config.banned_token_ids = row.drawn.data();
  for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8 + 1}) {
    row.config.banned_token_count = count;
    const Complaint said = row.complaint();
    CHECK(said.field.ends_with("banned_token_ids.size"));
    CHECK(said.value == std::to_string(count));
  }
  row.config.banned_token_count = 0;
  check_ok(row.process());
}

TEST_CASE("rows that the logits do not have ask for no memory", "[interop]") {
  OneRow row;
  tokkos_draft_tree tree = tokkos_draft_tree_default();
  row.request.draft_tree = &tree;
  row.request.rows = 2147483647;
  const Complaint said = row.complaint();
  CHECK(said.field == "the sum of requests[].rows");
  CHECK(said.value == "2147483647");
}

TEST_CASE("rows that no tree has ask for no memory of a verifier", "[interop]") {
  OneRow row;
  const std::int32_t token = 3, parent = -1;
  tokkos_draft_tree tree = tokkos_draft_tree_default();
  tree.token_ids = &token;
  tree.parents = &parent;
  tree.count = 1;
  row.request.draft_tree = &tree;
  const Verifier verifier = verifier_on(row.context, limits_of(4, vocabulary));
  const VerifiedOfC verified = no_results();
  for (const std::int64_t rows : {3, 1 << 20, 2147483647}) {
    row.request.rows = rows;
    const auto check_refused = [&](tokkos_status status) {
      const Complaint said = complaint_of(status);
      CHECK(said.field == "requests[0].rows");
      CHECK(said.value == std::to_string(rows));
      CHECK(said.expected == "at most a row for the root and one for each draft node, 2");
    };
    check_refused(
        tokkos_verifier_verify(verifier.get(), &row.logits, &row.step, nullptr, verified.get()));
    check_refused(
        tokkos_verifier_verify_greedy(verifier.get(), &row.logits, &row.step, verified.get()));
    check_refused(tokkos_verify_uniforms(&row.step, nullptr, 0, nullptr, 0));
  }
}

TEST_CASE("a processor of C takes as many edits as its limits say", "[interop]") {
  OneRow row;
  const std::array<tokkos_token_bias, 3> biases{{{1.0, 1, 0}, {1.0, 2, 0}, {1.0, 3, 0}}};
  row.config.logit_bias = biases.data();
  tokkos_limits limits = limits_of(4, vocabulary);
  for (const std::int64_t bad :
       {std::int64_t{-1}, std::int64_t{-7}, std::numeric_limits<std::int64_t>::min()}) {
    limits.max_edits = bad;
    Processor none;
    const Complaint said =
        complaint_of(tokkos_processor_create(row.context.get(), &limits, none.put()));
    CHECK(said.field == "max_edits");
    CHECK(said.value == std::to_string(bad));
  }
  limits.max_edits = 2;
  row.processor = processor_on(row.context, limits);
  row.config.logit_bias_count = 3;
  const Complaint said = row.complaint();
  CHECK(said.field == "edits");
  CHECK(said.value == "3");
  CHECK(said.expected == "at most max_edits = 2 for all biases and penalties of a step");
  row.config.logit_bias_count = 2;
  check_ok(row.process());
}

TEST_CASE("bad values of a config are refused by field, value and range", "[interop]") {
  OneRow row;
  for (const std::int32_t bad : {-1, 2, 1000}) {
    row.config.has_stream = bad;
    const Complaint said = row.complaint();
    CHECK(said.field == "requests[0].config.has_stream");
    CHECK(said.value == std::to_string(bad));
  }
  row.config.has_stream = 0;
  row.config.temperature = -1.0f;
  CHECK(row.complaint().message ==
        "requests[0].config.temperature is -1, expected a finite number >= 0");
  row.config.temperature = 1.0f;
  row.config.penalty_policy = 4;
  CHECK(row.complaint().value == "4");
  row.config.penalty_policy = 0;
  const tokkos_token_bias beyond{1.0, vocabulary, 0};
  row.config.logit_bias = &beyond;
  row.config.logit_bias_count = 1;
  CHECK(row.complaint().value == "100");
  row.config.logit_bias = nullptr;
  const Complaint missing = row.complaint();
  CHECK(missing.field == "requests[0].config.logit_bias");
  CHECK(missing.value == "null");
  row.config.logit_bias_count = 0;
  row.config.banned_token_count = 2;
  CHECK(row.complaint().field == "requests[0].config.banned_token_ids");
  row.config.banned_token_count = 0;
  const tokkos_token_list nothing{nullptr, 3};
  row.config.bad_words = &nothing;
  row.config.bad_word_count = 1;
  CHECK(row.complaint().field == "requests[0].config.bad_words[0].tokens");
}

TEST_CASE("errors of what C++ calls otherwise say the names of tokkos.h", "[interop]") {
  OneRow row;
  const std::int32_t prompt[] = {3, vocabulary};
  History history;
  check_ok(tokkos_history_create(prompt, 2, history.put()));
  row.request.history = history.get();
  CHECK(row.complaint().message ==
        "requests[0].history.prompt[1] is 100, expected a token in [0, 100)");
  row.request.history = nullptr;

  const std::int32_t node = 5;
  row.request.draft_nodes = &node;
  CHECK(row.complaint().message ==
        "requests[0].draft_nodes[0] is 5, expected a draft node in [-1, 0)");
  row.request.draft_nodes = nullptr;

  row.options.uniform_count = 0;
  CHECK(row.complaint().message ==
        "requests[0].history is null, expected a history (its length is the place in the random "
        "stream), or "
        "uniforms");
  History empty;
  check_ok(tokkos_history_create(nullptr, 0, empty.put()));
  row.request.history = empty.get();
  CHECK(row.complaint().message ==
        "requests.id.size is 0, expected one id for each request (Philox streams are named by "
        "them), or requests[0].config.stream");
  row.options.uniform_count = 1;

  row.logits.shape[1] = 99;
  CHECK(row.complaint().message == "logits.shape[1] is 99, expected vocabulary = 100");
  row.logits.shape[1] = vocabulary;

  const SamplerOfC sampler = sampler_on(row.context, limits_of(4, vocabulary));
  tokkos_array probabilities = row.logits;
  probabilities.shape[1] = 99;
  const auto sampled = [&] {
    return complaint_of(tokkos_sampler_sample_probabilities(sampler.get(), &probabilities,
                                                            &row.uniform, 1, &row.tokens, nullptr))
        .message;
  };
  CHECK(sampled() == "probabilities.shape[1] is 99, expected vocabulary = 100");
  probabilities = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 5, vocabulary, 0);
  probabilities.data = row.memory.data();
  CHECK(sampled() == "probabilities.shape[0] is 5, expected at most max_rows = 4");

  const Context context = context_on<Kokkos::Serial>();
  Processor processor;
  const tokkos_limits limits = limits_of(-3, vocabulary);
  CHECK(complaint_of(tokkos_processor_create(context.get(), &limits, processor.put())).field ==
        "max_rows");
}

TEST_CASE("bad arrays are refused by member", "[interop]") {
  OneRow row;
  const tokkos_array good = row.logits;
  const auto field_of = [&](auto change) {
    row.logits = good;
    change(row.logits);
    return row.complaint().field;
  };
  CHECK(field_of([](tokkos_array& a) { a.type = TOKKOS_INT32; }) == "logits.type");
  CHECK(field_of([](tokkos_array& a) { a.type = 77; }) == "logits.type");
  CHECK(field_of([](tokkos_array& a) { a.ndim = 1; }) == "logits.ndim");
  CHECK(field_of([](tokkos_array& a) { a.flags = 6; }) == "logits.flags");
  CHECK(field_of([](tokkos_array& a) { a.flags = TOKKOS_ARRAY_READ_ONLY; }) == "logits.flags");
  CHECK(field_of([](tokkos_array& a) { a.shape[0] = -1; }) == "logits.shape");
  CHECK(field_of([](tokkos_array& a) { a.strides[0] = -4; }) == "logits.strides");
  CHECK(field_of([](tokkos_array& a) { a.shape[1] = 99; }) == "logits.shape");
  CHECK(field_of([](tokkos_array& a) { a.shape[0] = 2; }) == "the sum of requests[].rows");
  CHECK(field_of([](tokkos_array& a) { a.strides[1] = 2; }) == "logits.strides");
  CHECK(field_of([](tokkos_array& a) { a.data = nullptr; }) == "logits.data");
  CHECK(field_of([](tokkos_array& a) { a.data = static_cast<char*>(a.data) + 1; }) ==
        "logits.data");
  row.logits = good;
  constexpr std::int64_t many = std::int64_t{1} << 40;
  tokkos_array probabilities = tokkos_matrix(nullptr, TOKKOS_FLOAT32, many, many, 1);
  row.outputs.probabilities = &probabilities;
  CHECK(row.complaint().message ==
        "probabilities.data is null, expected memory of 1099511627776 x 1099511627776 elements");
  row.outputs.probabilities = nullptr;
  row.request.rows = 4;
  CHECK(field_of([](tokkos_array& a) {
          a.shape[0] = 4;
          a.strides[0] = std::numeric_limits<std::int64_t>::max();
        }) == "logits.shape");
  row.request.rows = 1;
  row.logits = good;
  row.tokens.type = TOKKOS_FLOAT32;
  const Complaint type = row.complaint();
  CHECK(type.message == "tokens.type is float32, expected int32");
  row.tokens = tokkos_vector(row.drawn.data(), TOKKOS_INT32, 2);
  CHECK(row.complaint().field == "tokens.shape");
}

TEST_CASE("uniforms, ties and what the mask stores are checked", "[interop]") {
  OneRow row;
  row.uniform = 1.0f;
  CHECK(row.complaint().message == "uniforms[0] is 1, expected a number in [0, 1)");
  row.uniform = std::nanf("");
  CHECK(row.complaint().value == "nan");
  row.uniform = 0.0f;
  row.options.uniform_count = 2;
  row.options.ties = 2;
  CHECK(row.complaint().field == "options.ties");
  row.options.ties = 1;
  row.options.store_mask = 5;
  CHECK(row.complaint().field == "options.store_mask");
  row.options.store_mask = 0;
  row.options.uniforms = nullptr;
  CHECK(row.complaint().field == "options.uniforms");
}

TEST_CASE("null pointers are refused by name", "[interop]") {
  OneRow row;
  const auto none = [](tokkos_status status) { return complaint_of(status).field; };
  tokkos_processor* const p = row.processor.get();
  tokkos_processor* processor = nullptr;
  CHECK(none(tokkos_processor_process(nullptr, &row.logits, &row.step, &row.outputs, nullptr,
                                      nullptr)) == "processor");
  CHECK(none(tokkos_processor_process(p, nullptr, &row.step, &row.outputs, &row.options,
                                      nullptr)) == "logits");
  CHECK(none(tokkos_processor_process(p, &row.logits, nullptr, &row.outputs, nullptr, nullptr)) ==
        "step");
  CHECK(none(tokkos_processor_process(p, &row.logits, &row.step, nullptr, nullptr, nullptr)) ==
        "outputs");
  CHECK(none(tokkos_processor_create(row.context.get(), nullptr, &processor)) == "limits");
  CHECK(none(tokkos_processor_create(row.context.get(), nullptr, nullptr)) == "processor");
  CHECK(none(tokkos_context_create(nullptr, nullptr)) == "context");
  CHECK(none(tokkos_history_create(nullptr, 3, nullptr)) == "history");
  History history;
  CHECK(none(tokkos_history_create(nullptr, 3, history.put())) == "prompt");
  CHECK(none(tokkos_history_commit(nullptr, 1)) == "history");
  CHECK(none(tokkos_mask_create(nullptr, nullptr)) == "mask");
  const tokkos_mask_callbacks empty = tokkos_mask_callbacks_default();
  Mask mask;
  CHECK(none(tokkos_mask_create(&empty, mask.put())) == "callbacks.fill");
  tokkos_mask_callbacks part = empty;
  part.fill = [](void*, std::int32_t*, std::size_t) -> std::int32_t { return 0; };
  CHECK(none(tokkos_mask_create(&part, mask.put())) == "callbacks.accept");
  part.accept = [](void*, std::int32_t) -> std::int32_t { return 1; };
  CHECK(none(tokkos_mask_create(&part, mask.put())) == "callbacks.rollback");
  CHECK(none(tokkos_last_error_parts(nullptr)) == "error");
  row.step.requests = nullptr;
  CHECK(row.complaint().field == "requests");
}

TEST_CASE("limits that no vocabulary has are refused", "[interop]") {
  const Context context = context_on<Kokkos::Serial>();
  tokkos_processor* processor = nullptr;
  for (const tokkos_limits& limits :
       {limits_of(-1, 10), limits_of(1, 0), limits_of(1, std::int64_t{1} << 31),
        limits_of(1, 1 << 19), limits_of(1, 10, 11), limits_of(1, 10, -1)}) {
    CHECK(tokkos_processor_create(context.get(), &limits, &processor) ==
          TOKKOS_ERROR_INVALID_ARGUMENT);
    CHECK(processor == nullptr);
  }
  tokkos_verifier* verifier = nullptr;
  const tokkos_limits part = limits_of(4, 10, 11);
  CHECK(complaint_of(tokkos_verifier_create(context.get(), &part, &verifier)).field ==
        "active_vocabulary");
}

TEST_CASE("a prepare that is refused drops the step before it", "[interop]") {
  OneRow row;
  const auto process_prepared = [&] {
    return tokkos_processor_process_prepared(row.processor.get(), &row.logits, &row.outputs,
                                             nullptr);
  };
  CHECK(complaint_of(process_prepared()).field == "prepare");
  const auto prepare = [&](std::int64_t rows) {
    return tokkos_processor_prepare(row.processor.get(), rows, &row.step, &row.options);
  };
  check_ok(prepare(1));
  CHECK(complaint_of(prepare(2)).field == "the sum of requests[].rows");
  CHECK(complaint_of(process_prepared()).field == "prepare");
  check_ok(prepare(1));
  row.options.ties = 9;
  CHECK(complaint_of(prepare(1)).field == "options.ties");
  CHECK(complaint_of(process_prepared()).field == "prepare");
  CHECK(row.drawn[0] == -7);
}

TEST_CASE("ids are given to every request or to none", "[interop]") {
  OneRow row;
  std::array<tokkos_request, 2> two{row.request, row.request};
  std::array<float, 2 * vocabulary> memory{};
  two[0].id = "a";
  row.step.requests = two.data();
  row.step.request_count = 2;
  row.logits = tokkos_matrix(memory.data(), TOKKOS_FLOAT32, 2, vocabulary, 0);
  CHECK(row.complaint().field == "requests[1].id");
}

}  // namespace tokkos::test
