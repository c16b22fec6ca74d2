// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/request/draft_tree.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tokkos::test {

/// One thing that is wrong in an input, as the error about it must call it.
struct Fault {
  std::string field;
  std::optional<std::int64_t> index = std::nullopt;
  std::string value = "";  ///< "": any text but none
};

/// Everything that is wrong in an input.
using Faults = std::vector<Fault>;

/// Whether the error is about one of the faults.
bool names_one_of(const Faults& faults, const Error& error);

/// Adds what is wrong in a draft tree that the field holds: tokens, sizes, and parents that do not
/// all lead to -1.
void add_faults(const DraftTree& tree, int vocabulary, const std::string& field, Faults& faults);

/// Adds the elements that are no number in [0, 1), but for those that are not read.
void add_uniform_faults(const std::vector<float>& uniforms, std::size_t expected,
                        const std::string& field, Faults& faults,
                        const std::vector<bool>& unread = {});

}  // namespace tokkos::test
