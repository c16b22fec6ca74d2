// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/chrome_trace_recorder.hpp>

#include "engine/json_string.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <sstream>
#include <utility>

namespace tokkos {

namespace {

/// What a request costs besides its id: a track, and the node that holds it.
constexpr std::size_t track_bytes = 128;

/// Text that is written to the stream at once, about.
constexpr std::size_t buffer_bytes = 1 << 16;

/// Microseconds with all digits of the nanoseconds; streams would group digits in some locales.
void append_time(std::string& out, std::int64_t nanoseconds) {
  const std::string fraction = std::to_string(1000 + nanoseconds % 1000);
  out.append(std::to_string(nanoseconds / 1000)).append(".").append(fraction, 1);
}

void append_event(std::string& out, char phase, std::int64_t nanoseconds, std::int32_t track,
                  std::string_view name) {
  out += ",\n{\"name\":";
  append_json_string(out, name);
  out.append(R"(,"cat":"tokkos","ph":")").append(1, phase).append(R"(","ts":)");
  append_time(out, nanoseconds);
  out.append(R"(,"pid":1,"tid":)").append(std::to_string(track)).append("}");
}

void append_thread_name(std::string& out, std::int32_t track, std::string_view name) {
  out += ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"ts\":0,\"pid\":1,\"tid\":";
  out.append(std::to_string(track)).append(R"(,"args":{"name":)");
  append_json_string(out, name);
  out += "}}";
}

}  // namespace

ChromeTraceRecorder::ChromeTraceRecorder(std::size_t max_bytes) : m_max_bytes(max_bytes) {}

std::int64_t ChromeTraceRecorder::now() const {
  using std::chrono::nanoseconds;
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now() - m_start)
      .count();
}

std::size_t ChromeTraceRecorder::bytes_in_use() const {
  return (m_records.size() + m_open) * sizeof(Record) + m_name_bytes;
}

bool ChromeTraceRecorder::has_room(std::size_t more) const {
  return more <= m_max_bytes - std::min(bytes_in_use(), m_max_bytes);
}

std::int32_t ChromeTraceRecorder::name_index(std::string_view event) {
  const auto found = std::ranges::find(m_names, event);
  if (found == m_names.end()) {
    const std::size_t more = event.size() + sizeof(std::string);
    if (!has_room(more)) return end_of_stage;
    m_names.emplace_back(event);
    m_name_bytes += more;
    return static_cast<std::int32_t>(m_names.size() - 1);
  }
  return static_cast<std::int32_t>(found - m_names.begin());
}

ChromeTraceRecorder::Track* ChromeTraceRecorder::track_for_begin(const std::string* id) {
  const auto thread = std::this_thread::get_id();
  const auto known = id == nullptr ? m_tracks.end() : m_tracks.find(*id);
  Tracks* tracks = id == nullptr ? &m_nameless : known != m_tracks.end() ? &known->second : nullptr;
  if (tracks != nullptr) {
    const auto own = std::ranges::find_if(
        *tracks, [&](const Track& track) { return !track.is_idle() && track.thread == thread; });
    const auto found = own != tracks->end() ? own : std::ranges::find_if(*tracks, &Track::is_idle);
    if (found != tracks->end()) {
      found->thread = thread;
      return &*found;
    }
  }
  const std::size_t more = track_bytes + (tracks == nullptr ? id->size() : 0);
  if (!has_room(more + 2 * sizeof(Record))) return nullptr;
  if (tracks == nullptr) {
    tracks = &m_tracks[*id];
    m_name_bytes += id->size();
  }
  Track& track = tracks->emplace_back(Track{m_next_track, thread});
  m_name_bytes += track_bytes;
  ++m_next_track;
  return &track;
}

void ChromeTraceRecorder::begin_stage(std::int32_t name, const std::string* id, std::int64_t time) {
  Track* track = nullptr;
  try {
    track = track_for_begin(id);
  } catch (const std::bad_alloc&) {  // left out as well: other requests of the stage have begun
  }
  if (track == nullptr || track->left_out > 0 || name == end_of_stage ||
      !has_room(2 * sizeof(Record))) {
    if (track != nullptr) ++track->left_out;
    ++m_dropped;
    return;
  }
  m_records.push_back({time, track->number, name});
  ++track->kept;
  ++m_open;
}

