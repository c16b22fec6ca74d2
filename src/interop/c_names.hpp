// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tokkos::interop {

/// An error's text in the words of tokkos.h: "generation_configs[2].top_p", which C++ says, is
/// "requests[2].config.top_p" there.
std::string with_c_names(std::string_view text);

}  // namespace tokkos::interop
