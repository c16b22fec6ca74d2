/* SPDX-FileCopyrightText: The Tokkos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library as a program in C meets it, one part of its life for each argument. Exits with the
 * number of broken promises. */
#define _POSIX_C_SOURCE 200809L

#include <tokkos/tokkos.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VOCABULARY = 40 };

static int broken = 0;

static void check(int holds, const char* promise) {
  if (holds) return;
  printf("broken: %s (last error: %s)\n", promise, tokkos_last_error());
  ++broken;
}

/* A grammar that allows one token, 11, forever. */
typedef struct Grammar {
  int accepted;
  int destroyed;
  tokkos_status finalized; /* what tokkos_finalize says while a step runs */
} Grammar;

static int32_t fill(void* user, int32_t* words, size_t word_count) {
  ((Grammar*)user)->finalized = tokkos_finalize();
  if (word_count != 2) return 1;
  words[0] = 1 << 11;
  return 0;
}

static int32_t accept(void* user, int32_t token) {
  if (token != 11) return 0;
  ++((Grammar*)user)->accepted;
  return 1;
}

static int32_t rollback(void* user, int32_t count) {
  ((Grammar*)user)->accepted -= count;
  return 0;
}

static void destroy(void* user) {
  ++((Grammar*)user)->destroyed;
}

static tokkos_context* make_context_on(int32_t backend) {
  tokkos_context_options options = tokkos_context_options_default();
  tokkos_context* context = NULL;
  options.backend = backend;
  check(tokkos_context_create(&options, &context) == TOKKOS_OK, "a context is made");
  return context;
}

static tokkos_context* make_context(void) {
  return make_context_on(TOKKOS_BACKEND_SERIAL);
}

static tokkos_processor* make_processor(tokkos_context* context) {
  tokkos_limits limits = tokkos_limits_default();
  tokkos_processor* processor = NULL;
  limits.max_rows = 2;
  limits.vocabulary = VOCABULARY;
  check(tokkos_processor_create(context, &limits, &processor) == TOKKOS_OK, "a processor is made");
  return processor;
}

/* One masked row; returns the status of processing it. */
static tokkos_status masked_row(tokkos_processor* processor, tokkos_mask* mask, int32_t* token) {
  float memory[VOCABULARY] = {0.0f};
  const float uniform = 0.5f;
  const tokkos_array logits = tokkos_matrix(memory, TOKKOS_FLOAT32, 1, VOCABULARY, 0);
  const tokkos_array tokens = tokkos_vector(token, TOKKOS_INT32, 1);
  tokkos_request request = tokkos_request_default();
  tokkos_step step = tokkos_step_default();
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  tokkos_step_options options = tokkos_step_options_default();
  request.mask = mask;
  step.requests = &request;
  step.request_count = 1;
  outputs.tokens = &tokens;
  options.uniforms = &uniform;
  options.uniform_count = 1;
  return tokkos_processor_process(processor, &logits, &step, &outputs, &options, NULL);
}

static void step_with_a_mask(void) {
  Grammar grammar = {0, 0, TOKKOS_OK};
  tokkos_mask_callbacks callbacks = tokkos_mask_callbacks_default();
  tokkos_mask* mask = NULL;
  tokkos_context* context = make_context();
  tokkos_processor* processor = make_processor(context);
  int32_t token = -1;
  check(strcmp(tokkos_last_error(), "") == 0, "no error before the first one");
  callbacks.user = &grammar;
  callbacks.fill = fill;
  callbacks.accept = accept;
  callbacks.rollback = rollback;
  callbacks.destroy = destroy;
  check(tokkos_mask_create(&callbacks, &mask) == TOKKOS_OK, "a mask is made");
  check(masked_row(processor, mask, &token) == TOKKOS_OK, "a row is processed");
  check(token == 11, "the mask decides");
  check(grammar.finalized == TOKKOS_ERROR_INVALID_ARGUMENT, "Kokkos stays while a step runs");
  check(tokkos_mask_accept(mask, 11) == TOKKOS_OK && grammar.accepted == 1, "it is accepted");
  check(tokkos_mask_destroy(mask) == TOKKOS_OK && grammar.destroyed == 1, "destroyed once");
  check(tokkos_mask_destroy(mask) == TOKKOS_ERROR_INVALID_HANDLE, "and not twice");
  check(masked_row(processor, mask, &token) == TOKKOS_ERROR_INVALID_HANDLE, "nor used then");
  check(tokkos_context_destroy(context) == TOKKOS_OK, "the context goes first");
  check(tokkos_processor_destroy(processor) == TOKKOS_OK, "the processor later");
  check(tokkos_started_kokkos() == 1, "Kokkos was started here");
}

/* Two rows of a prompt, all of whose tokens are equally likely; returns the status of scoring. */
static tokkos_status scored_prompt(tokkos_scorer* scorer, float logprobs[2]) {
  float memory[2 * VOCABULARY] = {0.0f};
  int32_t next[2] = {3, VOCABULARY - 1};
  const tokkos_array logits = tokkos_matrix(memory, TOKKOS_FLOAT32, 2, VOCABULARY, 0);
  const tokkos_array tokens = tokkos_vector(next, TOKKOS_INT32, 2);
  const tokkos_array values = tokkos_vector(logprobs, TOKKOS_FLOAT32, 2);
  tokkos_score score = tokkos_score_default();
  score.given_tokens = &tokens;
  score.given_logprobs = &values;
  return tokkos_scorer_score(scorer, &logits, &score);
}

