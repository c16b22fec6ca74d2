// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "backends.hpp"
#include "kernels/logit_block.hpp"
#include "sameness/flat_edits.hpp"
#include "sameness/random_requests.hpp"
#include "sameness/result_hash.hpp"
#include "sameness/shuffled_batches.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokkos::test {

namespace {

/// What a step says about each of its rows.
template <class Backend>
class StepRows {
 public:
  using Space = typename Backend::execution_space;
  using Memory = typename Backend::memory_space;

  StepRows(const Requests& requests, const std::vector<std::int64_t>& rows)
      : m_vocabulary(requests.vocabulary),
        m_rows(static_cast<std::int64_t>(rows.size())),
        block(logits_of(requests, rows), requests.vocabulary),
        probabilities("test::probabilities", m_rows, m_vocabulary),
        tokens("test::tokens", m_rows),
        truncated("test::truncated", m_rows, m_vocabulary),
        logprobs("test::logprobs", m_rows),
        top_tokens("test::top_tokens", m_rows, top),
        top_logprobs("test::top_logprobs", m_rows, top),
        log_sum_exp("test::log_sum_exp", m_rows),
        status("test::status", m_rows) {}

  std::vector<std::uint64_t> hashes() const {
    const auto patterns = block.patterns();
    const auto p = on_host(probabilities);
    const auto drawn = on_host(tokens);
    const auto lse = on_host(log_sum_exp);
    const auto bits = on_host(status);
    const auto kept = on_host(truncated);
    const auto logprob = on_host(logprobs);
    const auto most_likely = on_host(top_tokens);
    const auto most_likely_logprobs = on_host(top_logprobs);
    std::vector<std::uint64_t> hashes;
    for (std::int64_t i = 0; i < m_rows; ++i) {
      const auto row = [&](const auto& values, std::int64_t width) {
        return std::vector(values.begin() + i * width, values.begin() + (i + 1) * width);
      };
      ResultHash hash;
      hash.add(row(patterns, m_vocabulary)).add(row(p, m_vocabulary));
      hash.add(row(drawn, 1)).add(row(lse, 1)).add(row(bits, 1));
      hash.add(row(kept, m_vocabulary)).add(row(logprob, 1));
      hash.add(row(most_likely, top)).add(row(most_likely_logprobs, top));
      hashes.push_back(hash.value());
    }
    return hashes;
  }

 private:
  static std::vector<float> logits_of(const Requests& requests,
                                      const std::vector<std::int64_t>& rows) {
    std::vector<float> logits;
    for (const std::int64_t row : rows) {
      const auto begin = requests.logits.begin() + row * requests.vocabulary;
      logits.insert(logits.end(), begin, begin + requests.vocabulary);
    }
    return logits;
  }

  static constexpr std::int64_t top = 4;

  std::int64_t m_vocabulary;
  std::int64_t m_rows;

