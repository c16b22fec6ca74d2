// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Callbacks that fail, by their result or by throwing, end in a status; nothing is written.
#include <tokkos/tokkos.h>

#include <pthread.h>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 64;

/// A mask that allows every token, but for what a test tells it.
struct ToldMask {
  std::function<std::int32_t()> is_constrained = [] { return 1; };
  std::function<std::int32_t()> fill = [] { return 0; };
  std::function<std::int32_t()> accept = [] { return 1; };
  std::function<std::int32_t(std::int32_t)> rollback = [](std::int32_t) { return 0; };
  int destroyed = 0;
  int accepted = 0;

  static ToldMask& of(void* user) { return *static_cast<ToldMask*>(user); }

  tokkos_mask_callbacks callbacks() {
    tokkos_mask_callbacks made = tokkos_mask_callbacks_default();
    made.user = this;
    made.is_constrained = [](void* user) { return of(user).is_constrained(); };
    made.fill = [](void* user, std::int32_t* words, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) words[i] = -1;
      return of(user).fill();
    };
    made.accept = [](void* user, std::int32_t) {
      const std::int32_t result = of(user).accept();
      if (result == 1) ++of(user).accepted;
      return result;
    };
    made.rollback = [](void* user, std::int32_t count) {
      of(user).accepted -= count;
      return of(user).rollback(count);
    };
    made.destroy = [](void* user) { ++of(user).destroyed; };
    return made;
  }
};

/// A request behind a draft token, with a mask and hooks.
struct HookedStep {
  ToldMask told;
  Mask mask;
  std::vector<float> memory = std::vector<float>(vocabulary, 0.5f);
  std::int32_t token = 3, parent = -1, row_of_node = 0, drawn = -7;
  float uniform = 0.0f;
  tokkos_array logits = tokkos_matrix(memory.data(), TOKKOS_FLOAT32, 1, vocabulary, 0);
  tokkos_array tokens = tokkos_vector(&drawn, TOKKOS_INT32, 1);
  tokkos_draft_tree tree = tokkos_draft_tree_default();
  tokkos_request request = tokkos_request_default();
  tokkos_step step = tokkos_step_default();
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  tokkos_step_options options = tokkos_step_options_default();
  tokkos_logit_hook hook = tokkos_logit_hook_default();
  Context context = context_on<Kokkos::Serial>();
  Processor processor = processor_on(context, limits_of(4, vocabulary));

  HookedStep() {
    const tokkos_mask_callbacks callbacks = told.callbacks();
    check_ok(tokkos_mask_create(&callbacks, mask.put()));
    tree.token_ids = &token;
    tree.parents = &parent;
    tree.count = 1;
    request.mask = mask.get();
    request.draft_tree = &tree;
    request.draft_nodes = &row_of_node;
    step.requests = &request;
    step.request_count = 1;
    outputs.tokens = &tokens;
    options.uniforms = &uniform;
    options.uniform_count = 1;
  }
  HookedStep(const HookedStep&) = delete;
  HookedStep& operator=(const HookedStep&) = delete;

  tokkos_status process() {
    return tokkos_processor_process(processor.get(), &logits, &step, &outputs, &options, &hook);
  }
  std::string failure() {
    const tokkos_status status = process();
    CHECK(status == TOKKOS_ERROR_CALLBACK);
    CHECK(memory == std::vector<float>(vocabulary, 0.5f));
    CHECK(drawn == -7);
    return complaint_of(status).message;
  }
};

}  // namespace

TEST_CASE("a thread may end inside a callback", "[interop]") {
  HookedStep step;
  step.told.accept = [] { return 1; };
  for (auto* callback : {&step.told.is_constrained, &step.told.fill, &step.told.accept}) {
    const std::function<std::int32_t()> usual = *callback;
    *callback = []() -> std::int32_t { pthread_exit(nullptr); };
    bool returned = false;
    std::thread([&] {
      step.process();
      returned = true;
    }).join();
    CHECK_FALSE(returned);
    *callback = usual;
    CHECK(step.told.accepted == 0);  // rolled back
    CHECK(step.memory == std::vector<float>(vocabulary, 0.5f));
    CHECK(step.drawn == -7);
  }
  check_ok(step.process());
  CHECK(step.drawn == 0);
}

