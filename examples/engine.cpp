// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The stage between logits and tokens of a small engine, as docs/engine.md builds it step by step:
// two running requests, one of them with a grammar. Each step is prepared while the model computes;
// then the same tokens are generated with draft trees, a request joins and one leaves. The model is
// a fake, and memory that it owns.

#include <tokkos/tokkos.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

// begin names
using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Rows = Kokkos::View<tokkos::bfloat16**, Kokkos::LayoutStride, Space, Kokkos::MemoryUnmanaged>;
constexpr int vocabulary = 40, row_stride = 64, max_rows = 16;
// end names

/// A grammar of which each token is larger than the one before.
class Ascending : public tokkos::VocabularyMask {
 public:
  void fill_next_bitmask(std::span<std::int32_t> words) override {
    const tokkos::TokenId last = m_accepted.empty() ? -1 : m_accepted.back();
    for (int v = last + 1; v < vocabulary; ++v) words[v >> 5] |= std::int32_t{1} << (v & 31);
  }
  bool accept(tokkos::TokenId token) override {
    if (!m_accepted.empty() && token <= m_accepted.back()) return false;
    m_accepted.push_back(token);
    return true;
  }
  void rollback(std::int32_t count) override {
    m_accepted.resize(m_accepted.size() - static_cast<std::size_t>(count));
  }

 private:
  std::vector<tokkos::TokenId> m_accepted;
};

/// What a request has behind it where a row is computed: its last token decides here.
using Contexts = std::vector<tokkos::TokenId>;

/// A fake of the model: owns the logits, prefers 3 t + 1 after t, and less so t + 1.
class Model {
 public:
  void* forward(const Contexts& last) const {
    const auto staged = Kokkos::create_mirror_view(m_memory);
    for (std::size_t row = 0; row < last.size(); ++row) {
      for (int v = 0; v < vocabulary; ++v) {
        const bool first = v == (3 * last[row] + 1) % vocabulary, second = v == last[row] + 1;
        staged(row, v) = tokkos::bfloat16::narrow(first ? 8.0f : second ? 4.0f : -0.125f * v);
      }
    }
    Kokkos::deep_copy(m_memory, staged);
    return m_memory.data();
  }

 private:
  Kokkos::View<tokkos::bfloat16**, Kokkos::LayoutRight, Space> m_memory{"model", max_rows,
                                                                        row_stride};
};

// begin requests
/// The running batch, array by array, as StepRequests points to it.
struct Batch {
  std::vector<std::string> ids = {"chat-1", "chat-2"};
  std::vector<tokkos::GenerationConfig> configs = {{.temperature = 0.0f}, {.temperature = 0.0f}};
  std::vector<tokkos::TokenHistory> histories = {tokkos::TokenHistory({0}),
                                                 tokkos::TokenHistory({5})};
  Ascending grammar;
  std::vector<tokkos::VocabularyMask*> masks = {nullptr, &grammar};
  std::vector<tokkos::SequenceState> states;  // of the last step()

  tokkos::StepRequests step() {
    states.clear();  // histories may have moved
    for (std::size_t i = 0; i < ids.size(); ++i)
      states.push_back({.history = &histories[i], .mask = masks[i]});
    return {configs, states, ids};
  }
};
// end requests

// begin join
/// A request joins, if all that it asks for is good: the others' tokens stay as they are. Its id
/// names its random stream, so no two have the same.
void join(Batch& batch, const std::string& id, const tokkos::GenerationConfig& config,
          tokkos::TokenHistory prompt, tokkos::VocabularyMask* mask) {
  const tokkos::SequenceState state{.history = &prompt, .mask = mask};
  tokkos::validate({{&config, 1}, {&state, 1}, {&id, 1}}, 1, vocabulary);  // throws tokkos::Error
  if (batch.ids.size() == max_rows) throw std::runtime_error("no row is left for " + id);
  if (std::ranges::count(batch.ids, id) > 0) throw std::runtime_error(id + " runs already");
  batch.histories.push_back(std::move(prompt));
  batch.ids.push_back(id);
  batch.configs.push_back(config);
  batch.masks.push_back(mask);
}