static void score(void) {
  tokkos_context* context = make_context();
  tokkos_limits limits = tokkos_limits_default();
  tokkos_scorer* scorer = NULL;
  float logprobs[2] = {7.0f, 7.0f};
  int i = 0;
  limits.max_rows = 2;
  limits.vocabulary = VOCABULARY;
  check(tokkos_scorer_create(context, &limits, &scorer) == TOKKOS_OK, "a scorer is made");
  check(scored_prompt(scorer, logprobs) == TOKKOS_OK, "a prompt is scored");
  for (; i < 2; ++i) { /* -log(40) */
    check(logprobs[i] > -3.68889f && logprobs[i] < -3.68887f, "every token is as likely");
  }
  check(tokkos_finalize() == TOKKOS_OK, "Kokkos is finalized");
  check(scored_prompt(scorer, logprobs) == TOKKOS_ERROR_KOKKOS, "no score after Kokkos");
  check(tokkos_scorer_destroy(scorer) == TOKKOS_OK, "a scorer outlives Kokkos");
  check(tokkos_context_destroy(context) == TOKKOS_OK, "and its context");
}

static void finalized(void) {
  tokkos_context* context = make_context();
  tokkos_processor* processor = make_processor(context);
  tokkos_context* another = NULL;
  int32_t token = -7;
  check(tokkos_finalize() == TOKKOS_OK, "Kokkos is finalized");
  check(tokkos_started_kokkos() == 0, "and does not run");
  check(tokkos_finalize() == TOKKOS_OK, "once more is nothing");
  check(masked_row(processor, NULL, &token) == TOKKOS_ERROR_KOKKOS, "no step after Kokkos");
  check(token == -7, "nothing was written");
  check(tokkos_context_fence(context) == TOKKOS_ERROR_KOKKOS, "no fence after Kokkos");
  check(tokkos_context_create(NULL, &another) == TOKKOS_ERROR_KOKKOS, "no context after Kokkos");
  check(tokkos_processor_destroy(processor) == TOKKOS_OK, "a processor outlives Kokkos");
  check(tokkos_context_destroy(context) == TOKKOS_OK, "a context outlives Kokkos");
}

/* Run with environment variables for which Kokkos would end the program. */
static void bad_environment(void) {
  tokkos_context* context = NULL;
  tokkos_error error = tokkos_error_default();
  check(tokkos_context_create(NULL, &context) == TOKKOS_ERROR_INVALID_ARGUMENT,
        "a bad environment is a status");
  check(tokkos_last_error_parts(&error) == TOKKOS_OK, "with parts");
  check(strstr(error.field, "_NUM_THREADS") != NULL || strncmp(error.field, "KOKKOS_", 7) == 0,
        "that names the variable");
  check(context == NULL, "and no context");
}

/* Ends with everything alive. */
static void left_alive(void) {
  int32_t token = -1;
  tokkos_history* history = NULL;
  check(tokkos_history_create(&token, 0, &history) == TOKKOS_OK, "a history needs no Kokkos");
  check(tokkos_started_kokkos() == 0, "which nobody has started");
  check(masked_row(make_processor(make_context()), NULL, &token) == TOKKOS_OK, "a row");
}

/* A child has no threads of its parent's: every call says so, none waits for them, and it ends. */
static void in_a_child(tokkos_context* context, tokkos_processor* processor) {
  tokkos_context* another = NULL;
  int32_t token = -7;
  check(tokkos_started_kokkos() == 0, "a child has started nothing");
  check(masked_row(processor, NULL, &token) == TOKKOS_ERROR_KOKKOS, "no step in a child");
  check(strstr(tokkos_last_error(), "forked") != NULL, "and the reason");
  check(token == -7, "nothing was written");
  check(tokkos_context_fence(context) == TOKKOS_ERROR_KOKKOS, "no fence in a child");
  check(tokkos_context_create(NULL, &another) == TOKKOS_ERROR_KOKKOS, "no context in a child");
  check(tokkos_processor_destroy(processor) == TOKKOS_ERROR_KOKKOS, "nothing to destroy");
  check(tokkos_finalize() == TOKKOS_ERROR_KOKKOS, "nothing to finalize");
}

static void forked(void) {
  tokkos_context* context = NULL;
  tokkos_processor* processor = NULL;
  int32_t token = -1;
  int ended = -1;
  pid_t child = fork();
  if (child == 0) { /* before the first context: it may have its own */
    processor = make_processor(make_context_on(TOKKOS_BACKEND_DEFAULT));
    check(masked_row(processor, NULL, &token) == TOKKOS_OK, "a row in a child");
    exit(broken);
  }
  check(waitpid(child, &ended, 0) == child && ended == 0, "a child before the first context");
  context = make_context_on(TOKKOS_BACKEND_DEFAULT);
  processor = make_processor(context);
  check(masked_row(processor, NULL, &token) == TOKKOS_OK, "a row before the fork");
  fflush(stdout);
  child = fork();
  if (child == 0) {
    alarm(60); /* ends a child that waits */
    in_a_child(context, processor);
    exit(broken);
  }
  check(waitpid(child, &ended, 0) == child && ended == 0, "a child behind it ends by itself");
  check(masked_row(processor, NULL, &token) == TOKKOS_OK, "the parent goes on");
  check(tokkos_processor_destroy(processor) == TOKKOS_OK, "and destroys its own");
}

int main(int argc, char* argv[]) {
  const char* part = argc > 1 ? argv[1] : "";
  if (strcmp(part, "step") == 0) {
    step_with_a_mask();
  } else if (strcmp(part, "score") == 0) {
    score();
  } else if (strcmp(part, "finalized") == 0) {
    finalized();
  } else if (strcmp(part, "bad-environment") == 0) {
    bad_environment();
  } else if (strcmp(part, "left-alive") == 0) {
    left_alive();
  } else if (strcmp(part, "forked") == 0) {
    forked();
  } else {
    check(0, "a part is named");
  }
  printf("%d promises broken\n", broken);
  return broken;
}
