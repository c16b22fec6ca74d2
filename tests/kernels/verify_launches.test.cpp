// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What verification costs besides time: it launches, and neither allocates nor fences.
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/kernels/verify_greedy.hpp>
#include <tokkos/numerics/chunk.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "kernels/logit_block.hpp"
#include "reference/verify_reference.hpp"

namespace tokkos::test {
namespace {

template <class Memory>
struct BeginAtRoots {
  Kokkos::View<const std::int32_t*, Memory> roots;
  Kokkos::View<std::int32_t*, Memory> parent_ptr;
  KOKKOS_FUNCTION void operator()(int i) const { parent_ptr(i) = roots(i); }
};

/// Every verification of the same trees, with its memory ready.
template <class ExecutionSpace>
class Verifications {
 public:
  using Memory = MemoryOf<ExecutionSpace>;

  explicit Verifications(const VerifyCase& c)
      : m_draft_probs(on_device<Memory>(c.draft_probs, c.vocabulary, 0, 0.0f)),
        m_model_probs(on_device<Memory>(c.model_probs, c.vocabulary, 0, 0.0f)),
        m_draft_tokens(on_device<Memory>(c.draft_tokens)),
        m_first_child(on_device<Memory>(c.first_child)),
        m_next_sibling(on_device<Memory>(c.next_sibling)),
        m_roots(on_device<Memory>(c.roots)),
        m_uniforms(on_device<Memory>(c.uniforms)),
        m_bonus_uniforms(on_device<Memory>(c.bonus_uniforms)),
        m_parent_ptr("parent_ptr", c.roots.size()),
        m_accepted("accepted", c.roots.size()),
        m_bonus("bonus", c.roots.size()),
        m_status("status", c.roots.size()),
        m_sums("sums", c.draft_tokens.size()),
        m_paused("paused", c.roots.size()),
        m_chunk_masses("chunk_masses", c.roots.size(), shared_sums * chunk_count(c.vocabulary)) {}

  /// Trees or, where each has one path, chains, whose sums are shared.
  void share_sums(bool as_chains) const {
    const auto nodes = static_cast<std::int64_t>(m_draft_tokens.extent(0));
    TokenTrees<Memory> trees{m_first_child, m_next_sibling, m_parent_ptr};
    if (as_chains) {
      const auto batch = static_cast<std::int64_t>(m_roots.extent(0));
      trees = token_chains(Vector<std::int32_t, Memory>(m_parent_ptr), nodes / batch - 1);
    }
    VerifiedTrees<Memory> result{m_accepted, m_bonus, m_sums, m_status};
    result.paused = m_paused;
    result.chunk_masses = m_chunk_masses;
    as_chains ? Kokkos::deep_copy(m_space, m_parent_ptr, 0) : begin_at_roots();
    verify_draft_trees(m_space, distributions(), trees, result);
  }

  void run() const {
    const TokenTrees<Memory> trees{m_first_child, m_next_sibling, m_parent_ptr};
    begin_at_roots();
    LogitRows<float, Memory> rows;
    rows.logits = m_model_probs;
    verify_greedy(m_space, rows, IndexVector<Memory>(m_draft_tokens), trees,
                  GreedyTrees<Memory>{m_accepted, m_bonus, m_status});
    const DraftDistributions<Memory> drafts = distributions();
    VerifiedTrees<Memory> result{m_accepted, m_bonus, m_sums, m_status};
    begin_at_roots();
    verify_draft_trees(m_space, drafts, trees, result);
    result.paused = m_paused;
    result.chunk_masses = m_chunk_masses;
    begin_at_roots();
    verify_draft_trees(m_space, drafts, trees, result);
    begin_at_roots();
    batch_spec_verify(m_space, Matrix<const float, Memory>(m_draft_probs),
                      IndexVector<Memory>(m_draft_tokens), Matrix<float, Memory>(m_model_probs),
                      trees, Vector<const float, Memory>(m_uniforms), m_status);
  }

 private:
  DraftDistributions<Memory> distributions() const {
    DraftDistributions<Memory> drafts;
    drafts.draft_probs = m_draft_probs;
    drafts.draft_tokens = m_draft_tokens;
    drafts.model_probs = m_model_probs;
    drafts.uniforms = m_uniforms;
    drafts.bonus_uniforms = m_bonus_uniforms;
    return drafts;
  }

  void begin_at_roots() const {
    Kokkos::parallel_for("tokkos::test::roots",
                         Kokkos::RangePolicy<ExecutionSpace>(m_space, 0, m_roots.extent(0)),
                         BeginAtRoots<Memory>{m_roots, m_parent_ptr});
  }

  ExecutionSpace m_space;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_draft_probs, m_model_probs;
  Kokkos::View<std::int32_t*, Memory> m_draft_tokens, m_first_child, m_next_sibling, m_roots;
  Kokkos::View<float*, Memory> m_uniforms, m_bonus_uniforms;
  Kokkos::View<std::int32_t*, Memory> m_parent_ptr, m_accepted, m_bonus, m_status;
  Kokkos::View<float*, Memory> m_sums;
  Kokkos::View<PausedWalk*, Memory> m_paused;
  Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Memory> m_chunk_masses;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("verification allocates nothing, fences nothing and labels every launch",
                        "[verify]", ExecutionSpaces) {
  for (const int batch : {1, 12}) {
    const Verifications<TestType> verifications(
        make_verify_case(batch, 5000, 3, 2, Acceptance::mixed, 7));
    verifications.run();  // Kokkos makes its own scratch at the first launch
    Kokkos::fence("tokkos::test::warm");
    const KokkosEvents events;
    verifications.run();
    CHECK(events.fences() == std::vector<std::string>{});
    CHECK(events.allocations().empty());
    for (const std::string label : {"greedy", "draft_trees", "batch_spec_verify"}) {
      CAPTURE(label);
      CHECK(std::ranges::any_of(events.launches(), [&](const std::string& launch) {
        return launch.starts_with("tokkos::") && launch.find(label) != std::string::npos;
      }));
    }
    CHECK(std::ranges::all_of(events.launches(), [](const std::string& launch) {
      return launch.starts_with("tokkos::");
    }));
  }
}

TEMPLATE_LIST_TEST_CASE("shared sums take two launches a round, and a chain two rounds at most",
                        "[verify]", ExecutionSpaces) {
  const Verifications<TestType> verifications(
      make_verify_case(3, 5000, 4, 1, Acceptance::mixed, 11));
  const auto launches = [&](bool as_chains) {
    const KokkosEvents events;
    verifications.share_sums(as_chains);
    return std::ranges::count_if(events.launches(), [](const std::string& launch) {
      return launch.starts_with("tokkos::verify_draft_trees::");
    });
  };
  CHECK(launches(true) == 2 * 2 + 1);
  CHECK(launches(false) == 2 * shared_sums + 1);
}

}  // namespace tokkos::test
