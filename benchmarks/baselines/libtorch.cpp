// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "baselines/libtorch.hpp"

#ifdef TOKKOS_BENCH_HAS_LIBTORCH
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>
#endif

namespace tokkos::bench {

#ifdef TOKKOS_BENCH_HAS_LIBTORCH

std::string libtorch_version() {
  return TORCH_VERSION;
}

std::function<void()> softmax_by_libtorch(const Rows<float>& logits, float temperature,
                                          const Rows<float>& probabilities) {
  at::set_num_threads(Space().concurrency());
  const auto tensor_of = [](const Rows<float>& rows) {
    return at::from_blob(rows.data(), {static_cast<std::int64_t>(rows.extent(0)),
                                       static_cast<std::int64_t>(rows.extent(1))});
  };
  const at::Tensor from = tensor_of(logits);
  const at::Tensor divisor = at::scalar_tensor(temperature);
  at::Tensor scaled = at::empty_like(from);
  at::Tensor to = tensor_of(probabilities);
  return [=]() mutable {
    const c10::InferenceMode without_gradients;
    at::div_out(scaled, from, divisor);
    at::softmax_out(to, scaled, 1);
  };
}

#else

std::string libtorch_version() {
  return "not found";
}

std::function<void()> softmax_by_libtorch(const Rows<float>&, float, const Rows<float>&) {
  return {};
}

#endif

}  // namespace tokkos::bench
