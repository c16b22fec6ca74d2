// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/chunk.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/golden_trees.hpp"
#include "sameness/integer_values.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

template <class Space>
class TreesOnDevice {
 public:
  using Memory = MemoryOf<Space>;

  TreesOnDevice(const Trees& trees, const Space& space)
      : m_space(space),
        m_vocabulary(trees.vocabulary),
        m_draft(on_device<Memory>(trees.draft, trees.vocabulary, 3, 0.0f)),
        m_model(on_device<Memory>(trees.model, trees.vocabulary, 5, 0.0f)),
        m_tokens(on_device<Memory>(trees.tokens)),
        m_first_child(on_device<Memory>(trees.first_child)),
        m_next_sibling(on_device<Memory>(trees.next_sibling)),
        m_parent(on_device<Memory>(trees.roots)),
        m_uniforms(on_device<Memory>(trees.uniforms)),
        m_bonus_uniforms(on_device<Memory>(trees.bonus_uniforms)),
        m_status("test::status", trees.roots.size()),
        m_accepted("test::accepted", trees.roots.size()),
        m_bonus("test::bonus", trees.roots.size()),
        m_sums("test::sums", trees.tokens.size()),
        m_draft_row(on_device<Memory>(trees.draft_row)),
        m_without_replacement(trees.without_replacement) {
    if (trees.without_replacement) {
      m_masses = Kokkos::View<std::int64_t*, Memory>("test::masses", trees.tokens.size());
    }
  }

  ResultHash by_seed_rule() const {
    const auto model = without_padding<float>(m_model, m_vocabulary);
    if (m_draft_row.data() == nullptr) {
      batch_spec_verify(m_space, draft(), m_tokens, model, m_first_child, m_next_sibling,
                        m_uniforms, m_parent, m_status);
    } else {
      batch_spec_verify(m_space, draft(), m_tokens, model,
                        {m_first_child, m_next_sibling, m_parent}, m_uniforms, m_status,
                        m_draft_row);
    }
    m_space.fence("tokkos::test::golden");
    ResultHash hash;
    hash.add(on_host(m_model)).add(on_host(m_parent)).add(on_host(m_status));
    return hash;
  }

  /// By a team a tree, or with sums that the whole device makes.
  ResultHash lossless(bool shared) const {
    const Matrix<const float, Memory> model = without_padding<const float>(m_model, m_vocabulary);
    VerifiedTrees<Memory> result{m_accepted, m_bonus, m_sums, m_status, m_masses};
    const std::size_t trees = m_parent.extent(0);
    const auto sums = static_cast<std::size_t>(shared_sums * chunk_count(m_vocabulary));
    const Kokkos::View<PausedWalk*, Memory> paused("test::paused", trees);
    const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Memory> masses("test::masses", trees,
                                                                           sums);
    if (shared) {
      result.paused = paused;
      result.chunk_masses = masses;
    }
    verify_draft_trees(m_space,
                       {draft(), m_tokens, model, m_uniforms, m_bonus_uniforms, m_draft_row,
                        m_without_replacement},
                       {m_first_child, m_next_sibling, m_parent}, result);
    m_space.fence("tokkos::test::golden");
    ResultHash hash;
    hash.add(on_host(m_parent)).add(on_host(m_accepted)).add(on_host(m_bonus));
    return hash.add(on_host(m_status));
  }

  /// What `lossless` noted of each rejected node.
  ResultHash residual_sums() const { return ResultHash().add(on_host(m_sums)); }

 private:
  Matrix<const float, Memory> draft() const {
    return without_padding<const float>(m_draft, m_vocabulary);
  }

  Space m_space;
  std::int64_t m_vocabulary;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_draft, m_model;
  Kokkos::View<std::int32_t*, Memory> m_tokens, m_first_child, m_next_sibling, m_parent;
  Kokkos::View<float*, Memory> m_uniforms, m_bonus_uniforms;
  Kokkos::View<std::int32_t*, Memory> m_status, m_accepted, m_bonus;
  Kokkos::View<float*, Memory> m_sums;
  Kokkos::View<std::int32_t*, Memory> m_draft_row;
  bool m_without_replacement;
  Kokkos::View<std::int64_t*, Memory> m_masses;
};

