// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/replay/replay_step.hpp"

#include <string>

namespace tokkos::tools {

/// Reads and checks the two files of a replay.
/// @param logits_file safetensors: `logits`, and where wanted `bitmask` and `uniforms`
/// @param requests_file JSON
/// @throws Error that names file, tensor or field, value and what was expected
ReplayInput read_replay_input(const std::string& logits_file, const std::string& requests_file);

}  // namespace tokkos::tools
