/* SPDX-FileCopyrightText: The Tokkos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A draft tree of one request: logits of all its nodes, probabilities along each node's own path,
 * lossless verification, and the tokens to emit. The drafter proposed 3 and 6 as the next token,
 * and after 3 the token 5; it chose each without drawing. */
#include <tokkos/tokkos.h>

#include <stdio.h>
#include <stdlib.h>

enum { VOCABULARY = 8, ROWS = 4 };

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
  tokkos_limits limits = tokkos_limits_default();
  limits.max_rows = ROWS; /* of the verifier: nodes, the root included */
  limits.vocabulary = VOCABULARY;
  tokkos_processor* processor = NULL;
  check(tokkos_processor_create(context, &limits, &processor));
  tokkos_verifier* verifier = NULL;
  check(tokkos_verifier_create(context, &limits, &verifier));
  tokkos_verified* verified = NULL;
  check(tokkos_verified_create(&verified));
  const int32_t prompt[] = {7};
  tokkos_history* history = NULL;
  check(tokkos_history_create(prompt, 1, &history));

  /* begin tree */
  /* The tree, and the node whose distribution each row is: all three, since the request has more
   * than one row. */
  const int32_t token_ids[] = {3, 5, 6}, parents[] = {-1, 0, -1};
  tokkos_draft_tree tree = tokkos_draft_tree_default();
  tree.token_ids = token_ids;
  tree.parents = parents;
  tree.count = 3;
  const int32_t draft_nodes[ROWS] = {-1, 0, 1, 2}; /* -1: behind the last committed token */
  tokkos_request request = tokkos_request_default();
  request.history = history;
  request.id = "chat-1";
  request.draft_tree = &tree;
  request.draft_nodes = draft_nodes;
  request.rows = ROWS;
  tokkos_step step = tokkos_step_default();
  step.requests = &request;
  step.request_count = 1;

  /* Penalties and mask of each row follow its own path; the probabilities lie in the logits. */
  float memory[ROWS][VOCABULARY] = {{0}}; /* the model's logits */
  memory[0][3] = 40.0f;                   /* after the committed tokens: 3 */
  memory[1][5] = 40.0f;                   /* after 3: 5 */
  memory[2][1] = 40.0f;                   /* after 3 5: 1 */
  memory[3][0] = 40.0f;                   /* after 6: 0 */
  const tokkos_array logits = tokkos_matrix(memory, TOKKOS_FLOAT32, ROWS, VOCABULARY, 0);
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  outputs.probabilities = &logits;
  check(tokkos_processor_process(processor, &logits, &step, &outputs, NULL, NULL));

  /* No options: the drafts were chosen, and the uniforms are the request's own. Waits. */
  check(tokkos_verifier_verify(verifier, &logits, &step, NULL, verified));
  tokkos_verified_draft draft = tokkos_verified_draft_default();
  check(tokkos_verified_get(verified, 0, &draft));
  check(tokkos_commit(history, NULL, draft.tokens, draft.token_count)); /* and the mask, if any */
  /* end tree */

  printf("accepted %d drafts, tokens", (int)draft.accepted_count);
  for (size_t i = 0; i < draft.token_count; ++i) printf(" %d", (int)draft.tokens[i]);
  printf("\n");
  check(tokkos_history_destroy(history));
  check(tokkos_verified_destroy(verified));
  check(tokkos_verifier_destroy(verifier));
  check(tokkos_processor_destroy(processor));
  check(tokkos_context_destroy(context));
  return 0;
}
