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

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

/// One case in device memory, rows padded.
template <class Space, class Logit>
class RowsOnDevice {
 public:
  using Memory = MemoryOf<Space>;

  RowsOnDevice(const Space& space, const GoldenBatch& batch)
      : m_space(space),
        m_batch(batch),
        m_workspace(batch.rows, batch.vocabulary),
        m_measures(m_workspace.measures(batch.rows)),
        m_temperature(on_device<Memory>(std::vector<float>{batch.temperature})),
        m_words(on_device<Memory>(batch.bitmask, batch.words, 1, std::int32_t{-1})),
        m_mask_index(on_device<Memory>(batch.mask_index)),
        m_status("test::status", batch.rows),
        m_probabilities("test::probabilities", batch.rows, batch.vocabulary + padding) {
    m_rows.temperature = m_temperature;
    m_rows.active_vocabulary = batch.active;
    if (!batch.bitmask.empty()) {
      m_rows.bitmask.words = without_padding<const std::int32_t>(m_words, batch.words);
      m_rows.bitmask.row_index = m_mask_index;
    }
    store_logits();
  }

  void add_to(GoldenResults& results) {
    measure(m_space, m_rows, m_measures, m_status);
    add_pairs(results, "measure");
    add_tokens(results);
    add_log_sum_exp(results);
    normalize(m_space, m_rows, m_measures, probabilities());
    add_probabilities(results, "normalize");
    add_sampled(results);
    Kokkos::deep_copy(m_status, 0);
    softmax(m_space, m_rows, m_measures, probabilities(), m_status);
    add_probabilities(results, "softmax");
    add_pairs(results, "softmax");
    add_staged(results);
    if constexpr (std::same_as<Logit, float>) add_in_place(results);
  }

 private:
  static constexpr std::int64_t padding = 3;

  std::string name(const char* output) const {
    return std::string(output) + "/" + type_name<Logit>() + "/" + m_batch.name;
  }

  Matrix<float, Memory> probabilities() const {
    return without_padding<float>(m_probabilities, m_batch.vocabulary);
  }

  void store_logits() {
    m_logits = on_device<Memory>(cut_off<Logit>(m_batch.logits), m_batch.vocabulary, padding,
                                 cut_off<Logit>(0u));
    m_rows.logits = without_padding<const Logit>(m_logits, m_batch.vocabulary);
  }

  /// A matrix's values without its padding.
  template <class View>
  auto values_of(const View& matrix, std::int64_t columns) const {
    m_space.fence("tokkos::test::golden");
    const auto all = on_host(matrix);
    const std::int64_t stride = static_cast<std::int64_t>(matrix.extent(1));
    std::vector<typename View::non_const_value_type> values;
    values.reserve(static_cast<std::size_t>(m_batch.rows * columns));
    for (std::int64_t i = 0; i < m_batch.rows; ++i) {
      values.insert(values.end(), all.begin() + i * stride, all.begin() + i * stride + columns);
    }
    return values;
  }

  template <class View>
  void add_probabilities(GoldenResults& results, const View& view, const char* way) const {
    results.add(name("probabilities"), ResultHash().add(values_of(view, m_batch.vocabulary)), way);
  }
  void add_probabilities(GoldenResults& results, const char* way) const {
    add_probabilities(results, m_probabilities, way);
  }

  /// Chunk pairs, row totals and status.
  void add_pairs(GoldenResults& results, const char* way) const {
    const std::int64_t chunks = chunk_count(m_batch.active);
    ResultHash hash;
    hash.add(values_of(m_measures.chunk_maximum, chunks));
    hash.add(values_of(m_measures.chunk_sum, chunks));
    hash.add(on_host(m_measures.row_maximum)).add(on_host(m_measures.row_mass));
    results.add(name("pairs"), hash.add(on_host(m_status)), way);
  }

