// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/golden_rows_on_device.hpp"

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <variant>

namespace tokkos::test {

namespace {

/// Bytes of output from which on a host stores probabilities past its caches, or keeps a row's
/// weights in scratch until they go over the logits (large_output in src/kernels/softmax.cpp).
constexpr std::size_t large_output = std::size_t{16} << 20;

template <class Space, class Logit>
class LargeOutput {
 public:
  explicit LargeOutput(const Space& space) : m_space(space), m_on(space, golden_large_batch()) {
    const GoldenBatch& batch = golden_large_batch();
    const auto size = static_cast<std::size_t>(batch.rows * batch.vocabulary);
    if (size * sizeof(float) < large_output) throw std::logic_error("the output is not large");
  }

  void add_to(GoldenResults& results) {
    softmax(m_space, m_on.rows, m_on.measures, m_on.probabilities());
    add(results, m_on.stored_probabilities, "softmax");
    if constexpr (std::same_as<Logit, float>) {
      normalize(m_space, m_on.rows, m_on.measures, m_on.probabilities());
      add(results, m_on.stored_probabilities, "normalize");
      const auto over_logits = without_padding<float>(m_on.logits, m_on.batch.vocabulary);
      softmax(m_space, m_on.rows, m_on.measures, over_logits);
      add(results, m_on.logits, "softmax in place");
    }
  }

 private:
  template <class View>
  void add(GoldenResults& results, const View& view, const char* way) const {
    const auto values = m_on.values_of(view, m_on.batch.vocabulary);
    results.add(m_on.name("probabilities"), ResultHash().add(values), way);
  }

  Space m_space;
  GoldenRowsOnDevice<Space, Logit> m_on;
};

}  // namespace

void add_large_outputs(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results]<class Space>(const Space& space) {
        LargeOutput<Space, float>(space).add_to(results);
        LargeOutput<Space, bfloat16>(space).add_to(results);
        LargeOutput<Space, float16>(space).add_to(results);
      },
      any);
}

}  // namespace tokkos::test
