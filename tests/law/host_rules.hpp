// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/verify_reference.hpp"

namespace tokkos::test {

/// Verification written down in double, with an error that programs are seen to make: a child is
/// accepted if p > 0 and u < p / (q + epsilon). Right if epsilon is 0.
LosslessOutcome verify_with_epsilon(const VerifyCase& verify_case, double epsilon);

/// The seed's rule by its kernel, on Serial: accepts if p >= u * q, where p may be 0. The bonus
/// tokens are drawn from the rows that it leaves; `accepted` stays 0.
LosslessOutcome verify_by_seed_kernel(const VerifyCase& verify_case);

}  // namespace tokkos::test
