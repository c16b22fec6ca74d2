// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/tensor_checks.hpp"

#include <tokkos/core/error.hpp>

#include "tools/io/checked_json.hpp"

#include <algorithm>

namespace tokkos::tools {

void allow_only(const SafetensorsReader& reader, std::initializer_list<std::string_view> names) {
  for (const TensorInfo& tensor : reader.tensors()) {
    if (std::ranges::find(names, tensor.name) != names.end()) continue;
    std::string known;
    for (const std::string_view name : names) {
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw Error(reader.file() + ": tensor " + shortened(tensor.name), std::nullopt, "unknown",
                "only " + known);
  }
}

void check_uniform(const std::string& file, std::string_view tensor, std::size_t index,
                   float uniform) {
  if (uniform >= 0.0f && uniform < 1.0f) return;
  throw Error(file + ": tensor " + std::string(tensor), static_cast<std::int64_t>(index),
              to_text(uniform), "a number in [0, 1)");
}

}  // namespace tokkos::tools
