/* SPDX-FileCopyrightText: The Tokkos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tokkos for C, and for every language that can call C: the stage of a language model's engine
 * between the logits and the token. One file, so that it can be read from top to bottom; C99; no
 * Kokkos and no C++ in it. docs/c_api.md is the way in, and says it at more length.
 *
 * Errors. Every function that can fail returns a tokkos_status. What went wrong is then in
 * tokkos_last_error(), one for each thread: the text of the latest failure on that thread; success
 * leaves it alone. Everything is validated before anything is written. No function aborts or lets
 * an exception out (a callback may throw, or end its thread); pointers are checked for null,
 * handles for being alive and of their kind. What only the data on a device shows ends in status
 * words of rows (TOKKOS_ROW_*).
 *
 * Ownership. tokkos_X_create makes an object, and gives null where it fails (pass it no pointer to
 * a handle that is still wanted); tokkos_X_destroy ends it: null is fine, an object that was
 * destroyed already is TOKKOS_ERROR_INVALID_HANDLE and nothing happens. Objects may be
 * destroyed in any order. Arrays, ids and option structs stay the caller's: those of the host may
 * go when a call returns, memory of logits and outputs must live until the work on the stream is
 * done.
 *
 * Threads. One object is for one thread at a time, two objects are independent. Contexts may be
 * shared by threads that make objects; functions that launch on a context itself
 * (tokkos_apply_bitmask, tokkos_verify_seed_rule) are for one thread at a time. A history or a mask
 * is in one call at a time. In a process that was forked behind the first context every call is
 * TOKKOS_ERROR_KOKKOS: fork before it.
 *
 * Structs that begin with `size` grow in later versions: take them from tokkos_X_default(), which
 * compiles the size into the program. A library that knows more members fills in their defaults;
 * one that knows fewer refuses a struct whose unknown members are not zero. Members `reserved` fill
 * a gap and are not read. */
#ifndef TOKKOS_TOKKOS_H
#define TOKKOS_TOKKOS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TOKKOS_API __attribute__((visibility("default")))
#else
#define TOKKOS_API
#endif

/* Version of this header, major number; tokkos_version() is that of the library. */
#define TOKKOS_VERSION_MAJOR 0
/* Version of this header, minor number. */
#define TOKKOS_VERSION_MINOR 1
/* Version of this header, patch number. */
#define TOKKOS_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and errors ---- */

/* What a call came to. */
typedef enum tokkos_status {
  TOKKOS_OK = 0,
  TOKKOS_ERROR_INVALID_ARGUMENT = 1, /* the error names field, index, value and what is expected */
  TOKKOS_ERROR_INVALID_HANDLE = 2,   /* null where an object is needed, destroyed, another kind */
  TOKKOS_ERROR_CALLBACK = 3,         /* a callback failed */
  TOKKOS_ERROR_OUT_OF_MEMORY = 4,
  TOKKOS_ERROR_KOKKOS = 5,      /* Kokkos is finalized, another process's, or cannot start here */
  TOKKOS_ERROR_UNSUPPORTED = 6, /* this library was built without it */
  TOKKOS_ERROR_INTERNAL = 7     /* anything else, with its text */
} tokkos_status;

/* "TOKKOS_OK" and so on; "unknown" for a number that is none. Never null. */
TOKKOS_API const char* tokkos_status_name(tokkos_status status);

/* The text of this thread's latest failure, "" if there was none. It stays until the next one. */
TOKKOS_API const char* tokkos_last_error(void);

/* The same in parts; texts live until the thread's next failure, parts that do not apply are "". */
typedef struct tokkos_error {
  size_t size;
  const char* message;  /* whole: "field[index] is value, expected what was expected" */
  const char* field;    /* argument, array or struct member that is wrong */
  const char* value;    /* the bad value as text */
  const char* expected; /* the values that are accepted */
  int64_t index;        /* of the bad element, -1 if the field is no array */
  int32_t status;       /* tokkos_status of the failure */
  int32_t reserved;
  int64_t request; /* number of the request that is wrong or whose mask failed, else -1 */
} tokkos_error;
TOKKOS_API void tokkos_error_init(tokkos_error* error, size_t size);
/* Fills in the parts of this thread's latest failure. */
TOKKOS_API tokkos_status tokkos_last_error_parts(tokkos_error* error);

/* ---- version, Kokkos ---- */

TOKKOS_API const char* tokkos_version(void);  /* "major.minor.patch" of the library */
TOKKOS_API const char* tokkos_revision(void); /* git revision it was built from, or "unknown" */

/* 1: this library carries a Kokkos of its own, hidden in it. 0: it shares the process's. */
TOKKOS_API int tokkos_carries_kokkos(void);
/* 1: Kokkos is running because this library initialized it, which the first context does where
 * nobody else has. */
TOKKOS_API int tokkos_started_kokkos(void);
/* Finalizes Kokkos if this library initialized it, else does nothing. Objects may live on, to be
 * destroyed only; no context can be made any more in this process. What was not finalized is when
 * the process ends. Refused (TOKKOS_ERROR_INVALID_ARGUMENT) while another function of this library
 * runs: in a callback, or on another thread. */
TOKKOS_API tokkos_status tokkos_finalize(void);

/* ---- contexts: where the work is done ---- */

