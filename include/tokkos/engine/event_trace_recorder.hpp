// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tokkos {

/// Receives the begin and end of each stage of a step, for each of its requests. The names are the
/// seed's: "update logits", "apply logit bias", "apply penalty", "apply logit mask", "softmax",
/// "sampling", "draft verification". Begin and end always balance, also when a stage throws.
class EventTraceRecorder {
 public:
  virtual ~EventTraceRecorder() = default;

  virtual void begin(std::string_view event, std::span<const std::string> request_ids) = 0;
  virtual void end(std::string_view event, std::span<const std::string> request_ids) = 0;
};

/// One stage of a step: begins when made, ends when destroyed. A null recorder records nothing.
/// Also a Kokkos profiling region "tokkos::<event>".
class TracedStage {
 public:
  TracedStage(EventTraceRecorder* recorder, const char* event,
              std::span<const std::string> request_ids);
  ~TracedStage();
  TracedStage(const TracedStage&) = delete;
  TracedStage& operator=(const TracedStage&) = delete;

 private:
  EventTraceRecorder* m_recorder;
  const char* m_event;
  std::span<const std::string> m_request_ids;
};

}  // namespace tokkos
