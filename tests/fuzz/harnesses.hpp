// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tokkos::test {

// Each makes an input of the bytes, runs it, and ends the process where a promise does not hold.
// Kokkos has to be initialized.

/// A batch of requests through LogitProcessor.
void fuzz_step(std::span<const std::uint8_t> bytes);
/// Arrays of draft trees, which the host validates or only the device sees.
void fuzz_trees(std::span<const std::uint8_t> bytes);
/// Draft trees of requests through DraftVerifier.
void fuzz_verifier(std::span<const std::uint8_t> bytes);
/// Safetensors files and request files.
void fuzz_files(std::span<const std::uint8_t> bytes);
/// Calls of the C API, where it is built.
void fuzz_c_api(std::span<const std::uint8_t> bytes);

}  // namespace tokkos::test