enum {
  TOKKOS_BACKEND_DEFAULT = 0, /* the most parallel one that the library was built with */
  TOKKOS_BACKEND_SERIAL = 1,
  TOKKOS_BACKEND_OPENMP = 2,
  TOKKOS_BACKEND_CUDA = 3,
  TOKKOS_BACKEND_HIP = 4
};

typedef struct tokkos_context tokkos_context;

/* Backend, stream and device of a context. */
typedef struct tokkos_context_options {
  size_t size;
  void* stream;       /* with has_stream: a cudaStream_t or hipStream_t (null is the default one) */
  int32_t has_stream; /* 0: the stream that Kokkos made for itself. Host backends have none */
  int32_t backend;    /* TOKKOS_BACKEND_* */
  int32_t device;     /* -1: the one that Kokkos takes, or has */
  int32_t num_threads; /* of host backends, 0: Kokkos decides; read where Kokkos is started here */
} tokkos_context_options;
TOKKOS_API void tokkos_context_options_init(tokkos_context_options* options, size_t size);

/* @param options may be null: defaults */
TOKKOS_API tokkos_status tokkos_context_create(const tokkos_context_options* options,
                                               tokkos_context** context);
TOKKOS_API tokkos_status tokkos_context_destroy(tokkos_context* context);
/* Waits for all that was launched on the context's stream. Host backends are done when they return.
 */
TOKKOS_API tokkos_status tokkos_context_fence(tokkos_context* context);
/* The backend that the context works on. */
TOKKOS_API tokkos_status tokkos_context_backend(const tokkos_context* context, int32_t* backend);

/* ---- arrays ---- */

enum {
  TOKKOS_FLOAT32 = 1,
  TOKKOS_BFLOAT16 = 2,
  TOKKOS_FLOAT16 = 3,
  TOKKOS_INT32 = 4,
  TOKKOS_INT64 = 5
};

enum { TOKKOS_ARRAY_READ_ONLY = 1 };

/* Memory of the caller's, on the context's device: [shape[0]] or [shape[0], shape[1]]. The elements
 * of a row lie side by side; rows may be padded. */
typedef struct tokkos_array {
  void* data;         /* its first element */
  int64_t shape[2];   /* rows and columns, or the number of elements */
  int64_t strides[2]; /* in elements; 0: without gaps */
  int32_t type;       /* TOKKOS_FLOAT32, ... */
  int32_t ndim;       /* 1 or 2 */
  int32_t flags;      /* TOKKOS_ARRAY_READ_ONLY: refused where it would be written */
  int32_t reserved;
} tokkos_array;

static inline tokkos_array tokkos_vector(void* data, int32_t type, int64_t count) {
  tokkos_array array = {NULL, {0, 0}, {0, 0}, 0, 1, 0, 0};
  array.data = data;
  array.type = type;
  array.shape[0] = count;
  return array;
}

/* @param row_stride elements from a row to the next, 0: columns */
static inline tokkos_array tokkos_matrix(void* data, int32_t type, int64_t rows, int64_t columns,
                                         int64_t row_stride) {
  tokkos_array array = {NULL, {0, 0}, {0, 0}, 0, 2, 0, 0};
  array.data = data;
  array.type = type;
  array.shape[0] = rows;
  array.shape[1] = columns;
  array.strides[0] = row_stride;
  return array;
}

/* What a pointer that tokkos_array_from_dlpack gets points to. */
enum {
  TOKKOS_DLPACK_TENSOR = 0,   /* DLTensor */
  TOKKOS_DLPACK_MANAGED = 1,  /* DLManagedTensor, a capsule named "dltensor" */
  TOKKOS_DLPACK_VERSIONED = 2 /* DLManagedTensorVersioned, a capsule named "dltensor_versioned" */
};

/* A DLPack tensor as an array, without a copy. It is not consumed: whoever owns it keeps it alive,
 * and calls its deleter, when the work is done.
 * @param context its device is what the tensor's must be
 * @param tensor DLPack 1.x, of one or two dimensions; see `kind`
 * @param name how errors call it: "logits.strides[1] is 2, expected ..."; null: "tensor"
 * Errors name the field that was wrong: version, dtype, ndim, shape, strides, device, byte_offset,
 * data. TOKKOS_ERROR_UNSUPPORTED where the library was built without DLPack. */
TOKKOS_API tokkos_status tokkos_array_from_dlpack(const tokkos_context* context, const void* tensor,
                                                  int32_t kind, const char* name,
                                                  tokkos_array* array);
/* What to ask a producer for: `__dlpack__(stream=...)`, so that its work is ordered before the
 * context's. has_stream 0: None, as on hosts. */
TOKKOS_API tokkos_status tokkos_context_dlpack_stream(const tokkos_context* context,
                                                      int32_t* has_stream, int64_t* stream);
/* The device of the context's memory as DLPack numbers it. */
TOKKOS_API tokkos_status tokkos_context_dlpack_device(const tokkos_context* context,
                                                      int32_t* device_type, int32_t* device_id);

/* ---- what a request has behind it ---- */

/* The tokens of one request: its prompt, and what was generated since. Drafts do not belong here.
 */
typedef struct tokkos_history tokkos_history;
TOKKOS_API tokkos_status tokkos_history_create(const int32_t* prompt, size_t prompt_count,
                                               tokkos_history** history);
