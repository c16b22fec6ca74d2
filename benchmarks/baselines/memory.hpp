// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inputs.hpp"

#include <cstdint>

// What memory itself takes: the floor that the kernels are compared with.

namespace tokkos::bench {

/// Reads n * V elements and writes as many.
void copy_rows(const Space& space, const Rows<float>& from, const Rows<float>& to);

/// Reads every element once: their maximum, into `result`.
void read_rows(const Space& space, const Rows<float>& rows, const Number& result);

/// Reads rows 0, 2, ... of `even` and 1, 3, ... of `odd` twice. On a host, where a thread
/// takes pair after pair, the second time is from its second-level cache if that holds a pair.
void read_pairs_twice(const Space& space, const Rows<float>& even, const Rows<float>& odd,
                      const Number& result);

/// Copies on one device without timing: what a benchmark in place starts from.
template <class T>
void restore(const Rows<T>& from, const Rows<T>& to) {
  Kokkos::deep_copy(Space(), to, from);
}

}  // namespace tokkos::bench
