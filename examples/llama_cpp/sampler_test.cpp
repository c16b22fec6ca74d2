// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The sampler through llama.cpp's own interface, on candidates made by hand, without a model:
// against Tokkos called directly on the same rows, and against llama.cpp's own samplers.
#include "direct.hpp"
#include "tokkos_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>

namespace {

int failures = 0;

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                         \
    }                                                                     \
  } while (false)

struct FreeSampler {
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};
using SamplerOwner = std::unique_ptr<llama_sampler, FreeSampler>;

SamplerOwner tokkos_sampler_of(const TokkosSamplerParameters& parameters) {
  SamplerOwner sampler(llama_sampler_init_tokkos(vocabulary, parameters));
  if (!sampler) std::printf("%s\n", tokkos_last_error());
  return sampler;
}

/// Candidates of one step in random order; no two logits are equal.
struct Candidates {
  explicit Candidates(std::uint32_t seed) : logits(vocabulary), data(vocabulary) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0f, 3.0f);
    for (float& logit : logits) logit = normal(generator);
    for (std::int32_t id = 0; id < vocabulary; ++id) data[at(id)] = {id, logits[at(id)], 0.0f};
    std::shuffle(data.begin(), data.end(), generator);
  }

  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

  llama_token apply(llama_sampler* sampler) {
    llama_token_data_array array{data.data(), data.size(), -1, false};
    llama_sampler_apply(sampler, &array);
    size = array.size;
    return array.selected < 0 ? -1 : array.data[array.selected].id;
  }

  /// The probability of each token that is left, 0 for the others.
  std::vector<float> probabilities() const {
    std::vector<float> all(vocabulary, 0.0f);
    for (std::size_t i = 0; i < size; ++i) all[at(data[i].id)] = data[i].p;
    return all;
  }

  std::vector<float> logits;
  std::vector<llama_token_data> data;
  std::size_t size = 0;
};

TokkosSamplerParameters creative() {
  TokkosSamplerParameters parameters;
  parameters.temperature = 1.5f;
  parameters.top_p = 0.99f;
  parameters.min_p = 0.01f;
  parameters.penalty_repeat = 1.1f;
  parameters.penalty_freq = 0.2f;
  parameters.seed = 42;
  parameters.id = "chat-1";
  return parameters;
}

/// The tokens of `steps` steps, whose logits are those of seeds 1000, 1001, ...
std::vector<llama_token> generate(llama_sampler* sampler, std::uint32_t steps) {
  std::vector<llama_token> tokens;
  for (std::uint32_t i = 0; i < steps; ++i) {
    tokens.push_back(Candidates(1000 + i).apply(sampler));
    llama_sampler_accept(sampler, tokens.back());
  }
  return tokens;
}

void prompt(llama_sampler* sampler) {
  for (const llama_token token : {7, 8, 9}) llama_sampler_accept(sampler, token);
}

void greedy_takes_the_largest_logit() {
  TokkosSamplerParameters parameters;
  parameters.temperature = 0.0f;
  const SamplerOwner ours = tokkos_sampler_of(parameters);
  const SamplerOwner theirs(llama_sampler_init_greedy());
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const llama_token token = Candidates(seed).apply(ours.get());
    CHECK(token == Candidates(seed).apply(theirs.get()));
  }
}

void draws_what_tokkos_draws() {
  const SamplerOwner sampler = tokkos_sampler_of(creative());
  prompt(sampler.get());
  Direct direct(creative(), {7, 8, 9});
  CHECK(direct.works());
  const std::vector<llama_token> tokens = generate(sampler.get(), 100);
  int different = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    CHECK(tokens[i] == direct.next(Candidates(1000 + i).logits));
    if (tokens[i] != Candidates(1000 + i).apply(SamplerOwner(llama_sampler_init_greedy()).get())) {
      ++different;
    }
  }
  CHECK(different > 20);  // it does draw
}

void resets_and_clones() {
  const SamplerOwner sampler = tokkos_sampler_of(creative());
  prompt(sampler.get());
  const std::vector<llama_token> first = generate(sampler.get(), 10);
  const SamplerOwner copy(llama_sampler_clone(sampler.get()));
  CHECK(copy != nullptr);
  const std::vector<llama_token> next = generate(sampler.get(), 10);
  CHECK(generate(copy.get(), 10) == next);
  CHECK(first != next);
  llama_sampler_reset(sampler.get());
  prompt(sampler.get());
  CHECK(generate(sampler.get(), 10) == first);
  const SamplerOwner later(llama_sampler_clone(sampler.get()));
  CHECK(generate(later.get(), 10) == next);
}

