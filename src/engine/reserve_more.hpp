// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/staging.hpp>

#include <cstddef>
#include <vector>

namespace tokkos {

/// Makes room for `count` elements more, as Staging does: a vector that doubles idles up to a half
/// of its memory.
template <class T>
void reserve_more(std::vector<T>& array, std::size_t count) {
  const std::size_t size = array.size() + count;
  if (size > array.capacity()) array.reserve(staging_room(size * sizeof(T)) / sizeof(T));
}

}  // namespace tokkos
