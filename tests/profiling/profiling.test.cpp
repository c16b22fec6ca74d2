// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What a Kokkos tool sees of a step is what docs/profiling.md says: the tables of the page are read
// here, and compared with what examples/profiling prints.
#include <Kokkos_Core.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Lines = std::vector<std::string>;

/// A row of the page's table, or what was seen: "call | region / region | launch, launch".
std::string as_row(const std::string& call, const Lines& regions, const Lines& launches) {
  const auto joined = [](const Lines& names, const char* between) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
    return text;
  };
  return call + " | " + joined(regions, " / ") + " | " + joined(launches, ", ");
}

/// The parts of a line between back quotes.
Lines quoted(const std::string& text) {
  Lines parts;
  for (std::size_t begin = text.find('`'); begin != std::string::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(begin + 1, end - begin - 1));
    begin = text.find('`', end + 1);
  }
  return parts;
}

/// The cells of the rows of the table under a heading.
std::vector<Lines> table_under(const std::string& heading) {
  std::ifstream page(TOKKOS_PAGE);
  REQUIRE(page.is_open());
  std::vector<Lines> rows;
  bool is_under = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) is_under = line == heading;
    if (!is_under || !line.starts_with("| ") || line.find('`') == std::string::npos) continue;
    Lines cells;
    for (std::size_t begin = 0, end; (end = line.find('|', begin + 1)) != std::string::npos;) {
      cells.push_back(line.substr(begin + 1, end - begin - 1));
      begin = end;
    }
    rows.push_back(cells);
  }
  return rows;
}

Lines rows_of_page() {
  Lines rows;
  std::string call;
  for (const Lines& cells : table_under("## What a step looks like")) {
    REQUIRE(cells.size() == 3);
    const Lines named = quoted(cells[0]);
    if (!named.empty()) call = named[0];
    rows.push_back(as_row(call, quoted(cells[1]), quoted(cells[2])));
  }
  return rows;
}

/// What a program prints; stderr has Kokkos's advice for OpenMP.
Lines output_of(const std::string& command) {
  FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Lines lines(1);
  for (int letter; (letter = std::fgetc(pipe)) != EOF;) {
    if (letter == '\n')
      lines.emplace_back();
    else
      lines.back() += static_cast<char>(letter);
  }
  CHECK(pclose(pipe) == 0);
  return lines;
}

Lines output_with(const std::string& environment) {
  return output_of(environment + " KOKKOS_TOOLS_LIBS='" TOKKOS_CONNECTOR "' '" TOKKOS_PROGRAM "'");
}

struct Seen {
  Lines rows, places;
};

/// The rows of what was seen in regions engine::..., and where each launch in them went.
Seen seen_in(const Lines& output) {
  struct Region {
    std::string call;
    Lines path, launches;
  };
  std::vector<Region> regions;
  std::vector<std::size_t> open;  // the region of each depth
  Seen seen;
  for (const std::string& line : output) {
    const std::size_t depth = line.find_first_not_of(' ') / 2;
    const std::string text = line.substr(line.empty() ? 0 : 2 * depth);
    open.resize(std::min(open.size(), line.empty() ? open.size() : depth));
    if (text.starts_with("region ")) {
      Region region{text.substr(7), {}, {}};
      if (!open.empty()) {
        region = {regions[open.back()].call, regions[open.back()].path, {}};
        region.path.push_back(text.substr(7));
      }
      open.push_back(regions.size());
      regions.push_back(region);
    } else if (text.starts_with("launch ") && !open.empty()) {
      const std::size_t end = text.rfind(" on ");
      regions[open.back()].launches.push_back(text.substr(7, end - 7));
      seen.places.push_back(text.substr(end + 1));
    }
  }
  for (const Region& region : regions) {
    // A call's own region has a row if something was launched outside of Tokkos's.
    if (!region.path.empty() || !region.launches.empty())
      seen.rows.push_back(as_row(region.call, region.path, region.launches));
  }
  return seen;
}

}  // namespace

TEST_CASE("a Kokkos tool sees the regions and launches that the page lists") {
  const Lines page = rows_of_page();
  REQUIRE(page.size() >= 20);
  for (const char* threads : {"OMP_NUM_THREADS=1", "OMP_NUM_THREADS=3"}) {
    CAPTURE(threads);
    CHECK(seen_in(output_with(threads)).rows == page);
  }
}

TEST_CASE("launches bear the instance that the page gives for the host's execution space") {
  using Space = Kokkos::DefaultHostExecutionSpace;
  std::string expected;
  for (const Lines& cells : table_under("## Instances")) {
    if (quoted(cells.at(0)).at(0) == Space::name()) expected = quoted(cells.at(1)).at(0);
  }
  const Lines places = seen_in(output_with("OMP_NUM_THREADS=2")).places;
  CHECK(places.size() >= 10);
  for (const std::string& place : places) CHECK(place == expected);
  const auto parts = Kokkos::Tools::Experimental::identifier_from_devid(
      Kokkos::Tools::Experimental::device_id(Space()));
  CHECK(expected == "on " + std::string(Space::name()) + ", device " +
                        std::to_string(parts.device_id) + ", instance " +
                        std::to_string(parts.instance_id));
}

TEST_CASE("a connector may be named by an argument of the program instead") {
  const Lines by_argument = output_of("OMP_NUM_THREADS=2 '" TOKKOS_PROGRAM
                                      "' --kokkos-tools-libs='" TOKKOS_CONNECTOR "'");
  CHECK(by_argument == output_with("OMP_NUM_THREADS=2"));
}

TEST_CASE("every region that was begun has ended") {
  const Lines output = output_with("OMP_NUM_THREADS=2");
  CHECK(std::count(output.begin(), output.end(), "connector: 0 regions are open at the end") == 1);
}
