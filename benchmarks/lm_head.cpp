// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// lm_head/type/rows/vocabulary/dN...: from hidden states of N numbers to tokens and log-sum-exps,
// beside whole rows of logits and the kernels that read them: dN in a fixed order, against whole
// rows by the same products and by KokkosBlas::gemm; dN_by_gemm by KokkosBlas::gemm on both sides;
// dN_edited with 256 penalized tokens and 300 biases on every row. outside_ratio: what a step takes
// outside its products against the other kernels on whole rows.

#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/lm_head/lm_head.hpp>

#include "case.hpp"
#include "inputs.hpp"
#include "kernel_seconds.hpp"
#include "register.hpp"
#include "selection.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tokkos::bench {

namespace {

/// Numbers in [-scale, scale), the same for the same place and seed.
template <LogitType T>
struct FillRows {
  Rows<T> rows;
  float scale;
  std::uint64_t seed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto width = static_cast<std::int64_t>(rows.extent(1));
    auto bits = (static_cast<std::uint64_t>(i) + seed) * 0x9E3779B97F4A7C15u;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9u;
    const float value = static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f;
    rows(i / width, i % width) = narrow<T>(scale * value);
  }
};

template <LogitType T>
Rows<T> filled(std::int64_t rows, std::int64_t width, float scale, std::uint64_t seed) {
  const Rows<T> values(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::bench::values"),
                       rows, width);
  Kokkos::parallel_for("tokkos::bench::fill",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, rows * width),
                       FillRows<T>{values, scale, seed});
  return values;
}

/// Hidden states, weights, and both ways from them to tokens.
template <LogitType Weight>
class HeadCase {
 public:
  HeadCase(std::int64_t rows, std::int64_t vocabulary, std::int64_t size, bool is_edited)
      // Of seeds apart: a hidden state that is a row of the weights has one token alone.
      : m_hidden(filled<float>(rows, size, 1.0f, std::uint64_t{1} << 40)),
        // Logits of deviation 2.5, as elsewhere.
        m_weight(
            filled<Weight>(vocabulary, size, 7.5f / Kokkos::sqrt(static_cast<float>(size)), 0)),
        m_temperature(make_temperatures(rows, 0.8f)),
        m_uniforms(make_uniforms(rows)),
        m_tokens("tokkos::bench::tokens", rows),
        m_log_sum_exp("tokkos::bench::log_sum_exp", rows),
        m_logits("tokkos::bench::logits", rows, vocabulary),
        m_workspace(rows, vocabulary) {
    if (is_edited) m_edits.emplace(rows, vocabulary, 256, 300);
  }

  LmHead<Space, Weight> head(LmHeadProduct product) const {
    return LmHead<Space, Weight>(Space(), m_weight, rows(), {.product = product});
  }

  void stream(const LmHead<Space, Weight>& head) const {
    LmHeadInputs<Memory> inputs;
    inputs.hidden = m_hidden;
    inputs.temperature = m_temperature;
    if (m_edits) {
      inputs.biases = m_edits->biases();
      inputs.penalties = m_edits->penalties();
    }
    LmHeadOutputs<Memory> outputs;
    outputs.uniforms = m_uniforms;
    outputs.tokens = m_tokens;
    outputs.log_sum_exp = m_log_sum_exp;
    head.process(inputs, outputs);
  }

  void multiply(const LmHead<Space, Weight>& head) const { head.logits(m_hidden, m_logits); }

  /// What follows the product, on whole rows.
  void read() const {
    const Space space;
    if (m_edits) {
      apply_edits(space, Matrix<float, Memory>(m_logits), m_edits->biases(), m_edits->penalties());
    }
    LogitRows<float, Memory> step;
    step.logits = m_logits;
    step.temperature = m_temperature;
    const auto measures = m_workspace.measures(rows());
    measure(space, step, measures);
    draw(space, step, measures, m_uniforms, m_tokens);
    log_sum_exp(space, step, measures, m_log_sum_exp);
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(m_hidden.extent(0)); }
  double weight_bytes() const { return static_cast<double>(m_weight.size()) * sizeof(Weight); }
  /// Memory of the way by whole rows.
  double whole_bytes() const {
    return static_cast<double>(m_logits.size()) * sizeof(float) +
           static_cast<double>(workspace_bytes(rows(), m_workspace.vocabulary()));
  }

