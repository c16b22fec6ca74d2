// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tokkos {

/// Receives the begin and end of each stage of a step, for each of its requests. The names are the
/// seed's: "update logits", "apply logit bias", "apply penalty", "apply logit mask", "softmax",
/// "renormalization by top p", "sampling", "draft verification". Begin and end always balance, also
/// when a stage throws, and the stages of one thread nest.
///
/// A step has each name where its work is done, and so some twice:
/// - "update logits" on the host (in `prepare`) flattens "apply penalty", "apply logit bias" and
///   "apply logit mask" (where matchers fill their bitmasks), in this order, and uploads.
/// - "update logits" on the device has a launch for each of the three in inplace_update_logits. In
///   LogitProcessor::process one launch does biases and penalties: it is both stages, one around
///   the other, as far as the step has such edits; "apply logit mask" is there if the mask is
///   stored, else the mask is applied while reading, in "softmax". Keeping logits for raw
///   log-probabilities is an "update logits" of its own before.
/// - Reading the logits for maxima and sums is "softmax", raw logits and Sampler included, as is
///   writing probabilities. Log-probabilities and lists of tokens, raw or not, are "sampling".
///
/// On a device a stage is the host's part of it: its launches.
///
/// A recorder that several objects share on several threads must be safe to call from all of them.
/// `end` is called by a destructor and must not throw.
class EventTraceRecorder {
 public:
  virtual ~EventTraceRecorder() = default;

  /// A stage of these requests begins.
  virtual void begin(std::string_view event, std::span<const std::string> request_ids) = 0;
  /// It ends.
  virtual void end(std::string_view event, std::span<const std::string> request_ids) = 0;
};

/// One stage of a step: begins when made, ends when destroyed. A null recorder costs nothing.
/// Also a Kokkos profiling region "tokkos::<event>", where a Kokkos tool is loaded.
class TracedStage {
 public:
  /// Begins the stage.
  /// @param event without the prefix tokkos::; not copied
  /// @param request_ids not copied; may be empty
  TracedStage(EventTraceRecorder* recorder, const char* event,
              std::span<const std::string> request_ids);
  ~TracedStage();
  TracedStage(const TracedStage&) = delete;
  TracedStage& operator=(const TracedStage&) = delete;

 private:
  EventTraceRecorder* m_recorder;
  const char* m_event;
  std::span<const std::string> m_request_ids;
  bool m_has_region;
};

}  // namespace tokkos