/// What the lossless rule decides and sums, in both ways.
template <class Space>
void add_lossless(GoldenResults& results, const Space& space, const Trees& trees,
                  const std::string& name) {
  for (const bool shared : {false, true}) {
    const TreesOnDevice<Space> on(trees, space);
    const char* const way = shared ? "shared sums" : "a team a tree";
    results.add("verify_draft_trees" + name, on.lossless(shared), way);
    results.add("verify_draft_trees/residual_sums" + name, on.residual_sums(), way);
  }
}

/// What both rules say where every other token was chosen; the rows of these tokens, stored, say
/// the same, unless a target row is none.
template <class Space>
void add_chosen(GoldenResults& results, const Space& space, Trees trees, bool is_spoiled,
                const std::string& name) {
  choose_tokens(trees);
  const auto add = [&](const char* way) {
    results.add("batch_spec_verify/one_hot" + name,
                TreesOnDevice<Space>(trees, space).by_seed_rule(), way);
    results.add("verify_draft_trees/one_hot" + name,
                TreesOnDevice<Space>(trees, space).lossless(false), way);
    results.add("verify_draft_trees/one_hot" + name,
                TreesOnDevice<Space>(trees, space).lossless(true),
                std::string(way) + ", shared sums");
  };
  add("draft_row");
  trees.draft_row.clear();
  if (!is_spoiled) add("stored rows");
}

/// Tokens of given rows whose first tokens have 0, 1, 2, ... quarters of a unit of the grid.
template <class Space>
void add_given(GoldenResults& results, const Space& space, std::int64_t vocabulary) {
  using Memory = MemoryOf<Space>;
  constexpr std::int64_t rows = 13;
  IntegerValues random(static_cast<std::uint64_t>(vocabulary) + 3000);
  std::vector<float> given;
  for (std::int64_t i = 0; i < rows; ++i) {
    auto row = distribution(random, vocabulary, 3);
    row[1] += row[0];
    row[0] = static_cast<float>(i) * 0x1p-46f;
    given.insert(given.end(), row.begin(), row.end());
  }
  const auto probabilities = on_device<Memory>(given, vocabulary, 3, 0.0f);
  const Kokkos::View<TokenId*, Memory> tokens("test::tokens", rows);
  const Kokkos::View<std::int32_t*, Memory> status("test::status", rows);
  ResultHash hash;
  for (const auto& values : {std::vector<float>(rows, 0.0f), random.uniforms(rows)}) {
    const auto uniforms = on_device<Memory>(values);
    sample_from_probabilities(space, without_padding<const float>(probabilities, vocabulary),
                              uniforms, tokens, status);
    space.fence("tokkos::test::golden");
    hash.add(on_host(tokens)).add(on_host(status));
  }
  results.add("sampled/given/" + std::to_string(vocabulary), hash);
}

}  // namespace

void add_verifications(GoldenResults& results, const AnySpace& any) {
  std::visit(
      [&results]<class Space>(const Space& space) {
        for (const std::int64_t vocabulary : {3, 33, 4097, 9000}) {
          add_given(results, space, vocabulary);
          for (const int seed : {1, 2, 3, 4, 5, 6}) {
            Trees trees = make_trees(vocabulary, static_cast<std::uint64_t>(seed), 6);
            if (seed == 4) spoil(trees);
            if (seed == 5) add_tails(trees);
            if (seed == 6) add_subnormals(trees);
            const std::string name =
                "/float32/" + std::to_string(vocabulary) + "/seed" + std::to_string(seed);
            results.add("batch_spec_verify" + name,
                        TreesOnDevice<Space>(trees, space).by_seed_rule());
            add_lossless(results, space, trees, name);
            add_chosen(results, space, trees, seed == 4, name);
            share_rows(trees);
            add_lossless(results, space, trees, "/without_replacement" + name);
          }
        }
      },
      any);
}

}  // namespace tokkos::test