// llama_sampler_init_penalties with the vocabulary and without: versions of llama.cpp differ.
llama_sampler* penalties(llama_sampler* (*init)(std::int32_t, std::int32_t, float, float, float),
                         const TokkosSamplerParameters& of) {
  return init(vocabulary, of.penalty_last_n, of.penalty_repeat, of.penalty_freq,
              of.penalty_present);
}
[[maybe_unused]] llama_sampler* penalties(llama_sampler* (*init)(std::int32_t, float, float, float),
                                          const TokkosSamplerParameters& of) {
  return init(of.penalty_last_n, of.penalty_repeat, of.penalty_freq, of.penalty_present);
}

/// llama.cpp's samplers in Tokkos's order leave the same tokens with the same probabilities.
void has_the_probabilities_of_a_chain() {
  const TokkosSamplerParameters of = creative();
  const SamplerOwner ours = tokkos_sampler_of(of);
  const SamplerOwner chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  llama_sampler_chain_add(chain.get(), penalties(llama_sampler_init_penalties, of));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_temp(of.temperature));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_top_k(of.top_k));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_top_p(of.top_p, 1));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_min_p(of.min_p, 1));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_dist(1));
  prompt(ours.get());
  prompt(chain.get());
  for (std::uint32_t i = 0; i < 50; ++i) {
    Candidates mine(2000 + i);
    Candidates theirs(2000 + i);
    const llama_token token = mine.apply(ours.get());
    theirs.apply(chain.get());
    const std::vector<float> p = mine.probabilities();
    const std::vector<float> q = theirs.probabilities();
    for (std::size_t v = 0; v < p.size(); ++v) {
      CHECK((p[v] > 0.0f) == (q[v] > 0.0f));
      CHECK(std::abs(p[v] - q[v]) <= 1e-5f * q[v]);
    }
    llama_sampler_accept(ours.get(), token);
    llama_sampler_accept(chain.get(), token);
  }
}

void takes_its_place_in_a_chain() {
  const SamplerOwner chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_top_k(3));
  TokkosSamplerParameters parameters = creative();
  parameters.temperature = 5.0f;
  llama_sampler_chain_add(chain.get(), llama_sampler_init_tokkos(vocabulary, parameters));
  std::vector<llama_token> seen;
  for (std::uint32_t i = 0; i < 100; ++i) {
    seen.push_back(Candidates(5).apply(chain.get()));
    llama_sampler_accept(chain.get(), seen.back());
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  CHECK(seen.size() == 3);  // all that top_k(3) leaves, and no other
}

void says_why_nothing_was_selected() {
  const SamplerOwner sampler = tokkos_sampler_of(creative());
  Candidates bad(3);
  bad.data[17].logit = std::numeric_limits<float>::quiet_NaN();
  CHECK(bad.apply(sampler.get()) == -1);
  CHECK(std::string(llama_sampler_tokkos_error(sampler.get())) == "nan_logit");
  CHECK(Candidates(3).apply(sampler.get()) >= 0);
  CHECK(std::string(llama_sampler_tokkos_error(sampler.get())).empty());
  bad.data[17] = {vocabulary, 0.0f, 0.0f};
  CHECK(bad.apply(sampler.get()) == -1);
  CHECK(std::string(llama_sampler_tokkos_error(sampler.get())) ==
        "a candidate's id is 500, expected [0, 500)");

  TokkosSamplerParameters wrong;
  wrong.top_p = 1.5f;
  CHECK(llama_sampler_init_tokkos(vocabulary, wrong) == nullptr);
  CHECK(std::string(tokkos_last_error()).find("top_p") != std::string::npos);
}

}  // namespace

int main() {
  greedy_takes_the_largest_logit();
  draws_what_tokkos_draws();
  resets_and_clones();
  has_the_probabilities_of_a_chain();
  takes_its_place_in_a_chain();
  says_why_nothing_was_selected();
  std::printf("%s\n", failures == 0 ? "all as expected" : "FAILED");
  return failures == 0 ? 0 : 1;
}
