// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/golden_rows_on_device.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace tokkos::test {

namespace {

/// What the kernels say about one case.
template <class Space, class Logit>
class RowsResults {
 public:
  using Memory = MemoryOf<Space>;

  RowsResults(const Space& space, const GoldenBatch& batch)
      : m_space(space), m_batch(batch), m_on(space, batch) {}

  void add_to(GoldenResults& results) {
    measure(m_space, m_on.rows, m_on.measures, m_on.status);
    add_pairs(results, "measure");
    add_tokens(results);
    add_log_sum_exp(results);
    normalize(m_space, m_on.rows, m_on.measures, m_on.probabilities());
    add_probabilities(results, "normalize");
    add_sampled(results);
    Kokkos::deep_copy(m_on.status, 0);
    softmax(m_space, m_on.rows, m_on.measures, m_on.probabilities(), m_on.status);
    add_probabilities(results, "softmax");
    add_pairs(results, "softmax");
    add_staged(results);
    if constexpr (std::same_as<Logit, float>) add_in_place(results);
  }

 private:
  template <class View>
  void add_probabilities(GoldenResults& results, const View& view, const char* way) const {
    results.add(m_on.name("probabilities"),
                ResultHash().add(m_on.values_of(view, m_batch.vocabulary)), way);
  }
  void add_probabilities(GoldenResults& results, const char* way) const {
    add_probabilities(results, m_on.stored_probabilities, way);
  }

  /// Chunk pairs, row totals and status.
  void add_pairs(GoldenResults& results, const char* way) const {
    const std::int64_t chunks = chunk_count(m_batch.active);
    ResultHash hash;
    hash.add(m_on.values_of(m_on.measures.chunk_maximum, chunks));
    hash.add(m_on.values_of(m_on.measures.chunk_sum, chunks));
    hash.add(on_host(m_on.measures.row_maximum)).add(on_host(m_on.measures.row_mass));
    results.add(m_on.name("pairs"), hash.add(on_host(m_on.status)), way);
  }

  void add_tokens(GoldenResults& results) const {
    const Kokkos::View<TokenId*, Memory> tokens("test::tokens", m_batch.rows);
    ResultHash hash;
    const auto n = static_cast<std::size_t>(m_batch.rows);
    for (const auto& uniforms :
         {m_batch.uniforms, std::vector<float>(n, 0.0f), std::vector<float>(n, 0x1.fffffep-1f)}) {
      const auto u = on_device<Memory>(uniforms);
      for (const GreedyTies ties : {GreedyTies::uniform, GreedyTies::lowest_id}) {
        draw(m_space, m_on.rows, m_on.measures, u, tokens, {}, ties);
        m_space.fence("tokkos::test::golden");
        hash.add(on_host(tokens));
      }
    }
    argmax(m_space, m_on.rows, m_on.measures, tokens);
    m_space.fence("tokkos::test::golden");
    results.add(m_on.name("tokens"), hash.add(on_host(tokens)));
  }

  void add_log_sum_exp(GoldenResults& results) const {
    const Kokkos::View<float*, Memory> result("test::log_sum_exp", m_batch.rows);
    log_sum_exp(m_space, m_on.rows, m_on.measures, result);
    m_space.fence("tokkos::test::golden");
    results.add(m_on.name("log_sum_exp"), ResultHash().add(on_host(result)));
  }

  void add_sampled(GoldenResults& results) const {
    const Kokkos::View<TokenId*, Memory> tokens("test::tokens", m_batch.rows);
    const Kokkos::View<std::int32_t*, Memory> status("test::status", m_batch.rows);
    const auto uniforms = on_device<Memory>(m_batch.uniforms);
    const Matrix<const float, Memory> given = m_on.probabilities();
    sample_from_probabilities(m_space, given, uniforms, tokens, status);
    m_space.fence("tokkos::test::golden");
    results.add(m_on.name("sampled"), ResultHash().add(on_host(tokens)).add(on_host(status)));
  }

  /// The seed's two stages.
  void add_staged(GoldenResults& results) const {
    using Buffer = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
    const std::int64_t chunks = chunk_count(m_batch.vocabulary);
    const Buffer sum("test::chunked_sum", m_batch.rows, chunks);
    const Buffer max("test::chunked_max", m_batch.rows, chunks);
    Kokkos::deep_copy(m_on.status, 0);
    chunk_lse(m_space, m_on.rows, sum, max, m_on.status);
    softmax_with_chunked_sum(m_space, m_on.rows, sum, max, m_on.probabilities(), m_on.status);
    ResultHash hash;
    hash.add(m_on.values_of(sum, chunks)).add(m_on.values_of(max, chunks));
    hash.add(m_on.values_of(m_on.stored_probabilities, m_batch.vocabulary))
        .add(on_host(m_on.status));
    results.add(m_on.name("staged"), hash);
  }

  void add_in_place(GoldenResults& results) {
    const auto over_logits = without_padding<float>(m_on.logits, m_batch.vocabulary);
    softmax(m_space, m_on.rows, m_on.measures, over_logits);
    add_probabilities(results, m_on.logits, "softmax in place");
    m_space.fence("tokkos::test::golden");
    m_on.store_logits();
    const auto again = without_padding<float>(m_on.logits, m_batch.vocabulary);
    measure(m_space, m_on.rows, m_on.measures);
    normalize(m_space, m_on.rows, m_on.measures, again);
    add_probabilities(results, m_on.logits, "normalize in place");
  }

  Space m_space;
  const GoldenBatch& m_batch;
  GoldenRowsOnDevice<Space, Logit> m_on;
};

}  // namespace

void add_rows(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results]<class Space>(const Space& space) {
        for (const GoldenBatch& batch : golden_batches()) {
          RowsResults<Space, float>(space, batch).add_to(results);
          RowsResults<Space, bfloat16>(space, batch).add_to(results);
          RowsResults<Space, float16>(space, batch).add_to(results);
        }
      },
      any);
}

}  // namespace tokkos::test