  void add_tokens(GoldenResults& results) const {
    const Kokkos::View<TokenId*, Memory> tokens("test::tokens", m_batch.rows);
    ResultHash hash;
    const auto n = static_cast<std::size_t>(m_batch.rows);
    for (const auto& uniforms :
         {m_batch.uniforms, std::vector<float>(n, 0.0f), std::vector<float>(n, 0x1.fffffep-1f)}) {
      const auto u = on_device<Memory>(uniforms);
      for (const GreedyTies ties : {GreedyTies::uniform, GreedyTies::lowest_id}) {
        draw(m_space, m_rows, m_measures, u, tokens, {}, ties);
        m_space.fence("tokkos::test::golden");
        hash.add(on_host(tokens));
      }
    }
    argmax(m_space, m_rows, m_measures, tokens);
    m_space.fence("tokkos::test::golden");
    results.add(name("tokens"), hash.add(on_host(tokens)));
  }

  void add_log_sum_exp(GoldenResults& results) const {
    const Kokkos::View<float*, Memory> result("test::log_sum_exp", m_batch.rows);
    log_sum_exp(m_space, m_rows, m_measures, result);
    m_space.fence("tokkos::test::golden");
    results.add(name("log_sum_exp"), ResultHash().add(on_host(result)));
  }

  void add_sampled(GoldenResults& results) const {
    const Kokkos::View<TokenId*, Memory> tokens("test::tokens", m_batch.rows);
    const Kokkos::View<std::int32_t*, Memory> status("test::status", m_batch.rows);
    const auto uniforms = on_device<Memory>(m_batch.uniforms);
    const Matrix<const float, Memory> given = probabilities();
    sample_from_probabilities(m_space, given, uniforms, tokens, status);
    m_space.fence("tokkos::test::golden");
    results.add(name("sampled"), ResultHash().add(on_host(tokens)).add(on_host(status)));
  }

  /// The seed's two stages.
  void add_staged(GoldenResults& results) const {
    using Buffer = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
    const std::int64_t chunks = chunk_count(m_batch.vocabulary);
    const Buffer sum("test::chunked_sum", m_batch.rows, chunks);
    const Buffer max("test::chunked_max", m_batch.rows, chunks);
    Kokkos::deep_copy(m_status, 0);
    chunk_lse(m_space, m_rows, sum, max, m_status);
    softmax_with_chunked_sum(m_space, m_rows, sum, max, probabilities(), m_status);
    ResultHash hash;
    hash.add(values_of(sum, chunks)).add(values_of(max, chunks));
    hash.add(values_of(m_probabilities, m_batch.vocabulary)).add(on_host(m_status));
    results.add(name("staged"), hash);
  }

  void add_in_place(GoldenResults& results) {
    const auto over_logits = without_padding<float>(m_logits, m_batch.vocabulary);
    softmax(m_space, m_rows, m_measures, over_logits);
    add_probabilities(results, m_logits, "softmax in place");
    m_space.fence("tokkos::test::golden");
    store_logits();
    const auto again = without_padding<float>(m_logits, m_batch.vocabulary);
    measure(m_space, m_rows, m_measures);
    normalize(m_space, m_rows, m_measures, again);
    add_probabilities(results, m_logits, "normalize in place");
  }

  Space m_space;
  const GoldenBatch& m_batch;
  Workspace<Memory> m_workspace;
  RowMeasures<Memory> m_measures;
  Kokkos::View<float*, Memory> m_temperature;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> m_words;
  Kokkos::View<std::int32_t*, Memory> m_mask_index;
  Kokkos::View<std::int32_t*, Memory> m_status;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_probabilities;
  Kokkos::View<Logit**, Kokkos::LayoutRight, Memory> m_logits;
  LogitRows<Logit, Memory> m_rows;
};

}  // namespace

void add_rows(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results]<class Space>(const Space& space) {
        for (const GoldenBatch& batch : golden_batches()) {
          RowsOnDevice<Space, float>(space, batch).add_to(results);
          RowsOnDevice<Space, bfloat16>(space, batch).add_to(results);
          RowsOnDevice<Space, float16>(space, batch).add_to(results);
        }
      },
      any);
}

}  // namespace tokkos::test
