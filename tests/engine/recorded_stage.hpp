// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/event_trace_recorder.hpp>

#include <string>
#include <vector>

namespace tokkos::test {

using Ids = std::vector<std::string>;

/// Begins and ends "name" for the ids, with what `inside` does between.
template <class Inside>
void record(EventTraceRecorder& recorder, const char* name, const Ids& ids, const Inside& inside) {
  const TracedStage stage(&recorder, name, ids);
  inside();
}
inline void record(EventTraceRecorder& recorder, const char* name, const Ids& ids) {
  record(recorder, name, ids, [] {});
}

}  // namespace tokkos::test