TOKKOS_API tokkos_status tokkos_history_destroy(tokkos_history* history);
/* Appends a generated token. */
TOKKOS_API tokkos_status tokkos_history_commit(tokkos_history* history, int32_t token);
/* Takes back the last `count` generated tokens. */
TOKKOS_API tokkos_status tokkos_history_rollback(tokkos_history* history, size_t count);
/* The tokens live until the history changes. */
TOKKOS_API tokkos_status tokkos_history_prompt(const tokkos_history* history,
                                               const int32_t** tokens, size_t* count);
/* The tokens that were generated; they live until the history changes. */
TOKKOS_API tokkos_status tokkos_history_generated(const tokkos_history* history,
                                                  const int32_t** tokens, size_t* count);
/* How often the token was generated. */
TOKKOS_API tokkos_status tokkos_history_count(const tokkos_history* history, int32_t token,
                                              int32_t* count);

/* A grammar of the caller's. The callbacks are called on the thread that calls Tokkos, and may
 * throw C++ exceptions where they are C++: that is a failure too. After one the mask stands where
 * it stood (as far as its rollback works), and nothing was written. A failure names the request, of
 * several with one mask the last. */
typedef struct tokkos_mask tokkos_mask;
/* What a grammar can do. */
typedef struct tokkos_mask_callbacks {
  size_t size;
  void* user; /* first argument of each */
  /* 1: the next token is constrained, 0: it is not, negative: failure. Null: always constrained. */
  int32_t (*is_constrained)(void* user);
  /* Sets bit (v & 31) of words[v >> 5] for every token v that may come next; the words are 0 on
   * entry, bits past the vocabulary are ignored. 0: done, else failure. Not null. */
  int32_t (*fill)(void* user, int32_t* words, size_t word_count);
  /* Moves on by one token. 1: done, 0: the grammar refuses it and stays, negative: failure. Not
   * null. */
  int32_t (*accept)(void* user, int32_t token);
  /* Takes back the last `count` accepted tokens. 0: done, else failure. Not null. */
  int32_t (*rollback)(void* user, int32_t count);
  /* Called when the mask is destroyed. May be null. */
  void (*destroy)(void* user);
} tokkos_mask_callbacks;
TOKKOS_API void tokkos_mask_callbacks_init(tokkos_mask_callbacks* callbacks, size_t size);
TOKKOS_API tokkos_status tokkos_mask_create(const tokkos_mask_callbacks* callbacks,
                                            tokkos_mask** mask);
TOKKOS_API tokkos_status tokkos_mask_destroy(tokkos_mask* mask);
/* Has the mask accept a generated token; TOKKOS_ERROR_INVALID_ARGUMENT if it refuses it. */
TOKKOS_API tokkos_status tokkos_mask_accept(tokkos_mask* mask, int32_t token);
/* Has the mask take back the last `count` accepted tokens. */
TOKKOS_API tokkos_status tokkos_mask_rollback(tokkos_mask* mask, int32_t count);

/* Commits tokens to a history and its mask (may be null): all of them to both, or none. */
TOKKOS_API tokkos_status tokkos_commit(tokkos_history* history, tokkos_mask* mask,
                                       const int32_t* tokens, size_t count);

/* ---- a step: what its requests want ---- */

/* What is added to the logit of a token. */
typedef struct tokkos_token_bias {
  double bias;   /* finite as float32, or -infinity to forbid the token */
  int32_t token; /* whose logit it is */
  int32_t reserved;
} tokkos_token_bias;

/* Some tokens. */
typedef struct tokkos_token_list {
  const int32_t* tokens; /* [count] */
  size_t count;
} tokkos_token_list;

enum {
  TOKKOS_PENALTY_SEED = 0,
  TOKKOS_PENALTY_OPENAI = 1,
  TOKKOS_PENALTY_HUGGING_FACE = 2,
  TOKKOS_PENALTY_LLAMA_CPP = 3
};

/* How one request wants its tokens chosen: tokkos::GenerationConfig, whose header says more. */
typedef struct tokkos_generation_config {
  size_t size;
  float temperature;            /* finite, >= 0; at most 1e-5 is greedy. 1 */
  int32_t top_k;                /* 0: off */
  float top_p;                  /* in (0, 1], 1: off */
  float min_p;                  /* in [0, 1], 0: off */
  float presence_penalty;       /* finite. 0 */
  float frequency_penalty;      /* finite. 0 */
  float repetition_penalty;     /* finite, > 0. 1 */
  int32_t penalty_policy;       /* TOKKOS_PENALTY_* */
  int32_t penalty_window;       /* of policy llama.cpp: last tokens that count, -1: all. 64 */
  int32_t min_tokens;           /* end_token_ids may not come before as many were generated. 0 */
  int32_t no_repeat_ngram_size; /* 0: off */
  int32_t reserved;
  const tokkos_token_bias* logit_bias; /* added in this order */
  size_t logit_bias_count;
  const int32_t* allowed_token_ids; /* the only tokens that may come; none: every token may */
  size_t allowed_token_count;
  const int32_t* banned_token_ids; /* tokens that never come */
  size_t banned_token_count;
  const int32_t* end_token_ids; /* see min_tokens */
  size_t end_token_count;
  const tokkos_token_list* bad_words; /* sequences that may not come */
  size_t bad_word_count;
  uint64_t seed;      /* key of the request's random stream */
  uint32_t stream;    /* with has_stream: number of that stream, any */
  int32_t has_stream; /* 0: the hash of the request's id. 1: `stream`, and the id may be null */
} tokkos_generation_config;
TOKKOS_API void tokkos_generation_config_init(tokkos_generation_config* config, size_t size);

