// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/backend.hpp"

#include <tokkos/core/error.hpp>

#include "interop/dlpack_import.hpp"
#include "interop/execution_space.hpp"
#include "interop/last_error.hpp"
#include "kernels/instantiate.hpp"

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace tokkos::interop {

namespace {

template <class ExecutionSpace>
class BackendOf final : public Backend {
 public:
  explicit BackendOf(ExecutionSpace space) : m_space(std::move(space)) {}

  std::int32_t number() const override { return backend_number<ExecutionSpace>(); }
  void wait() const override { m_space.fence("tokkos::context::fence"); }
  DlpackDevice device() const override { return dlpack_device_of(m_space); }
  std::optional<std::int64_t> dlpack_stream() const override { return dlpack_stream_of(m_space); }
  tokkos_array import_tensor(const void* tensor, std::int32_t kind,
                             const char* name) const override {
    return tokkos::interop::import_tensor(device(), tensor, kind, name);
  }

  std::unique_ptr<ProcessorPart> make_processor(const Limits& limits) const override {
    return tokkos::interop::make_processor(m_space, limits);
  }
  std::unique_ptr<SamplerPart> make_sampler(const Limits& limits) const override {
    return tokkos::interop::make_sampler(m_space, limits);
  }
  std::unique_ptr<ScorerPart> make_scorer(const Limits& limits) const override {
    return tokkos::interop::make_scorer(m_space, limits);
  }
  std::unique_ptr<VerifierPart> make_verifier(const Limits& limits) const override {
    return tokkos::interop::make_verifier(m_space, limits);
  }
  void apply_bitmask(const tokkos_array* logits, const tokkos_row_masks& masks) const override {
    tokkos::interop::apply_bitmask(m_space, logits, masks);
  }
  void verify_seed_rule(const tokkos_seed_rule& arrays) const override {
    tokkos::interop::verify_seed_rule(m_space, arrays);
  }

 private:
  ExecutionSpace m_space;
};

const char* backend_name(std::int32_t number) {
  switch (number) {
    case TOKKOS_BACKEND_SERIAL:
      return "Serial";
    case TOKKOS_BACKEND_OPENMP:
      return "OpenMP";
    case TOKKOS_BACKEND_CUDA:
      return "CUDA";
    default:
      return "HIP";
  }
}

/// The backend, if the options ask for this execution space.
template <class ExecutionSpace>
std::shared_ptr<const Backend> made_of(const tokkos_context_options& options) {
  const bool is_default = options.backend == TOKKOS_BACKEND_DEFAULT &&
                          std::is_same_v<ExecutionSpace, Kokkos::DefaultExecutionSpace>;
  if (!is_default && options.backend != backend_number<ExecutionSpace>()) return nullptr;
  return std::make_shared<BackendOf<ExecutionSpace>>(instance_of<ExecutionSpace>(options));
}

}  // namespace

std::shared_ptr<const Backend> make_backend(const tokkos_context_options& options) {
  std::shared_ptr<const Backend> backend;
#define TOKKOS_MAKE(Space) \
  if (!backend) backend = made_of<Space>(options);
  TOKKOS_FOR_EACH_SPACE(TOKKOS_MAKE)
#undef TOKKOS_MAKE
  if (backend) return backend;
  throw UnsupportedError(std::string("this library was built without the backend ") +
                         backend_name(options.backend));
}

}  // namespace tokkos::interop
