// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuzz/fuzz_bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

/// The header of a safetensors file, and whether it is right.
struct FuzzHeader {
  std::string text;
  std::uint64_t data_bytes = 0;
  std::size_t tensors = 0;
  bool good = true;
};

FuzzHeader make_header(FuzzBytes& bytes);

/// A request file, and whether it is right for logits of so many rows.
struct FuzzRequests {
  std::string text;
  std::int64_t rows = 0;
  std::int64_t vocabulary = 0;
  std::size_t requests = 0;
  bool good = true;
};

FuzzRequests make_requests(FuzzBytes& bytes);

}  // namespace tokkos::test
