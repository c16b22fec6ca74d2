// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/mask.hpp"

#include <tokkos/core/error.hpp>

#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"

#include <string>

namespace tokkos::interop {

/// The answer of a callback; a failure names the request.
template <class Body>
int CallbackMask::asked(const Body& body) const {
  try {
    return body();
  } catch (const CallbackError& error) {
    if (m_request < 0) throw;
    const std::string request = "requests[" + std::to_string(m_request) + "].";
    throw CallbackError(request + error.callback(), error.reason());
  }
}

bool CallbackMask::is_constrained() const {
  if (m_callbacks.is_constrained == nullptr) return true;
  return asked([&] {
           return called("mask.is_constrained",
                         [&] { return m_callbacks.is_constrained(m_callbacks.user); });
         }) != 0;
}

void CallbackMask::fill_next_bitmask(std::span<std::int32_t> words) {
  asked([&] {
    return called_to_do("mask.fill", [&] {
      return m_callbacks.fill(m_callbacks.user, words.data(), words.size());
    });
  });
}

bool CallbackMask::accept(TokenId token) {
  return asked([&] {
           return called("mask.accept",
                         [&] { return m_callbacks.accept(m_callbacks.user, token); });
         }) != 0;
}

void CallbackMask::rollback(std::int32_t count) {
  asked([&] {
    return called_to_do("mask.rollback",
                        [&] { return m_callbacks.rollback(m_callbacks.user, count); });
  });
}

}  // namespace tokkos::interop

using namespace tokkos::interop;

void tokkos_mask_callbacks_init(tokkos_mask_callbacks* callbacks, size_t size) {
  initialize_struct(callbacks, size, tokkos_mask_callbacks{});
}

tokkos_status tokkos_mask_create(const tokkos_mask_callbacks* callbacks, tokkos_mask** mask) {
  return guarded([&] {
    checked_result("mask", mask) = nullptr;
    const auto given = read_struct("callbacks", callbacks, tokkos_mask_callbacks{});
    const auto require_function = [](const char* name, bool is_given) {
      if (!is_given) throw tokkos::Error(name, std::nullopt, "null", "a function");
    };
    require_function("callbacks.fill", given.fill != nullptr);
    require_function("callbacks.accept", given.accept != nullptr);
    require_function("callbacks.rollback", given.rollback != nullptr);
    create(mask, given);
  });
}

tokkos_status tokkos_mask_destroy(tokkos_mask* mask) {
  return guarded([&] {
    if (mask == nullptr) return;
    const tokkos_mask_callbacks callbacks = live("mask", mask).grammar.callbacks();
    destroy("mask", mask);
    if (callbacks.destroy == nullptr) return;
    called_to_do("mask.destroy", [&] {
      callbacks.destroy(callbacks.user);
      return 0;
    });
  });
}

tokkos_status tokkos_mask_accept(tokkos_mask* mask, int32_t token) {
  return guarded([&] {
    tokkos_mask& alive = live("mask", mask);
    alive.grammar.set_request(-1);
    if (alive.grammar.accept(token)) return;
    throw tokkos::Error("token", std::nullopt, tokkos::to_text(token), "one that the mask accepts");
  });
}

tokkos_status tokkos_mask_rollback(tokkos_mask* mask, int32_t count) {
  return guarded([&] {
    tokkos_mask& alive = live("mask", mask);
    tokkos::require(count >= 0, "count", std::nullopt, count, "0 or more");
    alive.grammar.set_request(-1);
    alive.grammar.rollback(count);
  });
}
