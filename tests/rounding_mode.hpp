// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>

namespace tokkos::test {

/// A rounding mode of this thread (FE_UPWARD, ...), while it lives.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) : m_before(std::fegetround()) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(m_before); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int m_before;
};

}  // namespace tokkos::test
