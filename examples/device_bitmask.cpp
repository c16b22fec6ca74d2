// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Masks that a grammar library keeps for its whole batch, on the device: of three requests one may
// write digits, one vowels, and one anything.

#include <tokkos/tokkos.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr std::string_view vocabulary = "abcdefghijklmnopqrstuvwxyz.0123456789";
constexpr std::size_t requests = 3, words_of_a_row = (vocabulary.size() + 31) / 32;
using Words = Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Space>;
using RowIndex = Kokkos::View<std::int32_t*, Space>;

/// What a grammar library would have filled in: two rows of words.
void fill(const Words& words) {
  const auto host = Kokkos::create_mirror_view(words);
  Kokkos::deep_copy(host, 0);
  for (std::size_t v = 0; v < vocabulary.size(); ++v) {
    const std::int32_t bit = std::int32_t{1} << (v & 31);
    if (vocabulary[v] >= '0' && vocabulary[v] <= '9') host(0, v >> 5) |= bit;
    if (std::string_view("aeiou").find(vocabulary[v]) != std::string_view::npos) {
      host(1, v >> 5) |= bit;
    }
  }
  Kokkos::deep_copy(words, host);
}

void assign(const RowIndex& row_index, const std::vector<std::int32_t>& rows) {
  const auto host = Kokkos::create_mirror_view(row_index);
  for (std::size_t i = 0; i < rows.size(); ++i) host(i) = rows[i];
  Kokkos::deep_copy(row_index, host);
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> logits("logits", requests,
                                                                 vocabulary.size());
  const Kokkos::View<tokkos::TokenId*, Space> tokens("tokens", requests);
  const Words words("words", 2, words_of_a_row);
  const RowIndex row_index("row_index", requests);
  fill(words);
  assign(row_index, {0, 1, -1});

  const std::vector<tokkos::GenerationConfig> configs(requests);
  const std::vector<tokkos::TokenHistory> histories(requests);
  std::vector<tokkos::SequenceState> states;
  for (const auto& history : histories) states.push_back({.history = &history});
  const std::vector<std::string> ids{"a number", "a vowel", "anything"};
  const tokkos::StepRequests step{configs, states, ids};
  tokkos::LogitProcessor<Space> processor(Space(), requests, vocabulary.size());

  // begin step
  // words: [m, ceil(A / 32)] int32 on the device. row_index: [rows] int32, the row of words that
  // each row of the logits has, -1 for a row without a mask.
  processor.process(logits, step,
                    {.tokens = tokens, .bitmask = {.words = words, .row_index = row_index}});
  // end step

  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
  for (std::size_t i = 0; i < requests; ++i) {
    if (drawn(i) < 0) return 1;
    std::printf("%s: %c\n", ids[i].c_str(), vocabulary[static_cast<std::size_t>(drawn(i))]);
  }
}
