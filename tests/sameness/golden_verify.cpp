// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/batch_spec_verify.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_parts.hpp"
#include "sameness/integer_values.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

/// Draft trees of a batch: a root, three children, two children of each of them.
struct Trees {
  std::int64_t vocabulary = 0;
  std::vector<float> draft, model;
  std::vector<std::int32_t> tokens, first_child, next_sibling, roots;
  std::vector<float> uniforms, bonus_uniforms;
};

constexpr int nodes_per_tree = 10;

/// A distribution of multiples of 2^-24 whose sum is 1 exactly; one token in `holes` has none.
std::vector<float> distribution(IntegerValues& random, std::int64_t vocabulary, int holes) {
  std::vector<std::int64_t> units(static_cast<std::size_t>(vocabulary));
  std::int64_t left = std::int64_t{1} << 24;
  const std::int64_t most = 2 * left / vocabulary;
  for (auto& one : units) {
    one = random.below(holes) == 0 ? 0 : std::min(left, random.below(most + 1));
    left -= one;
  }
  units[static_cast<std::size_t>(random.below(vocabulary))] += left;
  std::vector<float> row;
  for (const std::int64_t one : units) row.push_back(static_cast<float>(one) * 0x1p-24f);
  return row;
}

Trees make_trees(std::int64_t vocabulary, std::uint64_t seed, int batch) {
  IntegerValues random(seed * 1000 + static_cast<std::uint64_t>(vocabulary));
  Trees trees;
  trees.vocabulary = vocabulary;
  const int nodes = batch * nodes_per_tree;
  const int first[] = {1, 4, 6, 8, -1, -1, -1, -1, -1, -1};
  const int next[] = {-1, 2, 3, -1, 5, -1, 7, -1, 9, -1};
  for (int node = 0; node < nodes; ++node) {
    const int root = node - node % nodes_per_tree;
    const auto linked = [root](int link) { return link < 0 ? -1 : root + link; };
    trees.first_child.push_back(linked(first[node - root]));
    trees.next_sibling.push_back(linked(next[node - root]));
    const auto draft = distribution(random, vocabulary, 4);
    const auto model = distribution(random, vocabulary, 3);
    trees.draft.insert(trees.draft.end(), draft.begin(), draft.end());
    trees.model.insert(trees.model.end(), model.begin(), model.end());
    std::int64_t token = random.below(vocabulary);
    while (draft[static_cast<std::size_t>(token)] == 0.0f) token = (token + 1) % vocabulary;
    trees.tokens.push_back(static_cast<std::int32_t>(token));
    trees.uniforms.push_back(random.uniform());
    if (node == root) trees.roots.push_back(node);
  }
  trees.bonus_uniforms = random.uniforms(batch);
  return trees;
}

/// Trees 1 to 4 of a batch of at least 5 get something wrong each.
void spoil(Trees& trees) {
  const auto row = [&trees](std::vector<float>& rows, int node) {
    return rows.begin() + node * trees.vocabulary;
  };
  const int tree = nodes_per_tree;
  trees.tokens[1 * tree + 1] = static_cast<std::int32_t>(trees.vocabulary);  // no such token
  trees.uniforms[1 * tree + 2] = __builtin_nanf("");
  // The draft equals the target, and the token is rejected: nothing is left.
  std::copy_n(row(trees.model, 2 * tree), trees.vocabulary, row(trees.draft, 2 * tree + 1));
  trees.tokens[2 * tree + 1] = 0;
  *row(trees.model, 2 * tree) = 0.0f;
  trees.uniforms[2 * tree + 1] = 0.9f;
  trees.next_sibling[3 * tree + 1] = static_cast<std::int32_t>(trees.tokens.size());
  trees.uniforms[3 * tree + 1] = 0x1.fffffep-1f;
  *row(trees.model, 4 * tree) = -0.5f;
}

/// Gives tokens without mass one below the grid of exact sums, and lets every root and its first
/// child differ in those alone, so that rounding to the grid is seen in the residual; and has the
/// first token of every row to be drawn if three quarters of a unit count as one.
void add_tails(Trees& trees) {
  for (std::size_t node = 0; node < trees.tokens.size(); ++node) {
    float* const model = trees.model.data() + static_cast<std::int64_t>(node) * trees.vocabulary;
    model[1] += model[0];
    model[0] = 0.75f * 0x1p-44f;
  }
  for (std::size_t tree = 0; tree < trees.roots.size(); tree += 2) trees.bonus_uniforms[tree] = 0;
  IntegerValues random(static_cast<std::uint64_t>(trees.vocabulary) + 2000);
  const auto tail = [&random] {  // 2^-41 to 2^-25
    const auto w = static_cast<std::uint32_t>(random.word() >> 32);
    return std::bit_cast<float>((w & 0x07ffffffu) + (86u << 23));
  };
  for (const std::int32_t root : trees.roots) {
    float* const model = trees.model.data() + root * trees.vocabulary;
    float* const draft = trees.draft.data() + (root + 1) * trees.vocabulary;
    for (std::int64_t v = 0; v < trees.vocabulary; ++v) {
      const bool empty = model[v] == 0.0f;
      if (empty) model[v] = tail();
      draft[v] = empty ? tail() : model[v];
    }
    draft[1] = model[1] + 0x1p-20f;
    trees.tokens[static_cast<std::size_t>(root + 1)] = 1;
    trees.uniforms[static_cast<std::size_t>(root + 1)] = 0x1.fffffep-1f;
  }
}

/// The first child of every root is decided by subnormal numbers: rejected in even trees.
void add_subnormals(Trees& trees) {
  for (const std::int32_t root : trees.roots) {
    trees.model[static_cast<std::size_t>(root * trees.vocabulary + 2)] = 0x1p-131f;
    trees.draft[static_cast<std::size_t>((root + 1) * trees.vocabulary + 2)] = 0x1p-130f;
    trees.tokens[static_cast<std::size_t>(root + 1)] = 2;
    const bool is_even = root / nodes_per_tree % 2 == 0;
    trees.uniforms[static_cast<std::size_t>(root + 1)] = is_even ? 0.75f : 0.25f;
  }
}

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
        m_sums("test::sums", trees.tokens.size()) {}

  ResultHash by_seed_rule() const {
    batch_spec_verify(m_space, draft(), m_tokens, without_padding<float>(m_model, m_vocabulary),
                      m_first_child, m_next_sibling, m_uniforms, m_parent, m_status);
    m_space.fence("tokkos::test::golden");
    ResultHash hash;
    hash.add(on_host(m_model)).add(on_host(m_parent)).add(on_host(m_status));
    return hash;
  }

  ResultHash lossless() const {
    const Matrix<const float, Memory> model = without_padding<const float>(m_model, m_vocabulary);
    verify_draft_trees(m_space, {draft(), m_tokens, model, m_uniforms, m_bonus_uniforms},
                       {m_first_child, m_next_sibling, m_parent},
                       {m_accepted, m_bonus, m_sums, m_status});
    m_space.fence("tokkos::test::golden");
    ResultHash hash;
    hash.add(on_host(m_parent)).add(on_host(m_accepted)).add(on_host(m_bonus));
    return hash.add(on_host(m_status));
  }

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
};

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
            results.add("verify_draft_trees" + name, TreesOnDevice<Space>(trees, space).lossless());
          }
        }
      },
      any);
}

}  // namespace tokkos::test