TEST_CASE("a mask that fails outside of a step is named alone", "[interop]") {
  tokkos_mask_callbacks callbacks = tokkos_mask_callbacks_default();
  callbacks.fill = [](void*, std::int32_t*, std::size_t) -> std::int32_t { return 0; };
  callbacks.accept = [](void*, std::int32_t) -> std::int32_t { return -3; };
  callbacks.rollback = [](void*, std::int32_t) -> std::int32_t { return 4; };
  Mask mask;
  check_ok(tokkos_mask_create(&callbacks, mask.put()));
  CHECK(complaint_of(tokkos_mask_accept(mask.get(), 1)).message == "mask.accept returned -3");
  CHECK(complaint_of(tokkos_mask_rollback(mask.get(), 1)).message == "mask.rollback returned 4");
}

TEST_CASE("a mask that says that it failed is believed", "[interop]") {
  HookedStep step;
  step.told.fill = [] { return 5; };
  CHECK(step.failure() == "requests[0].mask.fill returned 5");
  CHECK(step.told.accepted == 0);
  step.told.fill = [] { return 0; };
  step.told.accept = [] { return -2; };
  CHECK(step.failure() == "requests[0].mask.accept returned -2");
  step.told.accept = [] { return 1; };
  step.told.is_constrained = [] { return -1; };
  CHECK(step.failure() == "requests[0].mask.is_constrained returned -1");
  CHECK(step.told.accepted == 0);
  step.told.is_constrained = [] { return 1; };
  step.told.rollback = [](std::int32_t) { return 1; };
  CHECK(step.failure() == "requests[0].mask.rollback returned 1");
  step.told.rollback = [](std::int32_t) { return 0; };
  check_ok(step.process());  // usable as before
  CHECK(step.drawn == 0);
}

TEST_CASE("an exception of a callback of C++ does not get out", "[interop]") {
  HookedStep step;
  step.told.fill = []() -> std::int32_t { throw std::runtime_error("no grammar today"); };
  CHECK(step.failure() == "requests[0].mask.fill threw: no grammar today");
  step.told.fill = []() -> std::int32_t { throw 7; };
  CHECK(step.failure() == "requests[0].mask.fill threw something that is no std::exception");
  CHECK(step.told.accepted == 0);
  step.told.rollback = [](std::int32_t) -> std::int32_t { throw 8; };  // while the other one flies
  CHECK(step.failure() == "requests[0].mask.fill threw something that is no std::exception");
}

TEST_CASE("a callback that calls its own processor is refused", "[interop]") {
  HookedStep step;
  tokkos_status inner = TOKKOS_OK;
  std::string field;
  step.told.fill = [&] {
    inner = step.process();
    field = complaint_of(inner).field;
    return 0;
  };
  check_ok(step.process());
  CHECK(inner == TOKKOS_ERROR_INVALID_ARGUMENT);
  CHECK(field == "processor");
  CHECK(step.drawn == 0);
}

TEST_CASE("a callback that destroys its own processor is refused", "[interop]") {
  HookedStep step;
  tokkos_status inner = TOKKOS_OK;
  step.told.fill = [&] {
    inner = tokkos_processor_destroy(step.processor.get());
    return 0;
  };
  check_ok(step.process());
  CHECK(inner == TOKKOS_ERROR_INVALID_ARGUMENT);
  CHECK(step.drawn == 0);
}

TEST_CASE("a mask can accept and roll back by itself, and is destroyed once", "[interop]") {
  ToldMask told;
  const tokkos_mask_callbacks callbacks = told.callbacks();
  tokkos_mask* mask = nullptr;
  check_ok(tokkos_mask_create(&callbacks, &mask));
  check_ok(tokkos_mask_accept(mask, 4));
  CHECK(told.accepted == 1);
  told.accept = [] { return 0; };
  CHECK(complaint_of(tokkos_mask_accept(mask, 4)).message ==
        "token is 4, expected one that the mask accepts");
  CHECK(complaint_of(tokkos_mask_rollback(mask, -1)).field == "count");
  check_ok(tokkos_mask_rollback(mask, 1));
  CHECK(told.accepted == 0);
  check_ok(tokkos_mask_destroy(mask));
  CHECK(told.destroyed == 1);
  CHECK(tokkos_mask_destroy(mask) == TOKKOS_ERROR_INVALID_HANDLE);
  CHECK(told.destroyed == 1);
}

