// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/lm_head_target.hpp"

#include <tokkos/core/error.hpp>

#include <optional>

namespace tokkos::tools {

void require_lm_head() {
  throw Error("--lm-head", std::nullopt, "given",
              "left out: this program was built without Kokkos Kernels (TOKKOS_BUILD_LM_HEAD)");
}

std::int64_t lm_head_batches(std::size_t) {
  require_lm_head();
  return 0;
}

std::shared_ptr<TargetModel<Kokkos::DefaultExecutionSpace>> make_lm_head_target(
    std::span<const TokenId>, TokenId, std::uint64_t, std::int64_t, const std::function<void()>&) {
  require_lm_head();
  return nullptr;
}

}  // namespace tokkos::tools
