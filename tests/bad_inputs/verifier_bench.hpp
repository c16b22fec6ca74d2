// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/draft_verifier.hpp>

#include "bad_inputs/refusal.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tokkos::test {

/// What one verification is given: a tree of three drafts, one without drafts, a chain of two.
struct GivenDrafts {
  std::vector<DraftTree> trees{{{3, 4, 5}, {-1, -1, 0}}, {}, {{6, 7}, {-1, 0}}};
  VerifyUniforms uniforms{std::vector<float>(8, 0.5f), {0.25f, 0.5f, 0.75f}};
  std::vector<std::int32_t> row_of_node{9, 0, 1, 2, -8, 2147483647, 3, -1};  // roots' are not read
  std::vector<std::string> ids{"a", "b", "c"};
};

/// Gives bad drafts to a DraftVerifier, and good ones after each.
template <class Space>
class VerifierBench {
 public:
  using Memory = MemoryOf<Space>;
  static constexpr std::size_t vocabulary = 20, nodes = 8, rows = 4;

  VerifierBench() { m_expected = outcome(); }

  /// `plant` spoils what `verify` is given; it must blame that as told, write nothing and count
  /// nothing, and verify good drafts as before.
  void refuses(const Blame& blame, const std::function<void(GivenDrafts&)>& plant) {
    GivenDrafts bad;
    plant(bad);
    refuses_call(blame, [&] { verify(bad); });
  }

  /// The same for any call with the verifier.
  template <class Call>
  void refuses_call(const Blame& blame, Call call) {
    const Bits before = bits();
    const std::int64_t trees = m_verifier.statistics().trees;
    expect_refusal(blame, call);
    m_space.fence("tokkos::test::refused");
    CHECK(bits() == before);
    CHECK(m_verifier.statistics().trees == trees);
    CHECK(outcome() == m_expected);
  }

  std::vector<VerifiedDraft> verify(const GivenDrafts& given) {
    return m_verifier.verify(m_model.matrix(), {m_draft.matrix(), given.row_of_node}, given.trees,
                             given.uniforms, given.ids);
  }

  DraftVerifier<Space>& verifier() { return m_verifier; }
  const Guarded<float, Memory>& model() const { return m_model; }
  const Guarded<float, Memory>& draft() const { return m_draft; }

 private:
  static std::vector<float> uniform_rows(std::size_t count) {
    return std::vector<float>(count * vocabulary, 1.0f / static_cast<float>(vocabulary));
  }
  Bits bits() {
    Bits all;
    append(all, m_model.values());
    append(all, m_draft.values());
    CHECK((m_model.guards_intact() && m_draft.guards_intact()));
    return all;
  }
  std::vector<std::vector<TokenId>> outcome() {
    std::vector<std::vector<TokenId>> tokens;
    for (const VerifiedDraft& draft : verify(GivenDrafts())) {
      tokens.push_back(draft.tokens);
      CHECK(draft.status == 0);
    }
    return tokens;
  }

  Space m_space;
  DraftVerifier<Space> m_verifier{m_space, nodes, vocabulary};
  Guarded<float, Memory> m_model{nodes, vocabulary, 3, uniform_rows(nodes)};
  Guarded<float, Memory> m_draft{rows, vocabulary, 1, uniform_rows(rows)};
  std::vector<std::vector<TokenId>> m_expected;
};

}  // namespace tokkos::test