void ChromeTraceRecorder::begin(std::string_view event, std::span<const std::string> request_ids) {
  const std::lock_guard lock(m_mutex);
  const std::int32_t name = name_index(event);
  // Room for these stages and for the ends of all open ones: an end must not fail.
  const std::size_t stages = std::max<std::size_t>(request_ids.size(), 1);
  const std::size_t needed = m_records.size() + m_open + 2 * stages;
  if (needed > m_records.capacity()) {
    const std::size_t most = m_max_bytes / sizeof(Record);
    m_records.reserve(std::min(std::max(needed, 2 * m_records.capacity()), most));
  }
  const std::int64_t time = now();
  if (request_ids.empty()) begin_stage(name, nullptr, time);
  for (const std::string& id : request_ids) begin_stage(name, &id, time);
}

void ChromeTraceRecorder::end_stage(Tracks& tracks, std::int64_t time) {
  const auto thread = std::this_thread::get_id();
  const auto track = std::ranges::find_if(
      tracks, [&](const Track& t) { return !t.is_idle() && t.thread == thread; });
  if (track == tracks.end()) return;  // had no room for a track
  if (track->left_out > 0) {
    --track->left_out;
    return;
  }
  m_records.push_back({time, track->number, end_of_stage});
  --track->kept;
  --m_open;
}

void ChromeTraceRecorder::end(std::string_view, std::span<const std::string> request_ids) {
  const std::lock_guard lock(m_mutex);
  const std::int64_t time = now();
  if (request_ids.empty()) end_stage(m_nameless, time);
  for (const std::string& id : request_ids) {
    const auto tracks = m_tracks.find(id);
    if (tracks != m_tracks.end()) end_stage(tracks->second, time);
  }
}

void ChromeTraceRecorder::append_tracks(std::string& out) const {
  std::map<std::int32_t, std::string_view> names;
  for (const Track& track : m_nameless) names[track.number] = "no request";
  for (const auto& [id, tracks] : m_tracks) {
    for (const Track& track : tracks) names[track.number] = id;
  }
  for (const auto& [number, name] : names) append_thread_name(out, number, name);
}

void ChromeTraceRecorder::write(std::ostream& out) const {
  const std::lock_guard lock(m_mutex);
  std::string text = R"({"traceEvents":[
{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"tokkos"}})";
  append_tracks(text);
  std::map<std::int32_t, std::vector<std::int32_t>> open;  // names of each track's open stages
  for (const Record& record : m_records) {
    std::vector<std::int32_t>& stages = open[record.track];
    const bool ends = record.name == end_of_stage;
    if (!ends) stages.push_back(record.name);
    const std::string& name = m_names[static_cast<std::size_t>(stages.back())];
    append_event(text, ends ? 'E' : 'B', record.nanoseconds, record.track, name);
    if (ends) stages.pop_back();
    if (text.size() >= buffer_bytes) {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
      text.clear();
    }
  }
  const std::int64_t time = now();
  for (auto& [track, stages] : open) {
    for (; !stages.empty(); stages.pop_back()) {
      append_event(text, 'E', time, track, m_names[static_cast<std::size_t>(stages.back())]);
    }
  }
  text += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_stages\":";
  text.append(std::to_string(m_dropped)).append("}}\n");
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string ChromeTraceRecorder::json() const {
  std::ostringstream out;
  write(out);
  return std::move(out).str();
}

void ChromeTraceRecorder::clear() {
  const std::lock_guard lock(m_mutex);
  m_records.clear();
  m_open = 0;
  const auto clear_tracks = [&](Tracks& tracks) {
    for (Track& track : tracks) track.left_out += std::exchange(track.kept, 0);
    m_name_bytes -= track_bytes * std::erase_if(tracks, std::mem_fn(&Track::is_idle));
  };
  clear_tracks(m_nameless);
  for (auto entry = m_tracks.begin(); entry != m_tracks.end();) {
    clear_tracks(entry->second);
    const bool is_idle = entry->second.empty();
    if (is_idle) m_name_bytes -= entry->first.size();
    entry = is_idle ? m_tracks.erase(entry) : std::next(entry);
  }
  if (m_tracks.empty() && m_nameless.empty()) m_next_track = 1;
}

std::size_t ChromeTraceRecorder::bytes() const {
  const std::lock_guard lock(m_mutex);
  return bytes_in_use();
}

std::int64_t ChromeTraceRecorder::dropped_stages() const {
  const std::lock_guard lock(m_mutex);
  return m_dropped;
}

}  // namespace tokkos
