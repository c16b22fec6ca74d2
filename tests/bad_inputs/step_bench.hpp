// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include "bad_inputs/refusal.hpp"
#include "bad_inputs/three_requests.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"
#include "rounding_mode.hpp"

#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::test {

/// Logits and every output of a step between guards, filled with numbers that no step writes.
template <class Space>
struct BenchViews {
  static constexpr std::size_t columns = ThreeRequests::vocabulary, top = 4;
  Guarded<float, Space> logits, probabilities, truncated, logprobs, top_logprobs, raw_logprobs,
      raw_top_logprobs, log_sum_exp;
  Guarded<std::int32_t, Space> tokens, top_tokens, raw_top_tokens, status;

  explicit BenchViews(const std::vector<float>& values, std::int32_t first_status = 1 << 20)
      : BenchViews(values, values.size() / columns, std::vector<float>(values.size(), -77.5f),
                   std::vector<std::int32_t>(values.size(), 0x5A5A5A5A),
                   std::vector<std::int32_t>(values.size(), first_status)) {}

  StepOutputs<Space> outputs() const {
    return {.probabilities = probabilities.matrix(),
            .tokens = tokens.vector(),
            .truncated_probabilities = truncated.matrix(),
            .logprobs = logprobs.vector(),
            .top_tokens = top_tokens.matrix(),
            .top_logprobs = top_logprobs.matrix(),
            .raw_logprobs = raw_logprobs.vector(),
            .raw_top_tokens = raw_top_tokens.matrix(),
            .raw_top_logprobs = raw_top_logprobs.matrix(),
            .log_sum_exp = log_sum_exp.vector(),
            .row_status = status.vector()};
  }

  /// Everything that stands there; a guard that was overwritten fails the test.
  Bits bits() {
    Bits all;
    const auto take = [&](auto& view) {
      append(all, view.values());
      CHECK(view.guards_intact());
    };
    for (auto* view : {&logits, &probabilities, &truncated, &logprobs, &top_logprobs, &raw_logprobs,
                       &raw_top_logprobs, &log_sum_exp}) {
      take(*view);
    }
    for (auto* view : {&tokens, &top_tokens, &raw_top_tokens, &status}) take(*view);
    return all;
  }

 private:
  BenchViews(const std::vector<float>& values, std::size_t rows, const std::vector<float>& f,
             const std::vector<std::int32_t>& i, const std::vector<std::int32_t>& s)
      : logits(rows, columns, 3, values),
        probabilities(rows, columns, 5, f),
        truncated(rows, columns, 1, f),
        logprobs(std::span(f).first(rows)),
        top_logprobs(rows, top, 1, f),
        raw_logprobs(std::span(f).first(rows)),
        raw_top_logprobs(rows, top, 2, f),
        log_sum_exp(std::span(f).first(rows)),
        tokens(std::span(i).first(rows)),
        top_tokens(rows, top, 2, i),
        raw_top_tokens(rows, top, 0, i),
        status(std::span(s).first(rows)) {}
};

/// Gives bad steps to every call that takes a step, and a good one after each.
template <class Space>
class StepBench {
 public:
  using Memory = MemoryOf<Space>;
  static constexpr std::int64_t vocabulary = ThreeRequests::vocabulary, max_rows = 12;

  StepBench() : m_expected(good_bits(m_processor, m_sampler)) {}

  /// The rounding mode in which bad steps are given.
  int rounding = FE_TONEAREST;

  /// `plant` spoils the good step; every call must blame it as told and write nothing, leave
  /// histories and matchers alone, and give a good step its bits afterwards.
  void refuses(const Blame& blame, const std::function<void(OwnedStep&)>& plant) {
    ThreeRequests bad;
    plant(bad.step);
    const auto before = bad.state();
    BenchViews<Memory> views(bad.logits());
    const Bits untouched = views.bits();
    const StepRequests requests = bad.step.requests();
    for (const auto& [name, call] : calls(views)) {
      CAPTURE(name);
      expect_refusal(blame, [&] {
        const RoundingMode mode(rounding);
        call(requests);
      });
      m_space.fence("tokkos::test::refused");
      CHECK(views.bits() == untouched);
      CHECK(bad.state() == before);
    }
    works();
  }

  /// The same for a call with the good step whose Views or numbers are bad.
  template <class Call>
  void refuses_call(const Blame& blame, Call call) {
    const ThreeRequests good;
    const auto before = good.state();
    BenchViews<Memory> views(good.logits());
    const Bits untouched = views.bits();
    const StepRequests requests = good.step.requests();
    expect_refusal(blame, [&] { call(views, requests); });
    m_space.fence("tokkos::test::refused");
    CHECK(views.bits() == untouched);
    CHECK(good.state() == before);
    works();
  }

  /// Whether the objects give a good step the bits that fresh ones give it.
  void works() { CHECK(good_bits(m_processor, m_sampler) == m_expected); }

  LogitProcessor<Space>& processor() { return m_processor; }
  Sampler<Space>& sampler() { return m_sampler; }
  const Space& space() const { return m_space; }

 private:
  using Call = std::pair<std::string, std::function<void(const StepRequests&)>>;

  std::vector<Call> calls(BenchViews<Memory>& v) {
    return {
        {"inplace_update_logits",
         [&](const StepRequests& r) {
           m_processor.inplace_update_logits(v.logits.matrix(), r, v.status.vector());
         }},
        {"compute_probs_from_logits",
         [&](const StepRequests& r) {
           m_processor.compute_probs_from_logits(v.logits.matrix(), r, v.probabilities.matrix(),
                                                 v.status.vector());
         }},
        {"process",
         [&](const StepRequests& r) { m_processor.process(v.logits.matrix(), r, v.outputs()); }},
        {"prepare", [&](const StepRequests& r) { m_processor.prepare(ThreeRequests::rows, r); }},
        {"sample_from_logits", [&](const StepRequests& r) {
           m_sampler.sample_from_logits(v.logits.matrix(), r, v.tokens.vector(), {},
                                        v.status.vector());
         }}};
  }

  Bits good_bits(LogitProcessor<Space>& processor, Sampler<Space>& sampler) const {
    const ThreeRequests good;
    const auto before = good.state();
    BenchViews<Memory> by_process(good.logits(), 0), by_calls(good.logits(), 0);
    const StepRequests requests = good.step.requests();
    processor.process(by_process.logits.matrix(), requests, by_process.outputs());
    processor.inplace_update_logits(by_calls.logits.matrix(), requests, by_calls.status.vector());
    processor.compute_probs_from_logits(by_calls.logits.matrix(), requests,
                                        by_calls.probabilities.matrix());
    sampler.sample_from_logits(by_calls.logits.matrix(), requests, by_calls.tokens.vector());
    m_space.fence("tokkos::test::good");
    CHECK(good.state() == before);
    Bits all = by_process.bits();
    const Bits more = by_calls.bits();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Space m_space;
  LogitProcessor<Space> m_processor{m_space, max_rows, vocabulary};
  Sampler<Space> m_sampler{m_space, max_rows, vocabulary};
  Bits m_expected;
};

}  // namespace tokkos::test
