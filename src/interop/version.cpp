// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/tokkos.h>
#include <tokkos/core/row_status.hpp>
#include <tokkos/core/version.hpp>

#include "interop/kokkos_runtime.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"

#include <algorithm>
#include <string>

using namespace tokkos::interop;

const char* tokkos_version(void) {
  return tokkos::version();
}

const char* tokkos_revision(void) {
  return tokkos::revision();
}

int tokkos_carries_kokkos(void) {
  return TOKKOS_C_CARRIES_KOKKOS;
}

int tokkos_started_kokkos(void) {
  return started_kokkos() ? 1 : 0;
}

tokkos_status tokkos_finalize(void) {
  return guarded([] { finalize_kokkos(1); });
}

tokkos_status tokkos_row_status_names(int32_t row_status, char* text, size_t capacity,
                                      size_t* length) {
  return guarded([&] {
    checked_array("text", text, capacity);
    const std::string names = tokkos::row_status_names(row_status);
    if (length != nullptr) *length = names.size();
    if (capacity == 0) return;
    const std::size_t kept = std::min(names.size(), capacity - 1);
    std::copy_n(names.data(), kept, text);
    text[kept] = '\0';
  });
}
