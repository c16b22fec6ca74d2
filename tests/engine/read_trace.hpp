// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tokkos::test {

/// What a reader of Chrome trace JSON sees.
struct Trace {
  struct Stage {
    std::int64_t track;
    std::string path;  // names from the outermost stage down, with slashes between
    double begin;
    double end;
  };
  std::map<std::int64_t, std::string> tracks;  // their names
  std::vector<Stage> stages;                   // in the order in which they began
  std::int64_t dropped_stages = 0;

  std::vector<std::string> stages_of(const std::string& name) const {
    std::vector<std::string> paths;
    for (const Stage& stage : stages) {
      if (tracks.at(stage.track) == name) paths.push_back(stage.path);
    }
    return paths;
  }
};

/// The keys of an event and no others, each of the type that the format says.
inline void check_event_keys(const nlohmann::json& event, bool is_metadata) {
  std::set<std::string> keys = {"name", "ph", "ts", "pid", "tid"};
  keys.insert(is_metadata ? "args" : "cat");
  for (const auto& [key, value] : event.items()) REQUIRE(keys.erase(key) == 1);
  REQUIRE(keys.empty());
  REQUIRE(event["name"].is_string());
  REQUIRE((event["ts"].is_number() && event["ts"].get<double>() >= 0));
  REQUIRE((event["pid"].is_number_unsigned() && event["pid"] == 1));
  REQUIRE(event["tid"].is_number_unsigned());
  if (!is_metadata) REQUIRE(event["cat"].is_string());
}

/// A name of the process or of a track.
inline void read_metadata(const nlohmann::json& event, Trace& trace) {
  const auto& args = event["args"];
  REQUIRE((args.is_object() && args.size() == 1 && args["name"].is_string()));
  if (event["name"] == "process_name") return;
  REQUIRE(event["name"] == "thread_name");
  REQUIRE(trace.tracks.emplace(event["tid"], args["name"]).second);
}

/// Reads a trace and holds it against the Trace Event Format: required keys and types, times that
/// do not go back, tracks that have a name, begin and end events that balance and nest in each.
inline Trace read_trace(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  REQUIRE(json["displayTimeUnit"] == "ms");
  REQUIRE(json["traceEvents"].is_array());
  Trace trace;
  trace.dropped_stages = json["otherData"]["dropped_stages"].get<std::int64_t>();
  std::map<std::int64_t, std::vector<std::size_t>> open;
  double latest = 0;
  for (const nlohmann::json& event : json["traceEvents"]) {
    const std::string phase = event["ph"];
    check_event_keys(event, phase == "M");
    if (phase == "M") {
      REQUIRE(trace.stages.empty());
      read_metadata(event, trace);
      continue;
    }
    const double time = event["ts"];
    REQUIRE(time >= latest);
    latest = time;
    const std::int64_t track = event["tid"];
    REQUIRE(trace.tracks.contains(track));
    std::vector<std::size_t>& stages = open[track];
    const std::string name = event["name"];
    if (phase == "B") {
      const std::string outer = stages.empty() ? "" : trace.stages[stages.back()].path + "/";
      stages.push_back(trace.stages.size());
      trace.stages.push_back({track, outer + name, time, -1});
    } else {
      REQUIRE(phase == "E");
      REQUIRE(!stages.empty());
      REQUIRE(("/" + trace.stages[stages.back()].path).ends_with("/" + name));
      trace.stages[stages.back()].end = time;
      stages.pop_back();
    }
  }
  for (const auto& [track, stages] : open) REQUIRE(stages.empty());
  return trace;
}

}  // namespace tokkos::test
