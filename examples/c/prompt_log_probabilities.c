/* SPDX-FileCopyrightText: The Tokkos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Log-probabilities of a prompt's tokens, as scoring and perplexity need them: each in the row of
 * the token before it, with the model's most likely tokens beside it. */
#include <tokkos/tokkos.h>

#include <stdio.h>
#include <stdlib.h>

enum { VOCABULARY = 8, TOKENS = 4, ROWS = TOKENS - 1, LISTED = 2 };

static void check(tokkos_status status) {
  if (status == TOKKOS_OK) return;
  fprintf(stderr, "%s: %s\n", tokkos_status_name(status), tokkos_last_error());
  exit(1);
}

int main(void) {
  tokkos_context_options where = tokkos_context_options_default();
  where.backend = TOKKOS_BACKEND_SERIAL;
  tokkos_context* context = NULL;
  check(tokkos_context_create(&where, &context));

  int32_t prompt[TOKENS] = {1, 5, 2, 7};
  float memory[ROWS][VOCABULARY]; /* the model's logits */
  for (int i = 0; i < ROWS; ++i) {
    for (int v = 0; v < VOCABULARY; ++v) memory[i][v] = 0.5f * (float)v;
  }

  /* begin score */
  tokkos_limits limits = tokkos_limits_default();
  limits.max_rows = ROWS;
  limits.vocabulary = VOCABULARY;
  tokkos_scorer* scorer = NULL;
  check(tokkos_scorer_create(context, &limits, &scorer));

  /* Token i + 1 in the row of token i, so the first token has no log-probability. */
  float logprobs[ROWS], top_logprobs[ROWS][LISTED];
  int32_t top_tokens[ROWS][LISTED];
  const tokkos_array logits = tokkos_matrix(memory, TOKKOS_FLOAT32, ROWS, VOCABULARY, 0);
  const tokkos_array given = tokkos_vector(prompt + 1, TOKKOS_INT32, ROWS);
  const tokkos_array of_given = tokkos_vector(logprobs, TOKKOS_FLOAT32, ROWS);
  const tokkos_array listed = tokkos_matrix(top_tokens, TOKKOS_INT32, ROWS, LISTED, 0);
  const tokkos_array of_listed = tokkos_matrix(top_logprobs, TOKKOS_FLOAT32, ROWS, LISTED, 0);
  tokkos_score score = tokkos_score_default(); /* at temperature 1 */
  score.given_tokens = &given;
  score.given_logprobs = &of_given;
  score.top_tokens = &listed;
  score.top_logprobs = &of_listed;
  check(tokkos_scorer_score(scorer, &logits, &score));
  check(tokkos_context_fence(context));
  /* end score */

  for (int i = 0; i < ROWS; ++i) {
    printf("token %d: %.4f, most likely %d: %.4f, %d: %.4f\n", (int)prompt[i + 1], logprobs[i],
           (int)top_tokens[i][0], top_logprobs[i][0], (int)top_tokens[i][1], top_logprobs[i][1]);
  }
  check(tokkos_scorer_destroy(scorer));
  check(tokkos_context_destroy(context));
  return 0;
}