/* A draft tree as engines keep it by links, those of xgrammar and SGLang as they are (candidates,
 * retrive_next_token, retrive_next_sibling: one tree's part of each), on the host. Node 0 is the
 * root, the last committed token, whose own token is not read; -1 is no node. Siblings are tried in
 * the order of their links. */
typedef struct tokkos_tree_links {
  size_t size;
  const void* draft_tokens; /* [count] */
  const void* first_child;  /* [count] */
  const void* next_sibling; /* [count] -1 at the root */
  size_t count;             /* nodes, the root included: at least 1 */
  int32_t type;             /* of all three: TOKKOS_INT32 or TOKKOS_INT64. TOKKOS_INT32 */
  int32_t reserved;
} tokkos_tree_links;
TOKKOS_API void tokkos_tree_links_init(tokkos_tree_links* links, size_t size);

/* Draft tokens; parents[i] is the node that node i follows, -1: the last committed token. */
typedef struct tokkos_draft_tree {
  size_t size;
  const int32_t* token_ids; /* [count] */
  const int32_t* parents;   /* [count] */
  size_t count;
  const int32_t* trial_order; /* [count] every node once, in the order in which siblings are tried;
                                 null: in that of their numbers */
  const tokkos_tree_links* links; /* instead of all of these, which are null or 0 then: node i of
                                     the links is node i - 1 here, in draft_nodes and in results */
} tokkos_draft_tree;
TOKKOS_API void tokkos_draft_tree_init(tokkos_draft_tree* tree, size_t size);

/* One request of a step: what it wants, and what it has behind it. */
typedef struct tokkos_request {
  size_t size;
  const tokkos_generation_config* config; /* null: defaults */
  const tokkos_history* history;          /* null: nothing behind it */
  tokkos_mask* mask;                      /* null: none; left as it was found */
  const char* id; /* names its random stream; null: needs config->stream or uniforms */
  const tokkos_draft_tree* draft_tree; /* null: no drafts */
  const int32_t* draft_nodes; /* [rows] the node whose distribution each row is, -1: the last
                                 committed token; null: all -1 */
  int64_t rows;               /* of the logits, behind those of the request before. 1 */
} tokkos_request;
TOKKOS_API void tokkos_request_init(tokkos_request* request, size_t size);

/* One row while its edits are made; valid during the callback. */
typedef struct tokkos_row_edits tokkos_row_edits;
/* Which row that is, and what stands before it. */
typedef struct tokkos_row_place {
  size_t size;
  size_t request;           /* number of the request */
  int64_t row;              /* of the logits */
  const int32_t* prompt;    /* the tokens before the row's next one: */
  size_t prompt_count;      /* prompt, generated, */
  const int32_t* generated; /* and the path to its draft node */
  size_t generated_count;
  const int32_t* drafts; /* see above */
  size_t draft_count;
  int32_t draft_node; /* -1: behind the last committed token */
  int32_t reserved;
} tokkos_row_place;
TOKKOS_API void tokkos_row_place_init(tokkos_row_place* place, size_t size);
/* Fills in which row it is. */
TOKKOS_API tokkos_status tokkos_row_edits_place(const tokkos_row_edits* edits,
                                                tokkos_row_place* place);
/* Adds to the token's logit, after logit_bias and before penalties and mask; -infinity forbids it.
 */
TOKKOS_API tokkos_status tokkos_row_edits_add_bias(tokkos_row_edits* edits, int32_t token,
                                                   double bias);

/* The requests of one step. Request i owns the rows behind those of request i - 1. */
typedef struct tokkos_step {
  size_t size;
  const tokkos_request* requests; /* [request_count], all of the same `size` */
  size_t request_count;
  /* Edits of the caller's, called on the host for every row in order before anything is written.
   * 0: done, else failure. Null: none. */
  int32_t (*edit_hook)(void* user, tokkos_row_edits* edits);
  void* edit_hook_user; /* first argument of edit_hook */
} tokkos_step;
TOKKOS_API void tokkos_step_init(tokkos_step* step, size_t size);

enum { TOKKOS_TIES_UNIFORM = 0, TOKKOS_TIES_LOWEST_ID = 1 };

/* How a step draws and masks. */
typedef struct tokkos_step_options {
  size_t size;
  const float*
      uniforms; /* [uniform_count] one for each row, in [0, 1), on the host; none: Philox */
  size_t uniform_count;
  int32_t ties;       /* of greedy rows with equal maxima: TOKKOS_TIES_* */
  int32_t store_mask; /* 1: masked logits are also stored, as -FLT_MAX or -infinity */
} tokkos_step_options;
TOKKOS_API void tokkos_step_options_init(tokkos_step_options* options, size_t size);

/* The arrays of a step: what it writes, of which null is not computed, and the one array that it
 * reads beside the logits. n rows, V columns, N <= 128 listed tokens. */
