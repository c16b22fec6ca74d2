// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/batch_spec_verify.hpp>

#include "engine/check_engine.hpp"
#include "interop/array_view.hpp"
#include "interop/context.hpp"
#include "interop/engine_parts.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::interop {

template <class ExecutionSpace>
void verify_seed_rule(const ExecutionSpace& space, const tokkos_seed_rule& arrays) {
  using Space = MemoryOf<ExecutionSpace>;
  check_kokkos();
  TokenTrees<Space> trees;
  trees.first_child = index_vector_of<Space>("first_child", arrays.first_child);
  trees.next_sibling = index_vector_of<Space>("next_sibling", arrays.next_sibling);
  trees.parent_ptr = vector_of_array<std::int32_t, Space>(
      "parent_ptr", &given_array("parent_ptr", arrays.parent_ptr));
  trees.nodes_per_tree = arrays.nodes_per_tree;
  trees.tree_begin = index_vector_of<Space>("tree_begin", arrays.tree_begin);
  batch_spec_verify(
      space, matrix_of<const float, Space>("draft_probs", arrays.draft_probs),
      index_vector_of<Space>("draft_tokens", &given_array("draft_tokens", arrays.draft_tokens)),
      matrix_of<float, Space>("model_probs", &given_array("model_probs", arrays.model_probs)),
      trees,
      vector_of_array<const float, Space>("uniforms", &given_array("uniforms", arrays.uniforms)),
      vector_of_array<std::int32_t, Space>("tree_status", arrays.tree_status),
      index_vector_of<Space>("draft_row", arrays.draft_row));
}

#define TOKKOS_INSTANTIATE(Space) \
  template void verify_seed_rule<Space>(const Space&, const tokkos_seed_rule&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::interop

using namespace tokkos::interop;

void tokkos_seed_rule_init(tokkos_seed_rule* arrays, size_t size) {
  initialize_struct(arrays, size, tokkos_seed_rule{});
}

tokkos_status tokkos_verify_seed_rule(tokkos_context* context, const tokkos_seed_rule* arrays) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    alive.backend->verify_seed_rule(read_struct("arrays", arrays, tokkos_seed_rule{}));
  });
}
