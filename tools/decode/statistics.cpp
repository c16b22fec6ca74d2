// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

namespace tokkos::tools {

namespace {

constexpr std::array<const char*, stage_count> stage_names = {
    "time draft model",        "time draft edits and softmax",
    "time draft draws",        "time preparation",
    "time target model",       "time edits and softmax",
    "time draft verification", "time edits and sampling",
    "time log-probabilities",  "time commit",
};

// Everything but the models themselves and the commit.
constexpr std::array library_stages = {Stage::draft_probabilities, Stage::draft_draws,
                                       Stage::preparation,         Stage::target_probabilities,
                                       Stage::verification,        Stage::sampling,
                                       Stage::log_probabilities};

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 96> buffer;
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

double ratio(double numerator, double denominator) {
  return denominator > 0.0 ? numerator / denominator : 0.0;
}

std::string duration(double seconds, double total, double steps) {
  return formatted("%.6f s (%.1f %%), %.1f us a step", seconds, 100.0 * ratio(seconds, total),
                   1e6 * ratio(seconds, steps));
}

}  // namespace

void print_table(std::ostream& out, const Statistics& statistics, std::span<const TableLine> more) {
  const auto steps = static_cast<double>(statistics.steps);
  const auto& seconds = statistics.seconds;
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  double library = 0.0;
  for (const Stage stage : library_stages) library += seconds[static_cast<std::size_t>(stage)];

  std::vector<TableLine> lines(more.begin(), more.end());
  lines.push_back({"tokens", std::to_string(statistics.tokens)});
  lines.push_back({"steps", std::to_string(statistics.steps)});
  lines.push_back({"accepted drafts per step",
                   formatted("%.3f", ratio(static_cast<double>(statistics.accepted),
                                           static_cast<double>(statistics.request_steps)))});
  if (statistics.scored > 0) {
    lines.push_back(
        {"mean log-probability", formatted("%.4f", ratio(statistics.log_probability,
                                                         static_cast<double>(statistics.scored)))});
  }
  for (std::size_t i = 0; i < stage_count; ++i) {
    if (seconds[i] > 0.0) lines.push_back({stage_names[i], duration(seconds[i], total, steps)});
  }
  lines.push_back({"time total", duration(total, total, steps)});
  lines.push_back({"logits processed per second",
                   formatted("%.4g", ratio(static_cast<double>(statistics.logits), library))});
  lines.push_back({"bytes staged per step",
                   formatted("%.0f", ratio(static_cast<double>(statistics.staged_bytes), steps))});
  lines.push_back({"rows with a bad status", std::to_string(statistics.bad_rows)});

  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  for (const auto& [name, value] : lines) {
    out << name << std::string(width - name.size() + 2, ' ') << value << '\n';
  }
}

}  // namespace tokkos::tools
