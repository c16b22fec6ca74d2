// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/io/safetensors_reader.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tokkos::tools {

/// @throws Error if the file has a tensor of any other name
void allow_only(const SafetensorsReader& reader, std::initializer_list<std::string_view> names);

/// @throws Error unless the element of that tensor lies in [0, 1)
void check_uniform(const std::string& file, std::string_view tensor, std::size_t index,
                   float uniform);

}  // namespace tokkos::tools
