// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/verified.hpp"

#include <tokkos/core/error.hpp>

#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"

#include <string>

using namespace tokkos::interop;

void tokkos_verified_draft_init(tokkos_verified_draft* draft, size_t size) {
  tokkos_verified_draft none{};
  none.bonus_token = -1;
  initialize_struct(draft, size, none);
}

tokkos_status tokkos_verified_create(tokkos_verified** verified) {
  return guarded([&] {
    checked_result("verified", verified) = nullptr;
    create(verified);
  });
}

tokkos_status tokkos_verified_destroy(tokkos_verified* verified) {
  return guarded([&] { destroy("verified", verified); });
}

tokkos_status tokkos_verified_count(const tokkos_verified* verified, size_t* count) {
  return guarded([&] {
    const tokkos_verified& alive = live("verified", verified);
    checked_result("count", count) = alive.drafts.size();
  });
}

tokkos_status tokkos_verified_get(const tokkos_verified* verified, size_t request,
                                  tokkos_verified_draft* draft) {
  return guarded([&] {
    const tokkos_verified& alive = live("verified", verified);
    if (request >= alive.drafts.size()) {
      throw tokkos::Error("request", std::nullopt, std::to_string(request),
                          "below " + std::to_string(alive.drafts.size()));
    }
    const tokkos::VerifiedDraft& found = alive.drafts[request];
    tokkos_verified_draft given{};
    given.accepted_nodes = found.accepted_nodes.data();
    given.accepted_count = found.accepted_nodes.size();
    given.tokens = found.tokens.data();
    given.token_count = found.tokens.size();
    given.bonus_token = found.bonus_token;
    given.status = found.status;
    write_struct("draft", draft, given);
  });
}
