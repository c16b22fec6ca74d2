// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/step_progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

namespace tokkos::tools {

StepProgress::StepProgress(std::string label, std::int64_t total)
    : m_label(std::move(label)),
      m_total(std::max<std::int64_t>(total, 1)),
      m_on_terminal(isatty(STDERR_FILENO) == 1) {
  draw();
}

StepProgress::~StepProgress() {
  if (m_on_terminal) std::cerr << "\r\033[K" << std::flush;
}

void StepProgress::advance() {
  const std::int64_t percent = 100 * m_done / m_total;
  ++m_done;
  if (100 * m_done / m_total != percent) draw();
}

void StepProgress::draw() const {
  if (!m_on_terminal) return;
  constexpr std::int64_t width = 40;
  const std::int64_t filled = std::min(width, width * m_done / m_total);
  std::cerr << '\r' << m_label << " [" << std::string(static_cast<std::size_t>(filled), '#')
            << std::string(static_cast<std::size_t>(width - filled), ' ') << "] " << m_done << '/'
            << m_total << std::flush;
}

}  // namespace tokkos::tools
