// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/batch/views.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tokkos::test {

/// An object of C that is destroyed with its owner.
template <class Handle, tokkos_status (*destroy)(Handle*)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : m_handle(std::exchange(other.m_handle, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(m_handle, other.m_handle);
    return *this;
  }
  ~Owned() { destroy(m_handle); }
  Handle* get() const { return m_handle; }
  Handle** put() { return &m_handle; }

 private:
  Handle* m_handle = nullptr;
};

using Context = Owned<tokkos_context, tokkos_context_destroy>;
using History = Owned<tokkos_history, tokkos_history_destroy>;
using Mask = Owned<tokkos_mask, tokkos_mask_destroy>;
using Processor = Owned<tokkos_processor, tokkos_processor_destroy>;
using SamplerOfC = Owned<tokkos_sampler, tokkos_sampler_destroy>;
using Scorer = Owned<tokkos_scorer, tokkos_scorer_destroy>;
using Verifier = Owned<tokkos_verifier, tokkos_verifier_destroy>;
using VerifiedOfC = Owned<tokkos_verified, tokkos_verified_destroy>;

/// Throws, with the text of the error, unless a call of C worked. On any thread.
inline void check_ok(tokkos_status status) {
  if (status != TOKKOS_OK) throw std::runtime_error(tokkos_last_error());
}

template <class ExecutionSpace>
std::int32_t backend_of() {
  const std::string_view name = ExecutionSpace::name();
  if (name == "Cuda") return TOKKOS_BACKEND_CUDA;
  if (name == "HIP") return TOKKOS_BACKEND_HIP;
  return name == "OpenMP" ? TOKKOS_BACKEND_OPENMP : TOKKOS_BACKEND_SERIAL;
}

/// A context on the backend of an execution space.
template <class ExecutionSpace>
Context context_on() {
  tokkos_context_options options = tokkos_context_options_default();
  options.backend = backend_of<ExecutionSpace>();
  Context context;
  check_ok(tokkos_context_create(&options, context.put()));
  return context;
}

inline tokkos_limits limits_of(std::int64_t rows, std::int64_t vocabulary,
                               std::int64_t active = 0) {
  tokkos_limits limits = tokkos_limits_default();
  limits.max_rows = rows;
  limits.vocabulary = vocabulary;
  limits.active_vocabulary = active;
  return limits;
}

inline SamplerOfC sampler_on(const Context& context, const tokkos_limits& limits) {
  SamplerOfC sampler;
  check_ok(tokkos_sampler_create(context.get(), &limits, sampler.put()));
  return sampler;
}

inline Scorer scorer_on(const Context& context, const tokkos_limits& limits) {
  Scorer scorer;
  check_ok(tokkos_scorer_create(context.get(), &limits, scorer.put()));
  return scorer;
}

inline Processor processor_on(const Context& context, const tokkos_limits& limits) {
  Processor processor;
  check_ok(tokkos_processor_create(context.get(), &limits, processor.put()));
  return processor;
}

inline Verifier verifier_on(const Context& context, const tokkos_limits& limits) {
  Verifier verifier;
  check_ok(tokkos_verifier_create(context.get(), &limits, verifier.put()));
  return verifier;
}

/// Room for what a verifier says.
inline VerifiedOfC no_results() {
  VerifiedOfC verified;
  check_ok(tokkos_verified_create(verified.put()));
  return verified;
}

template <class T>
constexpr std::int32_t type_of() {
  if (std::is_same_v<T, float>) return TOKKOS_FLOAT32;
  if (std::is_same_v<T, bfloat16>) return TOKKOS_BFLOAT16;
  if (std::is_same_v<T, float16>) return TOKKOS_FLOAT16;
  return std::is_same_v<T, std::int32_t> ? TOKKOS_INT32 : TOKKOS_INT64;
}

/// A View as an array of C.
template <class T, class Space>
tokkos_array array_of(const Matrix<T, Space>& view) {
  using Element = std::remove_const_t<T>;
  return tokkos_matrix(const_cast<Element*>(view.data()), type_of<Element>(),
                       static_cast<std::int64_t>(view.extent(0)),
                       static_cast<std::int64_t>(view.extent(1)),
                       static_cast<std::int64_t>(view.stride(0)));
}

template <class T, class Space>
tokkos_array array_of(const Vector<T, Space>& view) {
  using Element = std::remove_const_t<T>;
  return tokkos_vector(const_cast<Element*>(view.data()), type_of<Element>(),
                       static_cast<std::int64_t>(view.extent(0)));
}

}  // namespace tokkos::test
