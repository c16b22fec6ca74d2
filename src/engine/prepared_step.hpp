// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/owned_view.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/engine/ordering.hpp>
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/engine/step_outputs.hpp>

#include "engine/staged_edits.hpp"
#include "engine/staged_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokkos {

/// The first half of a step: its requests as one blob on their way to the device. Two blobs take
/// turns, so that a step can be prepared while kernels read the one before it. They are filled
/// through one mirror, which is free as soon as it is uploaded.
template <class ExecutionSpace>
class PreparedStep {
 public:
  using Blob = Staging<ExecutionSpace>;
  using Space = MemoryOf<ExecutionSpace>;

  /// @param owner name of the class whose calls these are, for errors
  explicit PreparedStep(const ExecutionSpace& space, const char* owner = "LogitProcessor")
      : m_owner(owner), m_upload_space(std::optional<ExecutionSpace>(upload_instance(space))) {
    m_blobs[1].share_mirror(m_blobs[0]);
  }

  /// One call of the processor, while it lives. Hooks and matchers that it calls must not call the
  /// same processor: that would replace what the call is in the middle of.
  class Call {
   public:
    explicit Call(PreparedStep& step) : m_step(step) {
      step.check_idle();
      step.m_is_in_call = true;
    }
    ~Call() { m_step.m_is_in_call = false; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    PreparedStep& m_step;
  };

  /// @throws Error if a call is running
  void check_idle() const {
    if (!m_is_in_call) return;
    throw Error(m_owner, std::nullopt, "called by a hook or mask of its own call",
                "a call after that one");
  }

  /// Flattens a step that was validated. One that is prepared has been staged, and stays prepared
  /// also if this throws.
  void flatten(const StepRequests& requests, std::int64_t vocabulary,
               std::int64_t active_vocabulary, EventTraceRecorder* trace_recorder) {
    m_flat.assign(requests, active_vocabulary, vocabulary, trace_recorder);
  }

  /// Stages the step that was flattened and starts its upload. A step that was prepared and not
  /// processed is dropped; whether a graph was replayed instead nobody knows here, so that its blob
  /// is taken for one that kernels read. Nothing but memory is refused.
  void stage(const ExecutionSpace& space, const StepRequests& requests, std::int64_t rows,
             std::span<const float> uniforms, const StepOptions& options) {
    m_rows.reset();
    const std::size_t room = StagedEdits<ExecutionSpace>::room(m_flat) +
                             StagedRows<ExecutionSpace>::room(rows) +
                             Blob::template room<std::int32_t>(static_cast<std::size_t>(rows)) +
                             Blob::template room<float>(1);
    m_turn = 1 - m_turn;  // strictly: a graph reads the blob of the step that it was captured of
    begin(m_turn, space, room);
    m_edits.emplace(blob(), m_flat);
    m_rows_of.emplace(blob(), requests, rows, uniforms);
    const std::size_t masked = m_flat.mask_rows.empty() ? 0 : static_cast<std::size_t>(rows);
    m_mask_positions = blob().template add<std::int32_t>(masked);
    fill_mask_positions(m_flat, blob().host(m_mask_positions));
    m_one = blob().template add<float>(1);
    blob().host(m_one)[0] = 1.0f;
    start_upload(blob());
    m_ties = options.ties;
    m_stores_mask = options.store_mask;
    m_rows = rows;
  }

  /// Number of rows; none if nothing is prepared.
  std::optional<std::int64_t> size() const { return m_rows; }
  void finish() { m_rows.reset(); }

  /// Gives the launches of the prepared step to `space`, behind its upload; until they have run,
  /// the blob is theirs. The step is not prepared any more, also if they throw: logits may be
  /// edited.
  template <class Launches>
  void launch(const ExecutionSpace& space, const Launches& launches) {
    finish();
    blob().precede(space);
    launches();
    blob().end(space);
  }

  /// Begins a blob for a call that does not prepare: the one that was not used last, or, since a
  /// prepared step stays as it is, the one beside it.
  Blob& begin_call(const ExecutionSpace& space, std::size_t room) {
    begin(1 - (m_rows ? m_turn : m_last), space, room);
    return m_blobs[m_last];
  }

  /// Uploads what was begun so and gives the call's launches to `space`, behind it. The upload is
  /// not on `space` itself: the next call waits for it, and would for all that `space` was given.
  template <class Launches>
  void launch_call(const ExecutionSpace& space, Blob& blob, const Launches& launches) {
    start_upload(blob);
    blob.precede(space);
    launches();
    blob.end(space);
  }

  /// Bytes held, host and device together.
  std::size_t capacity() const { return m_blobs[0].capacity() + m_blobs[1].capacity(); }

  Blob& blob() { return m_blobs[m_turn]; }
  const Blob& blob() const { return m_blobs[m_turn]; }
  StepEdits& flat() { return m_flat; }

  void set_max_edits(std::int64_t most) {
    require(most >= 0, "max_edits", std::nullopt, most, "0 or more");
    m_flat.max_edits = static_cast<std::size_t>(most);
  }
  const StagedEdits<ExecutionSpace>& edits() const { return *m_edits; }
  const StagedRows<ExecutionSpace>& rows() const { return *m_rows_of; }
  /// Position of each row's words among the masks, -1 for a row without one; empty: no masks.
  Vector<const std::int32_t, Space> mask_positions() const {
    return blob().on_device(m_mask_positions);
  }
  /// The temperature of the model's own distribution.
  Vector<const float, Space> raw_temperature() const { return blob().on_device(m_one); }
  GreedyTies ties() const { return m_ties; }
  bool stores_mask() const { return m_stores_mask; }

  /// Names of the requests, kept for the trace of the second half.
  std::vector<std::string> request_ids;

 private:
  void begin(std::size_t number, const ExecutionSpace& space, std::size_t room) {
    Blob& other = m_blobs[1 - number];
    if (!m_rows) other.make_room(space, room);  // or the next of this shape would have to
    m_blobs[number].begin(space, room);
    m_last = number;
  }
  void start_upload(Blob& blob) { blob.upload(*m_upload_space.get()); }

  static void fill_mask_positions(const StepEdits& edits, std::span<std::int32_t> positions) {
    std::ranges::fill(positions, -1);
    for (std::size_t i = 0; i < edits.mask_rows.size(); ++i) {
      positions[static_cast<std::size_t>(edits.mask_rows[i])] = edits.mask_positions[i];
    }
  }

  const char* m_owner;
  OwnedView<std::optional<ExecutionSpace>> m_upload_space;
  StepEdits m_flat;
  std::array<Blob, 2> m_blobs;
  std::size_t m_turn = 0;  // of the step that was prepared last
  std::size_t m_last = 0;  // of the last call
  std::optional<StagedEdits<ExecutionSpace>> m_edits;
  std::optional<StagedRows<ExecutionSpace>> m_rows_of;
  typename Blob::template Slot<std::int32_t> m_mask_positions;
  typename Blob::template Slot<float> m_one;
  GreedyTies m_ties = GreedyTies::uniform;
  bool m_stores_mask = false;
  bool m_is_in_call = false;
  std::optional<std::int64_t> m_rows;
};

}  // namespace tokkos
