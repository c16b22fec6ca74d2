// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tokkos {

/// The number of the request that an Error's field is a part of: 2 for
/// "generation_configs[2].top_p" and "requests[2].config.top_p".
std::optional<std::int64_t> request_of(std::string_view field);

}  // namespace tokkos
