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
  /// Which request of a step it is asked for from now on, -1: none. Failures say so.
  void set_request(std::int64_t request) { m_request = request; }

 private:
  template <class Body>
  int asked(const Body& body) const;

  tokkos_mask_callbacks m_callbacks;
  std::int64_t m_request = -1;
};

}  // namespace tokkos::interop

struct tokkos_mask : tokkos::interop::Object {
  explicit tokkos_mask(const tokkos_mask_callbacks& callbacks) : grammar(callbacks) {}
  tokkos::interop::CallbackMask grammar;
};
