// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything public: include this one, or the headers of the operations that are used.

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/owned_view.hpp>
#include <tokkos/batch/token_trees.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/batch/vocabulary_bitmask.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/core/logit_type.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/core/version.hpp>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/bfloat16.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/exact_sum.hpp>
#include <tokkos/numerics/float16.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>
#include <tokkos/numerics/philox.hpp>
#include <tokkos/numerics/portable_exp.hpp>
#include <tokkos/numerics/portable_log.hpp>
#include <tokkos/numerics/stored_logit.hpp>
#include <tokkos/numerics/wide_product.hpp>
#include <tokkos/request/draft_tree.hpp>
#include <tokkos/request/generation_config.hpp>
#include <tokkos/request/step_requests.hpp>
#include <tokkos/request/token_history.hpp>
#include <tokkos/request/vocabulary_mask.hpp>

#include <Kokkos_Core.hpp>
