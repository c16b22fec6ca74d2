// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/replay_step.hpp"

#include "tools/replay/replay_run.hpp"

namespace tokkos::tools {

ReplayResult replay_step(const ReplayInput& input, const ReplayOptions& options,
                         StageSeconds& seconds, const std::function<void()>& after_each) {
  ReplayRun run(input, options);
  for (int i = 0; i < options.repeat; ++i) {
    run.run_once(seconds);
    if (after_each) after_each();
  }
  return run.result();
}

}  // namespace tokkos::tools