typedef struct tokkos_step_outputs {
  size_t size;
  const tokkos_array* probabilities;           /* [n, V] float32; may be exactly the logits */
  const tokkos_array* tokens;                  /* [n] int32, -1 for an unusable row */
  const tokkos_array* truncated_probabilities; /* [n, V] float32 */
  const tokkos_array* logprobs;                /* [n] float32, of the tokens */
  const tokkos_array* top_tokens;              /* [n, N] int32, with top_logprobs */
  const tokkos_array* top_logprobs;            /* [n, N] float32 */
  const tokkos_array* raw_logprobs;            /* [n] float32, before edits, at temperature 1 */
  const tokkos_array* raw_top_tokens;          /* [n, N] int32, with raw_top_logprobs */
  const tokkos_array* raw_top_logprobs;        /* [n, N] float32 */
  const tokkos_array* log_sum_exp;             /* [n] float32 */
  const tokkos_array* row_status;              /* [n] int32, ORed into: clear it between steps */
  /* Read: masks that lie on the device already. What a request forbids by its mask or
   * allowed_token_ids is forbidden as well. [m, w] int32, w >= active vocabulary / 32, rounded up:
   * bit (v & 31) of word v >> 5 is 1 if token v may come. Not together with store_mask. Null: every
   * token may */
  const tokkos_array* bitmask;
  const tokkos_array* bitmask_row_index; /* [n] int32, read: row of bitmask for each row, -1: none,
                                            other numbers: TOKKOS_ROW_INVALID_PARAMETER; null: row i
                                            has row i, and m >= n */
} tokkos_step_outputs;
TOKKOS_API void tokkos_step_outputs_init(tokkos_step_outputs* outputs, size_t size);

/* Work of the caller's between the edits of a step and all that reads them. */
typedef struct tokkos_logit_hook {
  size_t size;
  /* @param stream of the context, on which to launch (null on hosts)
   * @param logits edited, not yet masked; may be changed in place
   * 0: done, else failure: the logits are edited then, and the step is not prepared any more. */
  int32_t (*call)(void* user, void* stream, const tokkos_array* logits);
  void* user; /* first argument of call */
} tokkos_logit_hook;
TOKKOS_API void tokkos_logit_hook_init(tokkos_logit_hook* hook, size_t size);

enum {
  TOKKOS_ROW_NAN_LOGIT = 1,
  TOKKOS_ROW_POSITIVE_INFINITY = 2,
  TOKKOS_ROW_EMPTY = 4,
  TOKKOS_ROW_ZERO_RESIDUAL = 8,
  TOKKOS_ROW_INVALID_DRAFT = 16,
  TOKKOS_ROW_BROKEN_TREE = 32,
  TOKKOS_ROW_INVALID_EDIT = 64,
  TOKKOS_ROW_INVALID_PARAMETER = 128,
  TOKKOS_ROW_INVALID_PROBABILITY = 256
};
/* Names of the bits that are set, joined by '+', "ok" for 0, cut to `capacity` with its final 0.
 * @param length gets how long the whole text is; may be null */
TOKKOS_API tokkos_status tokkos_row_status_names(int32_t row_status, char* text, size_t capacity,
                                                 size_t* length);

/* ---- processing: from logits to probabilities and tokens ---- */

/* From logits to probabilities and tokens: tokkos::LogitProcessor. */
typedef struct tokkos_processor tokkos_processor;
/* Sizes of processors, samplers, scorers and verifiers. */
typedef struct tokkos_limits {
  size_t size;
  int64_t max_rows;          /* most rows of one call; of a verifier: nodes, roots included */
  int64_t vocabulary;        /* V, the row length of the logits */
  int64_t active_vocabulary; /* tokens at or past it do not exist; 0: V. Below 2^19 */
  int64_t max_edits;         /* of a processor: most biases and penalties of a step; 0: no limit */
} tokkos_limits;
TOKKOS_API void tokkos_limits_init(tokkos_limits* limits, size_t size);

TOKKOS_API tokkos_status tokkos_processor_create(const tokkos_context* context,
                                                 const tokkos_limits* limits,
                                                 tokkos_processor** processor);
TOKKOS_API tokkos_status tokkos_processor_destroy(tokkos_processor* processor);

/* Edits in place, then one read of the logits with mask and temperature, then what the outputs ask
 * for. Asynchronous on the context's stream.
 * @param logits [n, V] float32, bfloat16 or float16, edited in place
 * @param options, hook may be null */
TOKKOS_API tokkos_status tokkos_processor_process(tokkos_processor* processor,
                                                  const tokkos_array* logits,
                                                  const tokkos_step* step,
                                                  const tokkos_step_outputs* outputs,
                                                  const tokkos_step_options* options,
                                                  const tokkos_logit_hook* hook);
/* The same in two halves, so that the first overlaps the model: it flattens the requests, which may
 * go when it returns, and uploads them; the second launches. It draws for every row, whatever the
 * outputs will be: without uniforms each request needs a history, and an id or a stream number. A
 * step that was prepared and not processed is dropped by the next prepare, also by one that is
 * refused. */
TOKKOS_API tokkos_status tokkos_processor_prepare(tokkos_processor* processor, int64_t rows,
                                                  const tokkos_step* step,
                                                  const tokkos_step_options* options);