 private:
  Rows<float> m_hidden;
  Rows<Weight> m_weight;
  Numbers<float> m_temperature;
  Numbers<float> m_uniforms;
  Numbers<TokenId> m_tokens;
  Numbers<float> m_log_sum_exp;
  Rows<float> m_logits;
  Workspace<Memory> m_workspace;
  std::optional<RowEdits> m_edits;
};

/// What a step takes outside its products (those of drawn chunks included), against what the other
/// kernels take on whole rows: the median of several.
template <LogitType Weight>
double outside_ratio(const HeadCase<Weight>& given, const LmHead<Space, Weight>& head) {
  std::array<double, 11> ratios;
  for (double& ratio : ratios) {
    const KernelSeconds own =
        seconds_of_kernels([&] { given.stream(head); }, "tokkos::lm_head::multiply");
    given.multiply(head);
    const KernelSeconds ordinary = seconds_of_kernels([&] { given.read(); }, "tokkos::");
    ratio = (own.all - own.named) / ordinary.all;
  }
  std::ranges::nth_element(ratios, ratios.begin() + ratios.size() / 2);
  return ratios[ratios.size() / 2];
}

template <LogitType Weight>
void time_head(benchmark::State& state, std::int64_t rows, std::int64_t vocabulary,
               std::int64_t size, const std::string& variant) {
  const bool by_gemm = variant == "_by_gemm";
  const HeadCase<Weight> given(rows, vocabulary, size, variant == "_edited");
  const auto head = given.head(by_gemm ? LmHeadProduct::gemm : LmHeadProduct::fixed_order);
  const auto gemm = given.head(LmHeadProduct::gemm);
  const auto whole = [&](const LmHead<Space, Weight>& product) {
    given.multiply(product);
    given.read();
  };
  std::vector<Rival> rivals;
  rivals.push_back({"whole_ratio", false, {[&] { whole(head); }}});
  // Shares of the own time: that of the product, and what the other kernels take on whole rows.
  rivals.push_back({"product_share", true, {[&] { given.multiply(head); }}});
  rivals.push_back({"ordinary_share", true, {[&] { given.read(); }}});
  if (!by_gemm) rivals.push_back({"gemm_speedup", true, {[&] { whole(gemm); }}});
  run_timed(state, given.weight_bytes(), {[&] { given.stream(head); }}, rivals);
  if (runs_on_host && !by_gemm) state.counters["outside_ratio"] = outside_ratio(given, head);
  state.counters["own_bytes"] = static_cast<double>(head.device_bytes());
  state.counters["whole_bytes"] = given.whole_bytes();
}

template <LogitType Weight>
void register_type() {
  for (const std::int64_t v : {32000, 128256}) {
    for (const std::int64_t n : {1, 16, 64, 256}) {
      for (const std::int64_t size : {1024, 4096}) {
        const std::int64_t iterations =
            std::clamp<std::int64_t>((std::int64_t{1} << 37) / (n * v * size), 11, 50);
        for (const std::string variant : {"", "_by_gemm", "_edited"}) {
          const std::string full = std::string("d").append(std::to_string(size)).append(variant);
          const std::string name = case_name("lm_head", type_name<Weight>(), n, v, full);
          add_benchmark(name, iterations, [=](benchmark::State& state) {
            time_head<Weight>(state, n, v, size, variant);
          });
        }
      }
    }
  }
}

}  // namespace

void register_lm_head() {
  register_type<float>();
  register_type<bfloat16>();
  register_type<float16>();
}

}  // namespace tokkos::bench