/// One leaves: at its end, or because it failed.
void leave(Batch& batch, std::size_t i) {
  const auto place = static_cast<std::ptrdiff_t>(i);
  batch.ids.erase(batch.ids.begin() + place);
  batch.configs.erase(batch.configs.begin() + place);
  batch.histories.erase(batch.histories.begin() + place);
  batch.masks.erase(batch.masks.begin() + place);
}
// end join

tokkos::TokenId last_token(const tokkos::TokenHistory& history) {
  return history.generated().empty() ? history.prompt().back() : history.generated().back();
}

// begin objects
/// Made once, for the most rows of a step. On a GPU `space` is Space(stream), the engine's stream.
struct Stage {
  explicit Stage(const Space& instance) : space(instance) {}
  Space space;
  tokkos::LogitProcessor<Space> processor{space, max_rows, vocabulary};
  tokkos::DraftVerifier<Space> verifier{space, max_rows, vocabulary};
  Kokkos::View<tokkos::TokenId*, Space> tokens{"engine::tokens", max_rows};
  Kokkos::View<std::int32_t*, Space> status{"engine::status", max_rows};
  decltype(tokens)::host_mirror_type drawn = Kokkos::create_mirror_view(tokens);
  decltype(status)::host_mirror_type bits = Kokkos::create_mirror_view(status);
  Kokkos::View<float**, Kokkos::LayoutRight, Space> probabilities{"engine::probabilities", max_rows,
                                                                  vocabulary};
};
// end objects

// begin rows
/// The model's memory as rows of logits: nothing is copied.
Rows rows_at(void* pointer, std::size_t rows) {
  return Rows(static_cast<tokkos::bfloat16*>(pointer),
              Kokkos::LayoutStride(rows, row_stride, vocabulary, 1));
}
// end rows

// begin step
void one_token_each(Stage& stage, const Model& model, Batch& batch) {
  const std::size_t n = batch.ids.size();
  Contexts last;
  for (const tokkos::TokenHistory& history : batch.histories) last.push_back(last_token(history));
  void* const pointer = model.forward(last);
  // While a model on a GPU still computes: validates, flattens, uploads.
  stage.processor.prepare(static_cast<std::int64_t>(n), batch.step(),
                          {.ties = tokkos::GreedyTies::lowest_id});
  const auto tokens = Kokkos::subview(stage.tokens, std::pair(std::size_t{0}, n));
  const auto status = Kokkos::subview(stage.status, std::pair(std::size_t{0}, n));
  Kokkos::deep_copy(stage.space, status, 0);  // bits are ORed into it
  stage.processor.process(rows_at(pointer, n), {.tokens = tokens, .row_status = status});

  Kokkos::deep_copy(stage.space, stage.drawn, stage.tokens);
  Kokkos::deep_copy(stage.space, stage.bits, stage.status);
  stage.space.fence("engine::step");  // the only wait: for this instance
  for (std::size_t i = n; i-- > 0;) {
    const tokkos::TokenId token = stage.drawn(i);
    if (token >= 0 && (batch.masks[i] == nullptr || batch.masks[i]->accept(token))) {
      batch.histories[i].commit(token);
    } else {  // this request alone has failed
      const std::string reason = tokkos::row_status_names(stage.bits(i));
      std::printf("%s: %s\n", batch.ids[i].c_str(),
                  token < 0 ? reason.c_str() : "its grammar refuses what its mask allowed");
      leave(batch, i);
    }
  }
}
// end step

// begin draft
/// Both guesses of the model after each request's last token, and one after the first of them.
std::vector<tokkos::DraftTree> draft(const Batch& batch) {
  std::vector<tokkos::DraftTree> trees;
  for (const tokkos::TokenHistory& history : batch.histories) {
    const tokkos::TokenId t = last_token(history), next = (3 * t + 1) % vocabulary;
    trees.push_back({.token_ids = {next, (t + 1) % vocabulary, (3 * next + 1) % vocabulary},
                     .parents = {-1, -1, 0}});
  }
  return trees;
}
// end draft

