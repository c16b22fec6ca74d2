// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/event_trace_recorder.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace tokkos {

TracedStage::TracedStage(EventTraceRecorder* recorder, const char* event,
                         std::span<const std::string> request_ids)
    : m_recorder(recorder),
      m_event(event),
      m_request_ids(request_ids),
      m_has_region(Kokkos::Tools::profileLibraryLoaded()) {
  // The name first: what may throw must not leave a stage that never ends.
  const std::string region = m_has_region ? std::string("tokkos::") + m_event : std::string();
  if (m_recorder != nullptr) m_recorder->begin(m_event, m_request_ids);
  if (m_has_region) Kokkos::Profiling::pushRegion(region);
}

TracedStage::~TracedStage() {
  if (m_has_region) Kokkos::Profiling::popRegion();
  if (m_recorder != nullptr) m_recorder->end(m_event, m_request_ids);
}

}  // namespace tokkos
