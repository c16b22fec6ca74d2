// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/interop/dlpack_device.hpp>

#include "interop/engine_parts.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace tokkos::interop {

/// One instance of an execution space, whichever it is.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// TOKKOS_BACKEND_*
  virtual std::int32_t number() const = 0;
  virtual void wait() const = 0;
  virtual DlpackDevice device() const = 0;
  /// What to ask a producer of DLPack tensors for; none on hosts.
  virtual std::optional<std::int64_t> dlpack_stream() const = 0;
  /// Checks a DLPack tensor and describes it.
  virtual tokkos_array import_tensor(const void* tensor, std::int32_t kind,
                                     const char* name) const = 0;

  virtual std::unique_ptr<ProcessorPart> make_processor(const Limits& limits) const = 0;
  virtual std::unique_ptr<SamplerPart> make_sampler(const Limits& limits) const = 0;
  virtual std::unique_ptr<ScorerPart> make_scorer(const Limits& limits) const = 0;
  virtual std::unique_ptr<VerifierPart> make_verifier(const Limits& limits) const = 0;
  virtual void apply_bitmask(const tokkos_array* logits, const tokkos_row_masks& masks) const = 0;
  virtual void verify_seed_rule(const tokkos_seed_rule& arrays) const = 0;
};

/// The backend that the options ask for. Kokkos is initialized.
/// @throws Error if they are not valid, UnsupportedError if Kokkos was built without the backend
std::shared_ptr<const Backend> make_backend(const tokkos_context_options& options);

}  // namespace tokkos::interop
