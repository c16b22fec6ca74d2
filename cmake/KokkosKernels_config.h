// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#ifndef KOKKOSKERNELS_CONFIG_H
#define KOKKOSKERNELS_CONFIG_H

// Configuration of the embedded headers of Kokkos Kernels (see TokkosKokkosKernels.cmake): nothing is
// instantiated beforehand, and no other library is called.

#define KOKKOSKERNELS_VERSION 50002
#define KOKKOSKERNELS_VERSION_MAJOR 5
#define KOKKOSKERNELS_VERSION_MINOR 0
#define KOKKOSKERNELS_VERSION_PATCH 2

#define KOKKOSKERNELS_IMPL_COMPILE_LIBRARY false
#define KOKKOSKERNELS_INST_MEMSPACE_HOSTSPACE
#define KOKKOSKERNELS_INST_ORDINAL_INT
#define KOKKOSKERNELS_INST_OFFSET_SIZE_T
#define KOKKOSKERNELS_ENABLE_COMPONENT_BLAS

#endif