// begin tree
void several_tokens_each(Stage& stage, const Model& model, Batch& batch) {
  const std::vector<tokkos::DraftTree> trees = draft(batch);
  std::vector<std::int32_t> cum_num_token = {0};       // whose rows: the root's, then a row a node
  std::vector<std::vector<std::int32_t>> node_of_row;  // -1: the root
  Contexts last;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    last.push_back(last_token(batch.histories[i]));
    last.insert(last.end(), trees[i].token_ids.begin(), trees[i].token_ids.end());
    cum_num_token.push_back(static_cast<std::int32_t>(last.size()));
    node_of_row.push_back({-1});
    for (std::size_t node = 0; node < trees[i].size(); ++node)
      node_of_row.back().push_back(static_cast<std::int32_t>(node));
  }
  tokkos::StepRequests step = batch.step();
  step.cum_num_token = cum_num_token;
  step.draft_trees = trees;
  step.draft_token_indices = node_of_row;

  const auto probabilities =
      Kokkos::subview(stage.probabilities, std::pair(std::size_t{0}, last.size()), Kokkos::ALL);
  void* const pointer = model.forward(last);
  stage.processor.prepare(static_cast<std::int64_t>(last.size()), step);
  const auto status = Kokkos::subview(stage.status, std::pair(std::size_t{0}, last.size()));
  Kokkos::deep_copy(stage.space, status, 0);
  stage.processor.process(rows_at(pointer, last.size()),
                          {.probabilities = probabilities, .row_status = status});
  Kokkos::deep_copy(stage.space, stage.bits, stage.status);  // verify waits for it
  const auto verified = stage.verifier.verify(
      probabilities, {}, trees, tokkos::verify_uniforms(step), batch.ids);  // {}: chosen drafts
  for (std::size_t i = trees.size(); i-- > 0;) {
    tokkos::commit(verified[i], batch.histories[i], batch.masks[i]);  // both, or none
    if (verified[i].bonus_token >= 0) continue;
    const auto& nodes = verified[i].accepted_nodes;  // the row behind the last of them is unusable
    const std::int32_t row = cum_num_token[i] + (nodes.empty() ? 0 : nodes.back() + 1);
    std::printf("%s: %s\n", batch.ids[i].c_str(),
                tokkos::row_status_names(stage.bits(static_cast<std::size_t>(row))).c_str());
    leave(batch, i);
  }
}
// end tree

// begin rollback
/// Takes back the last `count` tokens of a request: what a stop string, or a retry, asks for.
void take_back(Batch& batch, std::size_t i, std::int32_t count) {
  batch.histories[i].rollback(static_cast<std::size_t>(count));
  if (batch.masks[i] != nullptr) batch.masks[i]->rollback(count);
}
// end rollback

std::vector<std::string> texts(const Batch& batch, std::size_t length) {
  std::vector<std::string> found(batch.ids);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto generated = batch.histories[i].generated();
    for (const tokkos::TokenId token : generated.first(std::min(length, generated.size())))
      found[i].append(1, ' ').append(std::to_string(token));
  }
  return found;
}

}  // namespace

// begin kokkos
int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);  // --kokkos-num-threads=8, --kokkos-device-id=1
  const Space space;   // of the engine's stream: Kokkos::Cuda(stream), of the same device
  Stage stage(space);  // goes before `kokkos` does
  // end kokkos
  constexpr std::size_t length = 6;
  const Model model;

  Batch plain;
  for (std::size_t k = 0; k < length; ++k) one_token_each(stage, model, plain);
  take_back(plain, 1, 2);
  for (std::size_t k = 0; k < 2; ++k) one_token_each(stage, model, plain);

  Batch drafted;
  int steps = 0;
  for (; drafted.histories[0].generated().size() < length; ++steps)
    several_tokens_each(stage, model, drafted);
  const bool same = texts(plain, 4) == texts(drafted, 4);
  join(plain, "chat-3", {.temperature = 0.0f}, tokkos::TokenHistory({12}), nullptr);
  leave(plain, 0);
  for (std::size_t k = 0; k < 2; ++k) one_token_each(stage, model, plain);
  for (const std::string& text : texts(plain, length + 2)) std::printf("%s\n", text.c_str());
  std::printf("%d steps with draft trees\n", steps);
  return same ? 0 : 1;
}
