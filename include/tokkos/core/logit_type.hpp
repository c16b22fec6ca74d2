// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

namespace tokkos {

struct bfloat16;
struct float16;

/// The types in which logits may be stored.
template <class T>
concept LogitType = std::same_as<T, float> || std::same_as<T, bfloat16> || std::same_as<T, float16>;

}  // namespace tokkos
