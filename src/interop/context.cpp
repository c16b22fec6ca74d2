// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/context.hpp"

#include <tokkos/core/error.hpp>

#include "interop/kokkos_runtime.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"

using namespace tokkos::interop;

namespace {

tokkos_context_options default_options() {
  tokkos_context_options options{};
  options.device = -1;
  return options;
}

}  // namespace

void tokkos_context_options_init(tokkos_context_options* options, size_t size) {
  initialize_struct(options, size, default_options());
}

tokkos_status tokkos_context_create(const tokkos_context_options* options,
                                    tokkos_context** context) {
  return guarded([&] {
    checked_result("context", context) = nullptr;
    const tokkos_context_options given =
        options == nullptr ? default_options() : read_struct("options", options, default_options());
    tokkos::require(given.backend >= TOKKOS_BACKEND_DEFAULT && given.backend <= TOKKOS_BACKEND_HIP,
                    "backend", std::nullopt, given.backend, "TOKKOS_BACKEND_*, 0 to 4");
    tokkos::require(given.has_stream == 0 || given.has_stream == 1, "has_stream", std::nullopt,
                    given.has_stream, "0 or 1");
    ensure_kokkos(given.device, given.num_threads);
    create(context, make_backend(given));
  });
}

tokkos_status tokkos_context_destroy(tokkos_context* context) {
  return guarded([&] { destroy("context", context); });
}

tokkos_status tokkos_context_fence(tokkos_context* context) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    check_kokkos_runs();
    alive.backend->wait();
  });
}

tokkos_status tokkos_context_backend(const tokkos_context* context, int32_t* backend) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    checked_result("backend", backend) = alive.backend->number();
  });
}

tokkos_status tokkos_context_dlpack_device(const tokkos_context* context, int32_t* device_type,
                                           int32_t* device_id) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    check_kokkos_runs();
    const tokkos::DlpackDevice device = alive.backend->device();
    int32_t& type = checked_result("device_type", device_type);
    checked_result("device_id", device_id) = device.id;
    type = device.type;
  });
}

tokkos_status tokkos_context_dlpack_stream(const tokkos_context* context, int32_t* has_stream,
                                           int64_t* stream) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    check_kokkos_runs();
    const std::optional<std::int64_t> asked = alive.backend->dlpack_stream();
    int64_t& number = checked_result("stream", stream);
    checked_result("has_stream", has_stream) = static_cast<std::int32_t>(asked.has_value());
    number = asked.value_or(0);
  });
}

tokkos_status tokkos_array_from_dlpack(const tokkos_context* context, const void* tensor,
                                       int32_t kind, const char* name, tokkos_array* array) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    check_kokkos_runs();
    tokkos_array& result = checked_result("array", array);
    result = alive.backend->import_tensor(tensor, kind, name == nullptr ? "tensor" : name);
  });
}
