// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/batch_spec_verify.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/c_api.hpp"
#include "fuzz/trees_input.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {

namespace {

using Host = Kokkos::HostSpace;

/// Raw numbers of trees, between guards.
struct RawTrees {
  std::size_t nodes, batch;
  int vocabulary;
  bool has_drafts, has_rows, is_wide;
  std::vector<float> draft_probs, model_probs, uniforms;
  std::vector<std::int32_t> tokens, first_child, next_sibling, draft_row, roots;
};

std::int32_t raw_number(FuzzBytes& bytes, std::int32_t end) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  if (bytes.rarely()) return bytes.one_of<std::int32_t>({end, most, -2, -most - 1});
  return bytes.below(end + 1) - 1;
}

RawTrees make_trees(FuzzBytes& bytes) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  RawTrees trees{};
  trees.vocabulary = bytes.one_of({5, 1, 2, 33});
  trees.nodes = static_cast<std::size_t>(1 + bytes.below(8));
  trees.batch = static_cast<std::size_t>(1 + bytes.below(3));
  trees.has_drafts = bytes.flag();
  trees.has_rows = bytes.flag();
  trees.is_wide = bytes.flag();
  const auto width = static_cast<std::size_t>(trees.vocabulary);
  const auto count = static_cast<std::int32_t>(trees.nodes);
  for (auto* rows : {&trees.model_probs, &trees.draft_probs}) {
    rows->resize(trees.nodes * width);
    for (std::size_t i = 0; i < trees.nodes; ++i) {
      fill_row(bytes, std::span(*rows).subspan(i * width, width));
      if (bytes.rarely()) (*rows)[i * width] = bytes.one_of({nan, -1.0f, 2.0f});
    }
  }
  for (std::size_t i = 0; i < trees.nodes; ++i) {
    trees.tokens.push_back(raw_number(bytes, trees.vocabulary));
    trees.first_child.push_back(raw_number(bytes, count));
    trees.next_sibling.push_back(raw_number(bytes, count));
    trees.draft_row.push_back(raw_number(bytes, count));
    trees.uniforms.push_back(bytes.mostly({0.5f, 0.0f, 0.99f}, {1.0f, -0.1f, nan}));
  }
  for (std::size_t b = 0; b < trees.batch; ++b) trees.roots.push_back(raw_number(bytes, count));
  return trees;
}

template <class T>
using Rows = Guarded<T, Host>;

/// What a call wrote.
struct Written {
  std::vector<std::int32_t> ends, status;
  std::vector<std::uint32_t> model_probs;
  bool operator==(const Written&) const = default;
};

/// The arrays of one call.
struct SeedCall {
  explicit SeedCall(const RawTrees& raw)
      : tokens(raw.tokens),
        child(raw.first_child),
        sibling(raw.next_sibling),
        row(raw.draft_row),
        wide_child(std::vector<std::int64_t>(raw.first_child.begin(), raw.first_child.end())),
        ends(raw.roots),
        status(raw.batch),
        draft(raw.nodes, static_cast<std::size_t>(raw.vocabulary), 1, raw.draft_probs),
        model(raw.nodes, static_cast<std::size_t>(raw.vocabulary), 2, raw.model_probs),
        uniforms(raw.uniforms) {}

  Written written() {
    Written all{ends.values(), status.values(), {}};
    for (const float p : model.values()) {
      all.model_probs.push_back(p != p ? 0x7fc00000u : std::bit_cast<std::uint32_t>(p));
    }
    expect(ends.guards_intact() && status.guards_intact() && model.guards_intact(),
           "the seed's rule writes its arrays alone");
    return all;
  }

  Rows<std::int32_t> tokens, child, sibling, row;
  Rows<std::int64_t> wide_child;
  Rows<std::int32_t> ends, status;
  Rows<float> draft, model, uniforms;
};

Written through_cpp(const RawTrees& raw) {
  SeedCall call(raw);
  TokenTrees<Host> trees{call.child.vector(), call.sibling.vector(), call.ends.vector()};
  if (raw.is_wide) trees.first_child = call.wide_child.vector();
  Matrix<const float, Host> drafts;
  if (raw.has_drafts) drafts = call.draft.matrix();
  IndexVector<Host> rows;
  if (raw.has_rows) rows = call.row.vector();
  batch_spec_verify(Kokkos::Serial(), drafts, call.tokens.vector(), call.model.matrix(), trees,
                    Vector<const float, Host>(call.uniforms.vector()), call.status.vector(), rows);
  return call.written();
}

/// Spoils one of the arrays; says whether it did.
bool spoil(FuzzBytes& bytes, std::vector<tokkos_array>& arrays) {
  if (!bytes.flag()) return false;
  tokkos_array& array =
      arrays[static_cast<std::size_t>(bytes.below(static_cast<int>(arrays.size())))];
  switch (bytes.below(4)) {
    case 0:
      array.data = nullptr;
      break;
    case 1:
      array.type = array.type == TOKKOS_FLOAT32 ? TOKKOS_FLOAT16 : TOKKOS_FLOAT32;
      break;
    case 2:
      array.ndim = 3 - array.ndim;
      break;
    default:
      array.shape[0] = -1;
  }
  return true;
}

}  // namespace

void fuzz_c_seed_rule(FuzzBytes& bytes) {
  const bool threads = bytes.flag();
  const Context& context = c_context(threads);
  const RawTrees raw = make_trees(bytes);
  SeedCall call(raw);
  const Written before = call.written();
  // Those that are always given come first.
  std::vector<tokkos_array> arrays{
      array_of(call.tokens.vector()),
      array_of(call.model.matrix()),
      raw.is_wide ? array_of(call.wide_child.vector()) : array_of(call.child.vector()),
      array_of(call.sibling.vector()),
      array_of(call.ends.vector()),
      array_of(call.uniforms.vector()),
      array_of(call.status.vector())};
  if (raw.has_drafts) arrays.push_back(array_of(call.draft.matrix()));
  if (raw.has_rows) arrays.push_back(array_of(call.row.vector()));
  const bool is_bad = spoil(bytes, arrays);
  tokkos_seed_rule rule = tokkos_seed_rule_default();
  rule.draft_tokens = &arrays[0];
  rule.model_probs = &arrays[1];
  rule.first_child = &arrays[2];
  rule.next_sibling = &arrays[3];
  rule.parent_ptr = &arrays[4];
  rule.uniforms = &arrays[5];
  rule.tree_status = &arrays[6];
  if (raw.has_drafts) rule.draft_probs = &arrays[7];
  if (raw.has_rows) rule.draft_row = &arrays.back();
  ErrorWatch watch;
  const bool worked = watch.worked(tokkos_verify_seed_rule(context.get(), &rule));
  check_ok(tokkos_context_fence(context.get()));
  expect(worked != is_bad, "the seed's rule refuses what is wrong, and nothing else");
  const Written after = call.written();
  if (is_bad) {
    expect(after == before, "a call that is refused writes nothing");
  } else if (!threads) {  // trees that share nodes are one after the other there
    expect(after == through_cpp(raw), "the seed's rule through C is that of C++");
  }
}

}  // namespace tokkos::test
