// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace tokkos::bench {

/// What a piece of work took, and how much of it the kernels whose labels begin in a certain way.
struct KernelSeconds {
  double all = 0;
  double named = 0;
};

/// Times `work` once, and in it the kernels whose labels begin with `prefix`, from launch to end.
/// On hosts only, where a launch ends with its kernel.
KernelSeconds seconds_of_kernels(const std::function<void()>& work, std::string_view prefix);

}  // namespace tokkos::bench
