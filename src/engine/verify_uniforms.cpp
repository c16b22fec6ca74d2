// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/numerics/philox.hpp>

#include "engine/check_engine.hpp"
#include "engine/uniforms.hpp"
#include "request/check_node_rows.hpp"

namespace tokkos {

VerifyUniforms verify_uniforms(const StepRequests& requests) {
  const auto& cum = requests.cum_num_token;
  const auto rows =
      cum && !cum->empty() ? std::int64_t{cum->back()} : static_cast<std::int64_t>(requests.size());
  validate(requests, rows, max_vocabulary);
  check_node_rows(requests);
  VerifyUniforms uniforms;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto generated = static_cast<std::uint32_t>(generated_tokens(requests, i));
    const std::uint32_t stream = stream_of(requests, i);
    const std::uint64_t seed = requests.generation_configs[i].seed;
    uniforms.nodes.push_back(0.0f);  // the root's
    const DraftTree none;
    const DraftTree& tree = requests.draft_trees ? (*requests.draft_trees)[i] : none;
    const std::vector<std::int32_t> depths = tree.depths();
    for (std::size_t j = 0; j < tree.size(); ++j) {
      const std::uint32_t position = generated + static_cast<std::uint32_t>(depths[j]);
      uniforms.nodes.push_back(
          philox_uniform(seed, position, static_cast<std::uint32_t>(j), Purpose::verify, stream));
    }
    uniforms.bonus.push_back(philox_uniform(seed, generated, 0, Purpose::bonus, stream));
  }
  return uniforms;
}

}  // namespace tokkos
