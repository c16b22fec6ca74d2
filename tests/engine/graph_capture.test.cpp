// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The launches of `process` in a graph: what is replayed has the bits of what is launched.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "backends.hpp"
#include "captured_graph.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "sameness/result_hash.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;

/// A step with everything that one can be asked for.
template <class ExecutionSpace>
class CapturableStep {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  CapturableStep(const ExecutionSpace& space, std::uint64_t seed)
      : m_space(space), m_given(make_random_step_with_histories(vocabulary, vocabulary, seed)) {
    for (std::size_t i = 0; i < m_given.step.configs.size(); i += 2) {
      m_given.step.configs[i].top_k = static_cast<std::int32_t>(3 + 40 * i);
      m_given.step.configs[i].top_p = 0.8f;
    }
  }

  std::size_t rows() const { return static_cast<std::size_t>(m_given.rows); }
  StepRequests requests() const { return m_given.step.requests(); }

  const Guarded<float, Space>& logits() const { return m_logits; }
  StepOutputs<Space> outputs() const {
    return {.probabilities = m_probabilities.matrix(),
            .tokens = m_tokens.vector(),
            .truncated_probabilities = m_truncated.matrix(),
            .logprobs = m_logprobs.vector(),
            .top_tokens = m_top_tokens.matrix(),
            .top_logprobs = m_top_logprobs.matrix(),
            .log_sum_exp = m_log_sum_exp.vector(),
            .row_status = m_status.vector()};
  }

  /// The model's logits of step `seed`, in the memory that every step takes.
  void new_logits(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const Guarded<float, Space> fresh(rows(), vocabulary, 0,
                                      random_logits(rows() * vocabulary, random, false));
    Kokkos::deep_copy(m_space, m_logits.matrix(), fresh.matrix());
    Kokkos::deep_copy(m_space, m_status.vector(), 0);
    m_space.fence("tokkos::test::new_logits");
  }

  void scale_temperatures(float factor) {
    for (GenerationConfig& config : m_given.step.configs) config.temperature *= factor;
  }

  /// A hash of all that the step wrote.
  std::uint64_t result() {
    m_space.fence("tokkos::test::step");
    ResultHash hash;
    hash.add(m_logits.values()).add(m_probabilities.values()).add(m_truncated.values());
    hash.add(m_tokens.values()).add(m_logprobs.values()).add(m_log_sum_exp.values());
    hash.add(m_top_tokens.values()).add(m_top_logprobs.values()).add(m_status.values());
    return hash.value();
  }

 private:
  ExecutionSpace m_space;
  RandomStep m_given;
  Guarded<float, Space> m_logits{rows(), vocabulary, 0, {}};
  Guarded<float, Space> m_probabilities{rows(), vocabulary, 0, {}};
  Guarded<float, Space> m_truncated{rows(), vocabulary, 5, {}};
  Guarded<TokenId, Space> m_tokens{rows()};
  Guarded<float, Space> m_logprobs{rows()};
  Guarded<TokenId, Space> m_top_tokens{rows(), 5, 0, {}};
  Guarded<float, Space> m_top_logprobs{rows(), 5, 0, {}};
  Guarded<float, Space> m_log_sum_exp{rows()};
  Guarded<std::int32_t, Space> m_status{rows()};
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a captured step gives the bits of a launched one, for other logits too",
                        "[engine]", ExecutionSpaces) {
  using Graph = example::CapturedGraph<TestType>;
  if constexpr (Graph::is_possible) {
    const TestType space = Kokkos::Experimental::partition_space(TestType(), 1).front();
    CapturableStep<TestType> step(space, 71);
    LogitProcessor<TestType> processor(space, 60, vocabulary);
    const auto prepare = [&] {
      processor.prepare(static_cast<std::int64_t>(step.rows()), step.requests());
    };
    std::vector<std::uint64_t> launched;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      step.new_logits(seed);
      processor.process(step.logits().matrix(), step.requests(), step.outputs());
      launched.push_back(step.result());
    }
    REQUIRE(launched[0] != launched[1]);
    // Two blobs take turns, and a graph reads the one of its step.
    std::array<std::optional<Graph>, 2> graphs;
    for (auto& graph : graphs) {
      prepare();
      graph.emplace(space, [&] { processor.process(step.logits().matrix(), step.outputs()); });
    }
    for (std::size_t i = 0; i < 12; ++i) {
      CAPTURE(i);
      step.new_logits(i % 3 + 1);
      prepare();
      graphs[i % 2]->replay();
      // Another step, which is staged at the same places, does not overtake the replay.
      step.scale_temperatures(2.0f);
      prepare();
      prepare();
      step.scale_temperatures(0.5f);
      CHECK(step.result() == launched[i % 3]);
    }
    // Launches go on as ever.
    step.new_logits(1);
    processor.process(step.logits().matrix(), step.requests(), step.outputs());
    CHECK(step.result() == launched[0]);
  } else {
    SKIP("a host runs launches at once: there is no graph to capture");
  }
}

}  // namespace tokkos::test
