/* SPDX-FileCopyrightText: The Tokkos authors
 * SPDX-License-Identifier: Apache-2.0
 */
#include <tokkos/tokkos.h>

#include <stdio.h>
#include <stdlib.h>

enum { VOCABULARY = 128256 };

/* Every call says whether it worked; what went wrong is kept for the thread. */
static void check(tokkos_status status) {
  if (status == TOKKOS_OK) return;
  fprintf(stderr, "%s: %s\n", tokkos_status_name(status), tokkos_last_error());
  exit(1);
}

int main(void) {
  /* Where: Serial, because the logits below are host memory. On a GPU: the engine's own stream. */
  tokkos_context_options where = tokkos_context_options_default();
  where.backend = TOKKOS_BACKEND_SERIAL;
  tokkos_context* context = NULL;
  check(tokkos_context_create(&where, &context));

  tokkos_limits limits = tokkos_limits_default();
  limits.max_rows = 1;
  limits.vocabulary = VOCABULARY;
  tokkos_processor* processor = NULL;
  check(tokkos_processor_create(context, &limits, &processor));

  const int32_t prompt[] = {128000, 9906};
  tokkos_history* history = NULL;
  check(tokkos_history_create(prompt, 2, &history));

  /* What the request wants. */
  const tokkos_token_bias biases[] = {{25.0, 4242, 0}};
  tokkos_generation_config config = tokkos_generation_config_default();
  config.temperature = 0.7f;
  config.logit_bias = biases;
  config.logit_bias_count = 1;
  tokkos_request request = tokkos_request_default();
  request.config = &config;
  request.history = history;
  request.id = "chat-1"; /* names the request's random stream */
  tokkos_step step = tokkos_step_default();
  step.requests = &request;
  step.request_count = 1;

  float* memory = calloc(VOCABULARY, sizeof *memory); /* the model's */
  if (memory == NULL) return 1;
  int32_t token = -1, status = 0;
  float logprob = 0.0f;
  const tokkos_array logits = tokkos_matrix(memory, TOKKOS_FLOAT32, 1, VOCABULARY, 0);
  const tokkos_array tokens = tokkos_vector(&token, TOKKOS_INT32, 1);
  const tokkos_array logprobs = tokkos_vector(&logprob, TOKKOS_FLOAT32, 1);
  const tokkos_array row_status = tokkos_vector(&status, TOKKOS_INT32, 1);
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  outputs.tokens = &tokens;
  outputs.logprobs = &logprobs;
  outputs.row_status = &row_status;

  /* Bias, penalties, mask, softmax with temperature, draw; then wait for the stream. */
  check(tokkos_processor_process(processor, &logits, &step, &outputs, NULL, NULL));
  check(tokkos_context_fence(context));
  check(tokkos_history_commit(history, token));
  printf("token %d, log-probability %.4f, row status %d\n", (int)token, logprob, (int)status);

  free(memory);
  check(tokkos_history_destroy(history));
  check(tokkos_processor_destroy(processor));
  check(tokkos_context_destroy(context));
  return 0;
}
