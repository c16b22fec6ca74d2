// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/request/vocabulary_mask.hpp>

#include "interop/handle.hpp"

#include <cstdint>
#include <span>

namespace tokkos::interop {

/// A grammar behind callbacks. @throws CallbackError where one fails
class CallbackMask final : public VocabularyMask {
 public:
  explicit CallbackMask(const tokkos_mask_callbacks& callbacks) : m_callbacks(callbacks) {}
  bool is_constrained() const override;
  void fill_next_bitmask(std::span<std::int32_t> words) override;
  bool accept(TokenId token) override;
  void rollback(std::int32_t count) override;
  const tokkos_mask_callbacks& callbacks() const { return m_callbacks; }

 private:
  tokkos_mask_callbacks m_callbacks;
};

}  // namespace tokkos::interop

struct tokkos_mask : tokkos::interop::Object {
  explicit tokkos_mask(const tokkos_mask_callbacks& callbacks) : grammar(callbacks) {}
  tokkos::interop::CallbackMask grammar;
};
