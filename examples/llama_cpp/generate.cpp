// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tokkos_sampler.hpp"

#include <stdexcept>

/// Up to `count` tokens behind a prompt.
std::vector<llama_token> generate(llama_context* context, std::vector<llama_token> prompt,
                                  int count) {
  const llama_vocab* vocabulary = llama_model_get_vocab(llama_get_model(context));
  TokkosSamplerParameters parameters;  // llama.cpp's defaults
  parameters.temperature = 0.7f;
  parameters.penalty_repeat = 1.1f;
  parameters.seed = 42;
  llama_sampler* sampler = llama_sampler_init_tokkos(llama_vocab_n_tokens(vocabulary), parameters);
  if (sampler == nullptr) throw std::invalid_argument(tokkos_last_error());
  for (const llama_token token : prompt) llama_sampler_accept(sampler, token);

  std::vector<llama_token> generated;
  llama_batch batch = llama_batch_get_one(prompt.data(), static_cast<std::int32_t>(prompt.size()));
  while (count-- > 0 && llama_decode(context, batch) == 0) {
    generated.push_back(llama_sampler_sample(sampler, context, -1));  // accepts it too
    if (llama_vocab_is_eog(vocabulary, generated.back())) break;
    batch = llama_batch_get_one(&generated.back(), 1);
  }
  llama_sampler_free(sampler);
  return generated;
}
