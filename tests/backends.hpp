// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/stored_logit.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <tuple>

namespace tokkos::test {

/// The enabled execution spaces, for TEMPLATE_LIST_TEST_CASE.
using ExecutionSpaces = std::tuple<
#if defined(KOKKOS_ENABLE_CUDA)
    Kokkos::Cuda,
#endif
#if defined(KOKKOS_ENABLE_HIP)
    Kokkos::HIP,
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
    Kokkos::OpenMP,
#endif
    Kokkos::Serial>;

template <class ExecutionSpace, LogitType LogitT>
struct Backend {
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using logit = LogitT;
};

namespace detail {
template <class... Spaces>
auto with_logit_types(std::tuple<Spaces...>) -> decltype(std::tuple_cat(
    std::tuple<Backend<Spaces, float>, Backend<Spaces, bfloat16>, Backend<Spaces, float16>>{}...));
}  // namespace detail

/// Every enabled execution space with every logit type.
using Backends = decltype(detail::with_logit_types(ExecutionSpaces{}));

}  // namespace tokkos::test
