/* SPDX-FileCopyrightText: The Tokkos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program in C, outside of Tokkos's build: one request, whose bias decides. */
#include <tokkos/tokkos.h>

#include <stdio.h>

#define VOCABULARY 5000

static float logits[VOCABULARY];

static int check(tokkos_status status) {
  if (status != TOKKOS_OK) fprintf(stderr, "%s\n", tokkos_last_error());
  return status == TOKKOS_OK;
}

int main(void) {
  const tokkos_token_bias bias = {25.0, 4242, 0};
  int32_t token = -1;
  tokkos_context_options where = tokkos_context_options_default();
  tokkos_limits limits = tokkos_limits_default();
  tokkos_generation_config config = tokkos_generation_config_default();
  tokkos_request request = tokkos_request_default();
  tokkos_step step = tokkos_step_default();
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  const tokkos_array rows = tokkos_matrix(logits, TOKKOS_FLOAT32, 1, VOCABULARY, 0);
  const tokkos_array tokens = tokkos_vector(&token, TOKKOS_INT32, 1);
  const int32_t prompt[] = {7};
  tokkos_history* history = NULL;
  tokkos_context* context = NULL;
  tokkos_processor* processor = NULL;
  int done = 0;

  where.backend = TOKKOS_BACKEND_SERIAL;
  limits.max_rows = 1;
  limits.vocabulary = VOCABULARY;
  config.temperature = 0.5f;
  config.logit_bias = &bias;
  config.logit_bias_count = 1;
  request.config = &config;
  request.id = "consumer"; /* names its random stream, whose place the history says */
  step.requests = &request;
  step.request_count = 1;
  outputs.tokens = &tokens;

  done = check(tokkos_history_create(prompt, 1, &history));
  request.history = history;
  done = done && check(tokkos_context_create(&where, &context)) &&
         check(tokkos_processor_create(context, &limits, &processor)) &&
         check(tokkos_processor_process(processor, &rows, &step, &outputs, NULL, NULL)) &&
         check(tokkos_context_fence(context));
  tokkos_processor_destroy(processor);
  tokkos_context_destroy(context);
  tokkos_history_destroy(history);
  printf("Tokkos %s, token %d\n", tokkos_version(), (int)token);
  return done && check(tokkos_finalize()) && token == 4242 ? 0 : 1;
}
