// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

namespace tokkos::test {

/// While it lives the process has no more rights to files than any user: root would pass every
/// check.
class Unprivileged {
 public:
  Unprivileged() : m_was_root(geteuid() == 0) {
    constexpr uid_t nobody = 65534;
    if (m_was_root) m_is = setresuid(nobody, nobody, 0) == 0;
  }
  ~Unprivileged() {
    if (m_was_root && m_is) m_is = setresuid(0, 0, 0) == 0;
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

  /// False: root that may not become another user.
  explicit operator bool() const { return m_is; }

 private:
  bool m_was_root;
  bool m_is = true;
};

}  // namespace tokkos::test