/* The second half. */
TOKKOS_API tokkos_status tokkos_processor_process_prepared(tokkos_processor* processor,
                                                           const tokkos_array* logits,
                                                           const tokkos_step_outputs* outputs,
                                                           const tokkos_logit_hook* hook);
/* The seed's two calls: bias, penalties and mask in place; then softmax with temperature.
 * @param row_status may be null */
TOKKOS_API tokkos_status tokkos_processor_update_logits(tokkos_processor* processor,
                                                        const tokkos_array* logits,
                                                        const tokkos_step* step,
                                                        const tokkos_array* row_status);
/* The second of the two. @param row_status may be null */
TOKKOS_API tokkos_status tokkos_processor_compute_probabilities(tokkos_processor* processor,
                                                                const tokkos_array* logits,
                                                                const tokkos_step* step,
                                                                const tokkos_array* probabilities,
                                                                const tokkos_array* row_status);

/* ---- sampling ---- */

/* Draws tokens: tokkos::Sampler. */
typedef struct tokkos_sampler tokkos_sampler;
TOKKOS_API tokkos_status tokkos_sampler_create(const tokkos_context* context,
                                               const tokkos_limits* limits,
                                               tokkos_sampler** sampler);
TOKKOS_API tokkos_status tokkos_sampler_destroy(tokkos_sampler* sampler);
/* Draws a token for each row of edited logits. @param options, row_status may be null; store_mask
 * is not read */
TOKKOS_API tokkos_status tokkos_sampler_sample_logits(
    tokkos_sampler* sampler, const tokkos_array* logits, const tokkos_step* step,
    const tokkos_array* tokens, const tokkos_step_options* options, const tokkos_array* row_status);
/* @param probabilities [n, V] float32
 * @param uniforms [uniform_count] one for each row, in [0, 1), on the host */
TOKKOS_API tokkos_status tokkos_sampler_sample_probabilities(
    tokkos_sampler* sampler, const tokkos_array* probabilities, const float* uniforms,
    size_t uniform_count, const tokkos_array* tokens, const tokkos_array* row_status);
/* The uniforms that a step draws with where none are given: one for each row, on the host. */
TOKKOS_API tokkos_status tokkos_step_uniforms(const tokkos_step* step, float* uniforms,
                                              size_t count);
/* The uniform to draw a draft node with: independent of those of steps, of verification and of the
 * node's siblings.
 * @param request its seed, and its stream number or id
 * @param position tokens that the request has generated, plus the node's depth, from 1 on
 * @param node number of the node in the request's tree
 * @param uniform written, in [0, 1) */
TOKKOS_API tokkos_status tokkos_draft_uniform(const tokkos_request* request, uint32_t position,
                                              uint32_t node, float* uniform);
/* Checks a step as every call that takes one does, but for max_edits, and does nothing else: a
 * request alone, before it joins others, whose step it must not spoil. Of steps with drafts it
 * holds a number for each row: an engine knows how many rows it has. @param vocabulary V of the
 * processor */
TOKKOS_API tokkos_status tokkos_step_validate(const tokkos_step* step, int64_t vocabulary);

/* ---- masks in arrays, stored in logits ---- */

/* Masks rows of logits in place: tokkos::apply_bitmask_inplace. Behind update_logits, and before a
 * sampler or greedy verification reads them. */
typedef struct tokkos_row_masks {
  size_t size;
  const tokkos_array* bitmask;    /* [m, w] int32, as of tokkos_step_outputs */
  const tokkos_array* seq_ids;    /* [s] int32, rows of the logits that are masked, each once */
  const tokkos_array* mask_rows;  /* [s] int32, row of bitmask for each of them; null: seq_ids */
  int64_t active_vocabulary;      /* tokens at or past it are masked too; 0: V */
  const tokkos_array* row_status; /* [n] int32, ORed into; may be null */
} tokkos_row_masks;
TOKKOS_API void tokkos_row_masks_init(tokkos_row_masks* masks, size_t size);
/* Sets what the masks forbid to -FLT_MAX (16 bits: -infinity). Asynchronous on the context's
 * stream. A row outside the logits is left out; one that has no row in the bitmask is masked whole,
 * TOKKOS_ROW_INVALID_EDIT.
 * @param logits [n, V] float32, bfloat16 or float16 */
TOKKOS_API tokkos_status tokkos_apply_bitmask(tokkos_context* context, const tokkos_array* logits,
                                              const tokkos_row_masks* masks);

/* ---- scoring: rows of logits as they are ---- */

/* Reads rows of logits without editing them: log-probabilities of given tokens (a prompt's, or
 * those of accepted drafts), the most likely tokens, several draws of each row. */
typedef struct tokkos_scorer tokkos_scorer;
/* @param limits max_rows is the most rows of one call; max_edits is not used */
TOKKOS_API tokkos_status tokkos_scorer_create(const tokkos_context* context,
                                              const tokkos_limits* limits, tokkos_scorer** scorer);
TOKKOS_API tokkos_status tokkos_scorer_destroy(tokkos_scorer* scorer);

