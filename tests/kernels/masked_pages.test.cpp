// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Logits under mask words that allow nothing are not even loaded: here nobody may touch them.
#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "backends.hpp"
#include "kernels/page_end.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokkos::test {

TEMPLATE_LIST_TEST_CASE("logits under words that allow nothing are not loaded", "", Backends) {
  using Logit = typename TestType::logit;
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible) {
    SKIP("pages of host memory only");
  } else {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / sizeof(Logit);
    // Whole chunks, then a part of one; 16 chunks are shared by several threads.
    for (const std::size_t pages : {std::size_t{4}, std::size_t{7}, 16 * chunk_size / page}) {
      CAPTURE(pages);
      const std::size_t vocabulary = pages * page;
      std::vector<Logit> values;
      for (const float x : RandomValues(pages).logits(vocabulary)) {
        values.push_back(narrow<Logit>(x == x && x < 100.0f ? x : 0.0f));
      }
      std::vector<std::int32_t> bits(vocabulary / 32, 0x55555555);
      const PageEnd<Logit> logits(values), out_of_reach(values);
      for (std::size_t i = 1; i < pages; i += 2) {  // every second page
        for (std::size_t word = i * page / 32; word < (i + 1) * page / 32; ++word) bits[word] = 0;
        out_of_reach.forbid(i * page, page);
      }
      const PageEnd<std::int32_t> words(bits);
      const PageEnd<float> numbers(std::vector<float>{0.8f, 0.4f});
      const auto results_of = [&](const PageEnd<Logit>& given) {
        const Space space;
        LogitRows<Logit, Memory> rows;
        rows.logits = Matrix<const Logit, Memory>(
            given.data(), Kokkos::LayoutStride(1, vocabulary, vocabulary, 1));
        rows.temperature = vector_of<const float, Memory>(numbers.data(), 1);
        rows.bitmask.words = Matrix<const std::int32_t, Memory>(
            words.data(), Kokkos::LayoutStride(1, bits.size(), bits.size(), 1));
        const Workspace<Memory> workspace(1, static_cast<std::int64_t>(vocabulary));
        const auto measures = workspace.measures(1);
        std::vector<float> by_verbs(vocabulary), by_softmax(vocabulary);
        std::vector<TokenId> tokens(2);
        const auto row = [&](std::vector<float>& one) {
          return Matrix<float, Memory>(one.data(),
                                       Kokkos::LayoutStride(1, vocabulary, vocabulary, 1));
        };
        measure(space, rows, measures);
        argmax(space, rows, measures, vector_of<TokenId, Memory>(tokens.data(), 1));
        draw(space, rows, measures, vector_of<const float, Memory>(numbers.data() + 1, 1),
             vector_of<TokenId, Memory>(tokens.data() + 1, 1));
        normalize(space, rows, measures, row(by_verbs));
        softmax(space, rows, measures, row(by_softmax));
        space.fence("tokkos::test::masked_pages");
        CHECK(by_verbs == by_softmax);
        return std::pair(by_verbs, tokens);
      };
      const auto expected = results_of(logits);
      CHECK(expected.second[1] >= 0);
      CHECK(results_of(out_of_reach) == expected);
    }
  }
}

}  // namespace tokkos::test
