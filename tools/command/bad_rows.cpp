// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/bad_rows.hpp"

#include <tokkos/core/row_status.hpp>

#include <algorithm>
#include <ostream>

namespace tokkos::tools {

void print_bad_rows(const std::string& what, std::span<const std::int32_t> status,
                    std::int32_t harmless, std::ostream& out) {
  constexpr std::size_t most = 10;
  std::size_t bad = 0;
  for (std::size_t row = 0; row < status.size(); ++row) {
    if ((status[row] & ~harmless) == 0) continue;
    if (++bad <= most) {
      out << what << ' ' << row << "  status " << row_status_names(status[row]) << '\n';
    }
  }
  if (bad > 0) out << "bad " << what << "s  " << bad << " of " << status.size() << '\n';
}

void refuse_bad_rows(std::span<const std::int32_t> status, std::int32_t harmless) {
  const auto bad =
      std::ranges::find_if(status, [=](std::int32_t word) { return (word & ~harmless) != 0; });
  if (bad == status.end()) return;
  throw BadStatus("row_status", bad - status.begin(),
                  to_text(*bad) + " (" + row_status_names(*bad) + ")",
                  "no bad status (--strict was given)");
}

}  // namespace tokkos::tools
