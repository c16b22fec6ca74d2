// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tokkos::tools {

/// A bar on standard error while long work goes on; silent where that is no terminal. It takes its
/// line away when it is destroyed.
class StepProgress {
 public:
  StepProgress(std::string label, std::int64_t total);
  ~StepProgress();
  StepProgress(const StepProgress&) = delete;
  StepProgress& operator=(const StepProgress&) = delete;

  void advance();

 private:
  void draw() const;

  std::string m_label;
  std::int64_t m_total;
  std::int64_t m_done = 0;
  bool m_on_terminal;
};

}  // namespace tokkos::tools