/* What is read of n rows, and what is written. All of it lies on the device: what only the data
 * shows ends in row_status. A row of the logits or of the bitmask that is not there, and a
 * parameter that is no legal number, are TOKKOS_ROW_INVALID_PARAMETER; so is a uniform that is NaN,
 * which spoils the row's draws alone (others outside [0, 1) are clamped); a given token below -1 or
 * past the vocabulary is TOKKOS_ROW_INVALID_DRAFT. */
typedef struct tokkos_score {
  size_t size;
  const tokkos_array* row_index;   /* [n] int32, row of the logits for each; null: n is all rows */
  const tokkos_array* temperature; /* [n], or [1] for all rows, float32; null: 1 */
  const tokkos_array* top_k;       /* [n] or [1] int32, 0: off; null: off */
  const tokkos_array* top_p;       /* [n] or [1] float32, 1: off; null: off */
  const tokkos_array* min_p;       /* [n] or [1] float32, 0: off; null: off */
  const tokkos_array* bitmask;     /* [m, w] int32, as of tokkos_step_outputs; null: none */
  const tokkos_array* bitmask_row_index; /* [n] int32, row of bitmask for each of the n, which is
                                            not looked up through row_index; null: i has row i */
  const tokkos_array* given_tokens;      /* [n] or [n, k] int32, -1: no token */
  const tokkos_array* given_logprobs;    /* written, float32 of the shape of given_tokens */
  const tokkos_array* uniforms;          /* [n] or [n, d] float32 in [0, 1) */
  const tokkos_array* tokens;            /* drawn, int32 of the shape of uniforms; -1: unusable */
  const tokkos_array* top_tokens;        /* written, [n, N] int32, with top_logprobs; N <= 128 */
  const tokkos_array* top_logprobs;      /* written, [n, N] float32 */
  const tokkos_array* log_sum_exp;       /* written, [n] float32, of logits / temperature, all
                                            that the mask allows: before truncation */
  const tokkos_array* row_status;        /* [n] int32, ORed into: clear it between calls */
  int32_t ties;                          /* of greedy rows with equal maxima: TOKKOS_TIES_* */
  int32_t reserved;
} tokkos_score;
TOKKOS_API void tokkos_score_init(tokkos_score* score, size_t size);
/* Reads the logits once, and then what the results need of them. Log-probabilities and draws are of
 * the truncated rows where something truncates. Asynchronous on the context's stream.
 * @param logits [rows, V] float32, bfloat16 or float16; only read */
TOKKOS_API tokkos_status tokkos_scorer_score(tokkos_scorer* scorer, const tokkos_array* logits,
                                             const tokkos_score* score);

/* ---- verification of draft trees ---- */

/* Verifies draft trees: tokkos::DraftVerifier. */
typedef struct tokkos_verifier tokkos_verifier;
/* @param limits max_rows is the most nodes of a call, roots included */
TOKKOS_API tokkos_status tokkos_verifier_create(const tokkos_context* context,
                                                const tokkos_limits* limits,
                                                tokkos_verifier** verifier);
TOKKOS_API tokkos_status tokkos_verifier_destroy(tokkos_verifier* verifier);

/* What draft tokens were drawn from, and the uniforms. */
typedef struct tokkos_verify_options {
  size_t size;
  const tokkos_array* draft_probs; /* [m, V] float32 what tokens were drawn from; null: chosen */
  const int32_t* row_of_node;      /* [nodes] of draft_probs, -1: chosen; null: node i has row i */
  size_t row_of_node_count;
  const float* node_uniforms; /* [nodes] in [0, 1), roots' are not read; null: Philox */
  size_t node_uniform_count;
  const float* bonus_uniforms; /* [requests]; null together with node_uniforms */
  size_t bonus_uniform_count;
  int32_t without_replacement; /* 1: siblings that share a row were drawn from it without
                                  replacement */
  int32_t reserved;
} tokkos_verify_options;
TOKKOS_API void tokkos_verify_options_init(tokkos_verify_options* options, size_t size);

/* What verification says: made once, filled by each call. */
typedef struct tokkos_verified tokkos_verified;
TOKKOS_API tokkos_status tokkos_verified_create(tokkos_verified** verified);
TOKKOS_API tokkos_status tokkos_verified_destroy(tokkos_verified* verified);

/* What verification says about one request. */
typedef struct tokkos_verified_draft {
  size_t size;
  const int32_t* accepted_nodes; /* from the first after the committed tokens on */
  size_t accepted_count;
  const int32_t* tokens; /* to emit: those of the accepted nodes, then the bonus token */
  size_t token_count;
  int32_t bonus_token; /* -1 if unusable */
  int32_t status;      /* TOKKOS_ROW_* bits of the tree */
} tokkos_verified_draft;
TOKKOS_API void tokkos_verified_draft_init(tokkos_verified_draft* draft, size_t size);
/* Of how many requests it speaks. */
TOKKOS_API tokkos_status tokkos_verified_count(const tokkos_verified* verified, size_t* count);
/* Its arrays live until `verified` is filled again or destroyed. */
TOKKOS_API tokkos_status tokkos_verified_get(const tokkos_verified* verified, size_t request,
                                             tokkos_verified_draft* draft);

/* Verifies each request's draft tree by the lossless rule and draws its bonus token; waits for the
 * result. Nodes of the batch: of request after request the root, then its draft nodes.
 * @param model_probs [nodes, V] float32, the target's distribution after each node
 * @param step its trees; ids, seeds and histories for Philox. Masks are not read. Of a request that
 *        has more than one row, draft_nodes are -1, 0, 1, ... to the last node
 * @param options may be null: every draft was chosen, uniforms are Philox's */
