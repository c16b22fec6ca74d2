// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Drafts that a drafter drew, verified against the distributions that they were drawn from: two
// siblings drawn independently after the last committed token, and one draft after the first of
// them. A thousand requests show that the law is the model's, whatever the drafter's is.

#include <tokkos/tokkos.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
constexpr int vocabulary = 4, requests = 1000;

/// The same distribution in each of `count` rows.
Rows rows_of(std::size_t count, const std::array<float, vocabulary>& probabilities) {
  const Rows rows("rows", count, vocabulary);
  const auto host = Kokkos::create_mirror_view(rows);
  for (std::size_t row = 0; row < count; ++row) {
    for (int v = 0; v < vocabulary; ++v) host(row, v) = probabilities[static_cast<std::size_t>(v)];
  }
  Kokkos::deep_copy(rows, host);
  return rows;
}

// begin draw
/// Draws one draft node of a request from its drafter's row [1, V], the distribution after the
/// node's parent. A draft node's number tells its uniform from its siblings'.
/// @param depth 1 behind the last committed token
void draw_node(tokkos::Sampler<Space>& drafter, const Rows& row, std::int32_t parent,
               std::uint32_t depth, const std::string& id, const tokkos::GenerationConfig& config,
               const tokkos::TokenHistory& history, tokkos::DraftTree& tree) {
  const auto node = static_cast<std::uint32_t>(tree.size());
  const auto position = static_cast<std::uint32_t>(history.generated().size()) + depth;
  const std::array uniform = {
      tokkos::philox_uniform(config.seed, position, node, tokkos::Purpose::draft,
                             config.stream.value_or(tokkos::request_stream(id)))};
  const Kokkos::View<tokkos::TokenId*, Space> token("draft", 1);
  drafter.sample_from_probabilities(row, uniform, token);
  tree.token_ids.push_back(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), token)(0));
  tree.parents.push_back(parent);
}
// end draw

}  // namespace

int main() {
  const Kokkos::ScopeGuard kokkos;
  constexpr std::array target = {0.1f, 0.2f, 0.3f, 0.4f};
  const Rows model = rows_of(4, target);                      // after the root and three nodes
  const Rows drafter = rows_of(2, {0.4f, 0.3f, 0.2f, 0.1f});  // after the root and after node 0
  tokkos::Sampler sampler(Space(), 1, vocabulary);
  tokkos::DraftVerifier verifier(Space(), 4, vocabulary);
  const std::vector<tokkos::GenerationConfig> configs(1);
  const std::array<std::int32_t, 2> cum_num_token = {0, 4};
  const std::vector<std::vector<std::int32_t>> node_of_row = {{-1, 0, 1, 2}};

  std::array<int, vocabulary> first_tokens{};
  for (int i = 0; i < requests; ++i) {
    const std::vector<std::string> ids = {"request-" + std::to_string(i)};
    const tokkos::TokenHistory history({0});
    const std::vector<tokkos::SequenceState> states = {{.history = &history}};
    std::vector<tokkos::DraftTree> trees(1);
    const auto row_after = [&](std::size_t number) {
      return Rows(Kokkos::subview(drafter, std::pair(number, number + 1), Kokkos::ALL));
    };
    // begin verify
    draw_node(sampler, row_after(0), -1, 1, ids[0], configs[0], history, trees[0]);
    draw_node(sampler, row_after(0), -1, 1, ids[0], configs[0], history, trees[0]);
    draw_node(sampler, row_after(1), 0, 2, ids[0], configs[0], history, trees[0]);
    tokkos::StepRequests step{configs, states, ids};
    step.cum_num_token = cum_num_token;
    step.draft_trees = trees;
    step.draft_token_indices = node_of_row;
    // The drafter's row of each node of the batch; the roots are nodes too, and theirs is not read.
    const std::array<std::int32_t, 4> row_of_node = {-1, 0, 0, 1};
    const auto verified = verifier.verify(
        model, tokkos::DraftProbabilities<Space::memory_space>{drafter, row_of_node}, trees,
        tokkos::verify_uniforms(step), ids);
    // end verify
    ++first_tokens[static_cast<std::size_t>(verified[0].tokens[0])];
  }
  std::printf("of %d first tokens:", requests);
  double chi_square = 0.0;
  for (std::size_t v = 0; v < vocabulary; ++v) {
    const double expected = static_cast<double>(requests * target[v]);
    chi_square += (first_tokens[v] - expected) * (first_tokens[v] - expected) / expected;
    std::printf(" %d", first_tokens[v]);
  }
  const tokkos::AcceptanceStatistics& seen = verifier.statistics();
  std::printf("\naccepted %d of %d drafts that were tried\n",
              static_cast<int>(seen.accepted[0] + seen.accepted[1]),
              static_cast<int>(seen.tried[0] + seen.tried[1]));
  return chi_square < 16.3 ? 0 : 1;  // 3 degrees of freedom: one law in a thousand is above
}