namespace {

/// Adds a bias to the token of the row's draft; keeps what it saw.
struct SeenRow {
  std::int64_t row = -1;
  std::vector<std::int32_t> drafts;
  std::int32_t token = 9;
  tokkos_status status = TOKKOS_OK;
  tokkos_row_edits* kept = nullptr;
};

std::int32_t add_own_bias(void* user, tokkos_row_edits* edits) {
  SeenRow& seen = *static_cast<SeenRow*>(user);
  tokkos_row_place place = tokkos_row_place_default();
  if (tokkos_row_edits_place(edits, &place) != TOKKOS_OK) return 1;
  seen.row = place.row;
  seen.drafts.assign(place.drafts, place.drafts + place.draft_count);
  seen.status = tokkos_row_edits_add_bias(edits, seen.token, 20.0);
  seen.kept = edits;
  return seen.status == TOKKOS_OK ? 0 : 2;
}

}  // namespace

TEST_CASE("an edit hook reads the row's context and adds to its logits", "[interop]") {
  HookedStep step;
  SeenRow seen;
  step.step.edit_hook = add_own_bias;
  step.step.edit_hook_user = &seen;
  check_ok(step.process());
  CHECK(seen.row == 0);
  CHECK(seen.drafts == std::vector<std::int32_t>{3});
  CHECK(step.memory[9] == 20.5f);
  CHECK(step.drawn == 0);  // its uniform is 0
  // The handle ended with the callback.
  CHECK(tokkos_row_edits_add_bias(seen.kept, 9, 1.0) == TOKKOS_ERROR_INVALID_HANDLE);
}

TEST_CASE("an edit hook that fails stops the step", "[interop]") {
  HookedStep step;
  SeenRow seen;
  seen.token = vocabulary;
  step.step.edit_hook = add_own_bias;
  step.step.edit_hook_user = &seen;
  CHECK(step.failure() == "step.edit_hook returned 2");
  CHECK(seen.status == TOKKOS_ERROR_INVALID_ARGUMENT);
  step.step.edit_hook = [](void*, tokkos_row_edits*) -> std::int32_t {
    throw std::runtime_error("hook");
  };
  CHECK(step.failure() == "step.edit_hook threw: hook");
}

TEST_CASE("a logit hook changes logits between edits and draw, and may fail", "[interop]") {
  HookedStep step;
  step.hook.call = [](void* user, void* stream, const tokkos_array* logits) -> std::int32_t {
    if (stream != nullptr || logits->type != TOKKOS_FLOAT32 || logits->shape[1] != 64) return 1;
    for (std::int64_t v = 0; v < 64; ++v) {
      const bool is_kept = v == *static_cast<std::int64_t*>(user);
      static_cast<float*>(logits->data)[v] =
          is_kept ? 0.0f : -std::numeric_limits<float>::infinity();
    }
    return 0;
  };
  std::int64_t kept = 41;
  step.hook.user = &kept;
  check_ok(step.process());
  CHECK(step.drawn == 41);
  step.hook.call = [](void*, void*, const tokkos_array*) -> std::int32_t { return -4; };
  step.drawn = -7;
  CHECK(complaint_of(step.process()).message == "hook.call returned -4");
  CHECK(step.drawn == -7);
}

TEST_CASE("a mask that does not say whether it constrains does", "[interop]") {
  HookedStep step;
  ToldMask told;
  told.is_constrained = [] { return 0; };
  tokkos_mask_callbacks callbacks = told.callbacks();
  callbacks.fill = [](void*, std::int32_t* words, std::size_t count) -> std::int32_t {
    for (std::size_t i = 0; i < count; ++i) words[i] = 0;
    words[0] = 1 << 9;  // token 9 alone
    return 0;
  };
  Mask says_no, says_nothing;
  check_ok(tokkos_mask_create(&callbacks, says_no.put()));
  callbacks.is_constrained = nullptr;
  check_ok(tokkos_mask_create(&callbacks, says_nothing.put()));
  step.request.mask = says_no.get();
  check_ok(step.process());
  CHECK(step.drawn != 9);
  step.request.mask = says_nothing.get();
  check_ok(step.process());
  CHECK(step.drawn == 9);
}

}  // namespace tokkos::test
