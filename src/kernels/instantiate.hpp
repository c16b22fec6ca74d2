// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/bfloat16.hpp>
#include <tokkos/numerics/float16.hpp>

#include <Kokkos_Core.hpp>

// TOKKOS_FOR_EACH_SPACE(X) expands X(ExecutionSpace) for every execution space that Kokkos was
// built with, TOKKOS_FOR_EACH_SPACE_AND_LOGIT(X) expands X(ExecutionSpace, Logit) for every pair:
// explicit instantiation needs a list, and only the preprocessor knows which backends are enabled.

#ifdef KOKKOS_ENABLE_SERIAL
#define TOKKOS_FOR_SERIAL(X) X(Kokkos::Serial)
#define TOKKOS_FOR_SERIAL_AND(X, Logit) X(Kokkos::Serial, Logit)
#else
#define TOKKOS_FOR_SERIAL(X)
#define TOKKOS_FOR_SERIAL_AND(X, Logit)
#endif

#ifdef KOKKOS_ENABLE_OPENMP
#define TOKKOS_FOR_OPENMP(X) X(Kokkos::OpenMP)
#define TOKKOS_FOR_OPENMP_AND(X, Logit) X(Kokkos::OpenMP, Logit)
#else
#define TOKKOS_FOR_OPENMP(X)
#define TOKKOS_FOR_OPENMP_AND(X, Logit)
#endif

#if defined(KOKKOS_ENABLE_CUDA)
#define TOKKOS_FOR_DEVICE(X) X(Kokkos::Cuda)
#define TOKKOS_FOR_DEVICE_MEMORY(X) X(Kokkos::CudaSpace)
#define TOKKOS_FOR_DEVICE_AND(X, Logit) X(Kokkos::Cuda, Logit)
#elif defined(KOKKOS_ENABLE_HIP)
#define TOKKOS_FOR_DEVICE(X) X(Kokkos::HIP)
#define TOKKOS_FOR_DEVICE_MEMORY(X) X(Kokkos::HIPSpace)
#define TOKKOS_FOR_DEVICE_AND(X, Logit) X(Kokkos::HIP, Logit)
#else
#define TOKKOS_FOR_DEVICE(X)
#define TOKKOS_FOR_DEVICE_MEMORY(X)
#define TOKKOS_FOR_DEVICE_AND(X, Logit)
#endif

#define TOKKOS_FOR_EACH_SPACE(X) TOKKOS_FOR_SERIAL(X) TOKKOS_FOR_OPENMP(X) TOKKOS_FOR_DEVICE(X)

#define TOKKOS_FOR_EACH_MEMORY_SPACE(X) X(Kokkos::HostSpace) TOKKOS_FOR_DEVICE_MEMORY(X)

#define TOKKOS_FOR_EACH_SPACE_WITH(X, Logit) \
  TOKKOS_FOR_SERIAL_AND(X, Logit) TOKKOS_FOR_OPENMP_AND(X, Logit) TOKKOS_FOR_DEVICE_AND(X, Logit)

#define TOKKOS_FOR_EACH_SPACE_AND_LOGIT(X) \
  TOKKOS_FOR_EACH_SPACE_WITH(X, float)     \
  TOKKOS_FOR_EACH_SPACE_WITH(X, bfloat16)  \
  TOKKOS_FOR_EACH_SPACE_WITH(X, float16)
