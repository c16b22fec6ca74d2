// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/event_trace_recorder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace tokkos {

/// Keeps the stages of a run and writes them as Chrome trace JSON, which chrome://tracing and
/// https://ui.perfetto.dev open: one process, and a track for each request.
///
/// Times are the host's steady clock, in microseconds since the recorder was made. A stage is the
/// host's part of it: on a device, where launches are asynchronous, it ends when its kernels were
/// launched, not when they are done.
///
/// Processors on several threads may share one recorder. The stages of a thread nest; where two
/// threads have stages of the same request open at once, the request gets a second track of the
/// same name. Stages without request ids have a track of their own.
class ChromeTraceRecorder final : public EventTraceRecorder {
 public:
  /// 64 MiB.
  static constexpr std::size_t default_max_bytes = std::size_t{64} << 20;

  /// @param max_bytes of stages and names to keep; by default room for two million stages, counting
  /// one for each request. Memory grows with what is kept. A stage that finds no room is left out,
  /// begin and end, and counted; what was kept stays.
  explicit ChromeTraceRecorder(std::size_t max_bytes = default_max_bytes);

  /// Records the begin of a stage.
  void begin(std::string_view event, std::span<const std::string> request_ids) override;
  /// Records its end.
  void end(std::string_view event, std::span<const std::string> request_ids) override;

  /// Writes all that was kept, stages that are still open as if they ended now: begin and end
  /// events in the order in which they came. Recording waits meanwhile. Bytes of a request id that
  /// are not UTF-8 become U+FFFD. The caller checks the stream.
  void write(std::ostream& out) const;

  /// The same as a string.
  std::string json() const;

  /// Forgets what was kept, as after `write` in a run of many hours; of a stage that is open now
  /// nothing is kept, nor of those that begin inside it.
  void clear();

  /// Bytes kept of the at most `max_bytes`.
  std::size_t bytes() const;
  /// Stages left out for want of room since the recorder was made; one for each of its requests.
  std::int64_t dropped_stages() const;

 private:
  struct Record {
    std::int64_t nanoseconds;
    std::int32_t track;
    std::int32_t name;  // index into m_names, or end_of_stage
  };
  /// The open stages of a track are those kept and, inside them, those left out.
  struct Track {
    std::int32_t number;
    std::thread::id thread;  // of the open stages
    std::int64_t kept = 0;
    std::int64_t left_out = 0;
    bool is_idle() const { return kept + left_out == 0; }
  };
  using Tracks = std::vector<Track>;
  static constexpr std::int32_t end_of_stage = -1;

  std::int64_t now() const;
  std::size_t bytes_in_use() const;
  bool has_room(std::size_t more) const;
  std::int32_t name_index(std::string_view event);
  Track* track_for_begin(const std::string* id);
  void begin_stage(std::int32_t name, const std::string* id, std::int64_t time);
  void end_stage(Tracks& tracks, std::int64_t time);
  void append_tracks(std::string& out) const;

  const std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  const std::size_t m_max_bytes;
  mutable std::mutex m_mutex;  // of all below
  std::vector<Record> m_records;
  std::size_t m_open = 0;  // stages kept whose end is still to come
  std::size_t m_name_bytes = 0;
  std::vector<std::string> m_names;
  std::unordered_map<std::string, Tracks> m_tracks;
  Tracks m_nameless;  // of stages without request ids
  std::int32_t m_next_track = 1;
  std::int64_t m_dropped = 0;
};

}  // namespace tokkos
