// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace tokkos::test {

/// A text of some length that every copy of the sources has.
inline const std::string licence =
    (std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "LICENSE")
        .string();

}  // namespace tokkos::test
