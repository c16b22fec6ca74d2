// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/io/safetensors_reader.hpp"
#include "tools/io/safetensors_writer.hpp"

#include <cstdint>
#include <iosfwd>
#include <span>

namespace tokkos::tools {

/// Compares tensors with those of the same names in another system's file and prints, per tensor,
/// how many elements differ, the first one that does and the one that differs most.
///
/// Any float type is compared with F32 and any integer type with I32, by value; NaN equals NaN, and
/// forbidden logits (-FLT_MAX and -infinity) equal each other. Logits at or past the active
/// vocabulary are left out.
/// @throws Error if a tensor is there in another shape or kind (float, integer)
void compare_with_file(SafetensorsReader& other, std::span<const OutputTensor> tensors,
                       std::int64_t active_vocabulary, std::ostream& out);

}  // namespace tokkos::tools