 public:
  LogitBlock<Backend> block;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> probabilities;
  Kokkos::View<TokenId*, Memory> tokens;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> truncated;
  Kokkos::View<float*, Memory> logprobs;
  Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory> top_tokens;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> top_logprobs;
  Kokkos::View<float*, Memory> log_sum_exp;
  Kokkos::View<std::int32_t*, Memory> status;
};

template <class Backend>
std::vector<std::uint64_t> processed(LogitProcessor<typename Backend::execution_space>& processor,
                                     const Requests& requests,
                                     const std::vector<std::int64_t>& rows) {
  using Logit = typename Backend::logit;
  const StepRows<Backend> on(requests, rows);
  const OwnedStep step = step_of(requests, rows);
  const auto uniforms = chosen(requests.uniforms, rows);
  const auto logits = on.block.logits();
  processor.template process<Logit>(logits, step.requests(),
                                    {.probabilities = on.probabilities,
                                     .tokens = on.tokens,
                                     .truncated_probabilities = on.truncated,
                                     .logprobs = on.logprobs,
                                     .top_tokens = on.top_tokens,
                                     .top_logprobs = on.top_logprobs,
                                     .log_sum_exp = on.log_sum_exp,
                                     .row_status = on.status},
                                    {.uniforms = uniforms, .store_mask = true});
  processor.execution_space().fence("tokkos::test::processed");
  return on.hashes();
}

/// The same step by one kernel after the other.
template <class Backend>
std::vector<std::uint64_t> by_kernels(const Requests& requests,
                                      const std::vector<std::int64_t>& rows) {
  using Space = typename Backend::execution_space;
  using Memory = typename Backend::memory_space;
  using Logit = typename Backend::logit;
  const Space space;
  const StepRows<Backend> on(requests, rows);
  const FlatEdits edits(requests, rows);
  const auto array = [](const auto& values) { return on_device<Memory>(values); };

  const auto bias_rows = array(edits.bias_rows), bias_tokens = array(edits.bias_tokens);
  const auto biases = array(edits.biases);
  apply_logit_bias_inplace(space, on.block.logits(), bias_rows, bias_tokens, biases, on.status);

  const auto penalty_rows = array(edits.penalty_rows), positions = array(edits.positions);
  const auto tokens = array(edits.tokens), counts = array(edits.counts);
  const auto penalties = on_device<Memory>(edits.penalties, 3, 0, 0.0f);
  apply_penalty_inplace(space, on.block.logits(), penalty_rows, positions, tokens, counts,
                        penalties, on.status);

  const auto masked_rows = array(edits.masked_rows);
  const auto words =
      on_device<Memory>(edits.words, (requests.vocabulary + 31) / 32, 0, std::int32_t{0});
  apply_bitmask_inplace(space, on.block.logits(), masked_rows, words,
                        {.active_vocabulary = requests.active}, on.status);

  const auto n = static_cast<std::int64_t>(rows.size());
  const Workspace<Memory> workspace(n, requests.vocabulary);
  const auto measures = workspace.measures(n);
  const auto temperatures = array(edits.temperatures);
  LogitRows<Logit, Memory> step;
  step.logits = on.block.logits();
  step.temperature = temperatures;
  step.active_vocabulary = requests.active;
  const auto top_k = array(edits.top_k);
  const auto top_p = array(edits.top_p), min_p = array(edits.min_p);
  const CutsWorkspace<Memory> cuts_workspace(n);
  const auto cuts = cuts_workspace.cuts(n);
  const auto uniforms = on_device<Memory>(chosen(requests.uniforms, rows), 1, 0, 0.0f);
  const Matrix<TokenId, Memory> drawn =
      Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory>(on.tokens.data(), n, 1);
  measure(space, step, measures, on.status);
  truncate(space, step, measures, {top_k, top_p, min_p}, cuts, on.status);
  draw_tokens(space, step, measures, uniforms, drawn, cuts, on.status);
  const Vector<const TokenId, Memory> to_score = on.tokens;
  const Vector<float, Memory> scores = on.logprobs;
  log_probabilities(space, step, measures, to_score, scores, cuts);
  top_log_probabilities(space, step, measures, on.top_tokens, on.top_logprobs, cuts);
  log_sum_exp(space, step, measures, on.log_sum_exp);
  normalize(space, step, measures, on.probabilities);
  normalize_truncated(space, step, measures, cuts, on.truncated);
  space.fence("tokkos::test::by_kernels");
  return on.hashes();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "process gives ten thousand rows the same bits alone, in batches, and by "
    "one kernel after the other",
    "[sameness]", Backends) {
  for (const Share share : row_shares) {
    CAPTURE(share.vocabulary);
    auto requests = random_requests(share.rows, share.vocabulary);
    requests.logits = stored_values<typename TestType::logit>(requests.logits);
    const typename TestType::execution_space space;
    LogitProcessor processor(space, 512, share.vocabulary, requests.active);
    std::vector<std::uint64_t> alone;
    for (std::int64_t i = 0; i < share.rows; ++i) {
      alone.push_back(processed<TestType>(processor, requests, {i}).front());
    }
    CHECK(distinct(alone) > share.rows / 2);
    RandomValues random(51);
    for (const auto& rows : shuffled_batches(share.rows, random)) {
      INFO("a batch of " << rows.size());
      const auto expected = chosen(alone, rows);
      const bool same_in_batch = processed<TestType>(processor, requests, rows) == expected;
      const bool same_by_kernels = by_kernels<TestType>(requests, rows) == expected;
      CHECK(same_in_batch);
      CHECK(same_by_kernels);
    }
  }
}

}  // namespace tokkos::test
