// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Kernels read and write inside the arrays only: here each array ends where the memory ends.
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "backends.hpp"
#include "kernels/page_end.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace tokkos::test;

template <class T, class Memory>
tokkos::Matrix<T, Memory> matrix_at_end(const auto& array, std::int64_t columns) {
  const auto rows = array.values().size() / static_cast<std::size_t>(columns);
  return tokkos::Matrix<T, Memory>(array.data(), Kokkos::LayoutStride(rows, columns, columns, 1));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("nothing is read or written past the last logit, word or number", "",
                        Backends) {
  using Logit = typename TestType::logit;
  using Memory = typename TestType::memory_space;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible) {
    const typename TestType::execution_space space;
    const std::int64_t vocabulary = GENERATE(1, 3, 31, 32, 33, 1000, 4095, 4096, 4097, 5001, 8193);
    const std::int64_t active = (vocabulary + 1) / 2;
    const std::int64_t words = (active + 31) / 32;
    CAPTURE(vocabulary);
    RandomValues random(static_cast<std::uint64_t>(vocabulary));
    std::vector<Logit> values;
    for (const float x : random.logits(2 * vocabulary)) values.push_back(tokkos::narrow<Logit>(x));
    values[0] = values[static_cast<std::size_t>(vocabulary)] = tokkos::narrow<Logit>(1.0f);
    std::vector<std::int32_t> bits = random.words(2 * words, 2);
    bits[0] |= 1;
    bits[static_cast<std::size_t>(words)] |= 1;
    const PageEnd<Logit> logits(values), masked(values);
    const PageEnd<std::int32_t> mask(bits), row_ids(std::vector<std::int32_t>{0, 1});
    const PageEnd<std::int32_t> status(std::vector<std::int32_t>(2)), tokens(status.values());
    const PageEnd<float> temperature(std::vector<float>{0.7f, 0.0f});
    const PageEnd<float> uniforms(std::vector<float>{0.99f, 0.99f});
    const PageEnd<float> out(std::vector<float>(static_cast<std::size_t>(2 * vocabulary), -1.0f));
    const auto vector = [](const auto& array) {
      using T = std::remove_pointer_t<decltype(array.data())>;
      return tokkos::vector_of<T, Memory>(array.data(), array.values().size());
    };
    tokkos::LogitRows<Logit, Memory> rows;
    rows.logits = matrix_at_end<const Logit, Memory>(logits, vocabulary);
    rows.temperature = vector(temperature);
    rows.bitmask.words = matrix_at_end<const std::int32_t, Memory>(mask, words);
    rows.active_vocabulary = active;
    const auto probabilities = matrix_at_end<float, Memory>(out, vocabulary);
    const tokkos::Workspace<Memory> workspace(2, vocabulary);
    const auto measures = workspace.measures(2);

    tokkos::measure(space, rows, measures, vector(status));
    tokkos::argmax(space, rows, measures, vector(tokens));
    tokkos::draw(space, rows, measures, vector(uniforms), vector(tokens), vector(status));
    tokkos::normalize(space, rows, measures, probabilities);
    space.fence("tokkos::test::ends");
    const std::vector<float> by_verbs(out.values().begin(), out.values().end());
    tokkos::softmax(space, rows, measures, probabilities, vector(status));
    tokkos::sample_from_probabilities(space, tokkos::Matrix<const float, Memory>(probabilities),
                                      vector(uniforms), vector(tokens), vector(status));
    tokkos::apply_bitmask_inplace(space, matrix_at_end<Logit, Memory>(masked, vocabulary),
                                  tokkos::Vector<const std::int32_t, Memory>(vector(row_ids)),
                                  rows.bitmask.words, {active, {}});
    space.fence("tokkos::test::ends");

    CHECK(std::ranges::equal(out.values(), by_verbs));
    double sum = 0.0;
    for (const float p : by_verbs) sum += p;
    CHECK(std::fabs(sum - 2.0) < 1e-5);
    CHECK(std::ranges::all_of(tokens.values(), [&](auto t) { return t >= 0 && t < active; }));
    CHECK(std::ranges::equal(status.values(), std::vector<std::int32_t>{0, 0}));
    const auto last =
        std::span(masked.values()).last(static_cast<std::size_t>(vocabulary - active));
    for (const Logit x : last) CHECK(tokkos::widen(x) <= tokkos::masked_logit);
  } else {
    SKIP("pages of host memory only");
  }
}
