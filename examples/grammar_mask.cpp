// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A grammar of one's own: a VocabularyMask that allows three digits and then a full stop, over a
// vocabulary of single characters. Whatever the model prefers, only that comes out.

#include <tokkos/tokkos.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr std::string_view vocabulary = "abcdefghijklmnopqrstuvwxyz.0123456789";

class ThreeDigits : public tokkos::VocabularyMask {
 public:
  void fill_next_bitmask(std::span<std::int32_t> words) override {
    for (std::size_t v = 0; v < vocabulary.size(); ++v) {
      if (is_next(vocabulary[v])) words[v >> 5] |= std::int32_t{1} << (v & 31);
    }
  }
  bool accept(tokkos::TokenId token) override {
    if (!is_next(vocabulary[static_cast<std::size_t>(token)])) return false;
    ++m_accepted;
    return true;
  }
  void rollback(std::int32_t count) override { m_accepted -= count; }

 private:
  bool is_next(char letter) const {
    return m_accepted < 3 ? letter >= '0' && letter <= '9' : m_accepted == 3 && letter == '.';
  }
  std::int32_t m_accepted = 0;
};

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const auto size = static_cast<std::int64_t>(vocabulary.size());
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> logits("logits", 1, vocabulary.size());
  const Kokkos::View<tokkos::TokenId*, Space> token("token", 1);
  tokkos::LogitProcessor<Space> processor(Space(), 1, size);
  tokkos::Sampler<Space> sampler(Space(), 1, size);

  tokkos::GenerationConfig config;
  config.temperature = 1.5f;
  config.seed = 2024;
  const std::string id = "number";
  tokkos::TokenHistory history;
  ThreeDigits grammar;
  const tokkos::SequenceState state{.history = &history, .mask = &grammar};
  tokkos::StepRequests step;
  step.generation_configs = {&config, 1};
  step.sequence_states = {&state, 1};
  step.request_ids = {&id, 1};

  std::string text;
  while (text.size() < 4) {
    Kokkos::deep_copy(logits, 0.0f);  // the model's forward pass would stand here
    processor.inplace_update_logits(logits, step);
    sampler.sample_from_logits(logits, step, token);
    const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), token)(0);
    if (drawn < 0 || !grammar.accept(drawn)) return 1;
    history.commit(drawn);
    text += vocabulary[static_cast<std::size_t>(drawn)];
  }
  std::printf("%s\n", text.c_str());
}
