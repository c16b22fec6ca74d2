// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace tokkos::tools {

/// Stages of a decoding step, in their order.
enum class Stage {
  draft_logits,
  draft_probabilities,
  draft_draws,
  preparation,
  target_logits,
  target_probabilities,
  verification,
  sampling,
  log_probabilities,
  commit,
};
inline constexpr std::size_t stage_count = 10;

/// What a run of the generator counted and measured.
struct Statistics {
  std::int64_t tokens = 0;         ///< committed
  std::int64_t steps = 0;          ///< of the whole batch
  std::int64_t request_steps = 0;  ///< the same, counted for each request
  std::int64_t accepted = 0;       ///< committed tokens that were drafts
  std::int64_t bad_rows = 0;       ///< rows that should have given a token and did not
  std::int64_t logits = 0;         ///< that went through the library, of both models
  std::int64_t staged_bytes = 0;
  std::int64_t scored = 0;       ///< committed tokens whose log-probability is known
  double log_probability = 0.0;  ///< sum of theirs
  std::array<double, stage_count> seconds{};

  void add_staged(std::size_t bytes) { staged_bytes += static_cast<std::int64_t>(bytes); }
};

/// Adds the time that it lives to one stage.
class StageTimer {
 public:
  StageTimer(Statistics& statistics, Stage stage)
      : m_seconds(statistics.seconds[static_cast<std::size_t>(stage)]) {}
  ~StageTimer() {
    m_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& m_seconds;
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

/// A line of the table: "name  value".
struct TableLine {
  std::string name;
  std::string value;
};

/// Prints one line per number; stages that took no time are left out.
/// @param more lines that come first
void print_table(std::ostream& out, const Statistics& statistics,
                 std::span<const TableLine> more = {});

}  // namespace tokkos::tools
