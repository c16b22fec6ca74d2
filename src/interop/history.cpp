// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/history.hpp"

#include <tokkos/engine/verified_draft.hpp>

#include "interop/last_error.hpp"
#include "interop/mask.hpp"
#include "interop/sized_struct.hpp"

#include <span>
#include <vector>

using namespace tokkos::interop;

tokkos_status tokkos_history_create(const int32_t* prompt, size_t prompt_count,
                                    tokkos_history** history) {
  return guarded([&] {
    checked_result("history", history) = nullptr;
    const int32_t* const first = checked_array("prompt", prompt, prompt_count);
    create(history,
           tokkos::TokenHistory(std::vector<tokkos::TokenId>(first, first + prompt_count)));
  });
}

tokkos_status tokkos_history_destroy(tokkos_history* history) {
  return guarded([&] { destroy("history", history); });
}

tokkos_status tokkos_history_commit(tokkos_history* history, int32_t token) {
  return guarded([&] { live("history", history).tokens.commit(token); });
}

tokkos_status tokkos_history_rollback(tokkos_history* history, size_t count) {
  return guarded([&] { live("history", history).tokens.rollback(count); });
}

namespace {

void give_tokens(std::span<const tokkos::TokenId> given, const int32_t** tokens, size_t* count) {
  checked_result("tokens", tokens);
  checked_result("count", count) = given.size();
  *tokens = given.data();
}

}  // namespace

tokkos_status tokkos_history_prompt(const tokkos_history* history, const int32_t** tokens,
                                    size_t* count) {
  return guarded([&] { give_tokens(live("history", history).tokens.prompt(), tokens, count); });
}

tokkos_status tokkos_history_generated(const tokkos_history* history, const int32_t** tokens,
                                       size_t* count) {
  return guarded([&] { give_tokens(live("history", history).tokens.generated(), tokens, count); });
}

tokkos_status tokkos_history_count(const tokkos_history* history, int32_t token, int32_t* count) {
  return guarded([&] {
    const tokkos_history& alive = live("history", history);
    checked_result("count", count) = alive.tokens.count(token);
  });
}

tokkos_status tokkos_commit(tokkos_history* history, tokkos_mask* mask, const int32_t* tokens,
                            size_t count) {
  return guarded([&] {
    tokkos_history& alive = live("history", history);
    CallbackMask* const grammar = mask == nullptr ? nullptr : &live("mask", mask).grammar;
    if (grammar != nullptr) grammar->set_request(-1);
    const int32_t* const first = checked_array("tokens", tokens, count);
    tokkos::commit(std::span<const tokkos::TokenId>(first, count), alive.tokens, grammar);
  });
}