TOKKOS_API tokkos_status tokkos_verifier_verify(tokkos_verifier* verifier,
                                                const tokkos_array* model_probs,
                                                const tokkos_step* step,
                                                const tokkos_verify_options* options,
                                                tokkos_verified* verified);
/* For greedy decoding: accepts the argmax at every node. @param logits [nodes, V] of any type */
TOKKOS_API tokkos_status tokkos_verifier_verify_greedy(tokkos_verifier* verifier,
                                                       const tokkos_array* logits,
                                                       const tokkos_step* step,
                                                       tokkos_verified* verified);
/* The uniforms that verification takes where none are given. */
TOKKOS_API tokkos_status tokkos_verify_uniforms(const tokkos_step* step, float* nodes,
                                                size_t node_count, float* bonus,
                                                size_t bonus_count);

/* What was tried and accepted at each depth, 1 first, since the verifier was made or reset. The
 * arrays live until its next call. */
typedef struct tokkos_acceptance {
  size_t size;
  const int64_t* tried;    /* [depth_count] */
  const int64_t* accepted; /* [depth_count] */
  size_t depth_count;
  int64_t trees; /* verified */
} tokkos_acceptance;
TOKKOS_API void tokkos_acceptance_init(tokkos_acceptance* acceptance, size_t size);
/* Fills in the counts. */
TOKKOS_API tokkos_status tokkos_verifier_acceptance(const tokkos_verifier* verifier,
                                                    tokkos_acceptance* acceptance);
/* Begins to count anew. */
TOKKOS_API tokkos_status tokkos_verifier_reset_acceptance(tokkos_verifier* verifier);

/* The seed's rule with the seed's arrays, all on the device: tokkos::batch_spec_verify.
 * Asynchronous; what is wrong in device data ends in tree_status. Not so a node in two trees, which
 * is found where nodes_per_tree, or a tree_begin that ascends, says whose each node is; without
 * them, what all trees that have it accept is unspecified. Indices are int32 or int64. */
typedef struct tokkos_seed_rule {
  size_t size;
  const tokkos_array* draft_probs;  /* [m, V] float32; null: every token was chosen */
  const tokkos_array* draft_tokens; /* [nodes] */
  const tokkos_array* model_probs;  /* [nodes, V] float32; rejected rows are rewritten */
  const tokkos_array* first_child;  /* [nodes] -1 for none; null with next_sibling: chains */
  const tokkos_array* next_sibling; /* [nodes] -1 for none */
  const tokkos_array* parent_ptr;  /* [batch] int32: roots on entry, last accepted node on return */
  const tokkos_array* uniforms;    /* [nodes] float32 */
  const tokkos_array* tree_status; /* [batch] int32, ORed into; may be null */
  const tokkos_array* draft_row;   /* [nodes] row of draft_probs, -1: chosen; may be null */
  const tokkos_array* tree_begin;  /* [batch + 1] first node of each tree; may be null */
  int64_t nodes_per_tree;          /* > 0: tree b owns the nodes [b n, (b + 1) n); else 0 */
} tokkos_seed_rule;
TOKKOS_API void tokkos_seed_rule_init(tokkos_seed_rule* arrays, size_t size);
/* Verifies by the seed's rule. */
TOKKOS_API tokkos_status tokkos_verify_seed_rule(tokkos_context* context,
                                                 const tokkos_seed_rule* arrays);

/* ---- defaults: structs that know the size they were compiled with ---- */

/* clang-format off */
#define TOKKOS_DEFAULT_OF(type)                                  \
  static inline type type##_default(void) {                      \
    type value;                                                  \
    type##_init(&value, sizeof value);                           \
    return value;                                                \
  }
/* clang-format on */
TOKKOS_DEFAULT_OF(tokkos_context_options)
TOKKOS_DEFAULT_OF(tokkos_mask_callbacks)
TOKKOS_DEFAULT_OF(tokkos_generation_config)
TOKKOS_DEFAULT_OF(tokkos_tree_links)
TOKKOS_DEFAULT_OF(tokkos_draft_tree)
TOKKOS_DEFAULT_OF(tokkos_request)
TOKKOS_DEFAULT_OF(tokkos_row_place)
TOKKOS_DEFAULT_OF(tokkos_step)
TOKKOS_DEFAULT_OF(tokkos_step_options)
TOKKOS_DEFAULT_OF(tokkos_step_outputs)
TOKKOS_DEFAULT_OF(tokkos_logit_hook)
TOKKOS_DEFAULT_OF(tokkos_limits)
TOKKOS_DEFAULT_OF(tokkos_row_masks)
TOKKOS_DEFAULT_OF(tokkos_score)
TOKKOS_DEFAULT_OF(tokkos_verify_options)
TOKKOS_DEFAULT_OF(tokkos_verified_draft)
TOKKOS_DEFAULT_OF(tokkos_acceptance)
TOKKOS_DEFAULT_OF(tokkos_seed_rule)
TOKKOS_DEFAULT_OF(tokkos_error)
#undef TOKKOS_DEFAULT_OF

#ifdef __cplusplus
}
#endif

#endif
