// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/context.hpp"
#include "interop/handle.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"
#include "interop/step_arguments.hpp"
#include "interop/verified.hpp"
#include "request/check_node_rows.hpp"

#include <tokkos/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

using namespace tokkos::interop;

struct tokkos_verifier : Object {
  tokkos_verifier(std::unique_ptr<VerifierPart> made, std::int64_t vocabulary)
      : part(std::move(made)), arguments(vocabulary) {}
  std::unique_ptr<VerifierPart> part;
  StepArguments arguments;
};

namespace {

tokkos_verify_options options_given(const tokkos_verify_options* options) {
  if (options == nullptr) return {};
  const auto given = read_struct("options", options, tokkos_verify_options{});
  checked_array("options.row_of_node", given.row_of_node, given.row_of_node_count);
  checked_array("options.node_uniforms", given.node_uniforms, given.node_uniform_count);
  checked_array("options.bonus_uniforms", given.bonus_uniforms, given.bonus_uniform_count);
  if ((given.node_uniforms == nullptr) != (given.bonus_uniforms == nullptr)) {
    const bool nodes = given.node_uniforms == nullptr;
    throw tokkos::Error(nodes ? "options.node_uniforms" : "options.bonus_uniforms", std::nullopt,
                        "null", "both or none of node_uniforms and bonus_uniforms");
  }
  tokkos::require(given.without_replacement == 0 || given.without_replacement == 1,
                  "options.without_replacement", std::nullopt, given.without_replacement, "0 or 1");
  return given;
}

tokkos::VerifyUniforms uniforms_of(const tokkos_verify_options& options, StepArguments& arguments) {
  if (options.node_uniforms == nullptr) return tokkos::verify_uniforms(arguments.requests());
  return {{options.node_uniforms, options.node_uniforms + options.node_uniform_count},
          {options.bonus_uniforms, options.bonus_uniforms + options.bonus_uniform_count}};
}

}  // namespace

void tokkos_verify_options_init(tokkos_verify_options* options, size_t size) {
  initialize_struct(options, size, tokkos_verify_options{});
}

void tokkos_acceptance_init(tokkos_acceptance* acceptance, size_t size) {
  initialize_struct(acceptance, size, tokkos_acceptance{});
}

tokkos_status tokkos_verifier_create(const tokkos_context* context, const tokkos_limits* limits,
                                     tokkos_verifier** verifier) {
  return guarded([&] {
    checked_result("verifier", verifier) = nullptr;
    const tokkos_context& alive = live("context", context);
    const Limits given = Limits::of(limits);
    create(verifier, alive.backend->make_verifier(given), given.vocabulary);
  });
}

tokkos_status tokkos_verifier_destroy(tokkos_verifier* verifier) {
  return guarded([&] { destroy("verifier", verifier); });
}

tokkos_status tokkos_verifier_verify(tokkos_verifier* verifier, const tokkos_array* model_probs,
                                     const tokkos_step* step, const tokkos_verify_options* options,
                                     tokkos_verified* verified) {
  return guarded([&] {
    tokkos_verifier& alive = live("verifier", verifier);
    tokkos_verified& result = live("verified", verified);
    const tokkos_verify_options taken = options_given(options);
    alive.arguments.assign(step);
    alive.arguments.check_verified_rows();
    if (taken.node_uniforms != nullptr) tokkos::check_node_rows(alive.arguments.requests());
    result.drafts = alive.part->verify(model_probs, taken, alive.arguments.trees(),
                                       uniforms_of(taken, alive.arguments));
  });
}

tokkos_status tokkos_verifier_verify_greedy(tokkos_verifier* verifier, const tokkos_array* logits,
                                            const tokkos_step* step, tokkos_verified* verified) {
  return guarded([&] {
    tokkos_verifier& alive = live("verifier", verifier);
    tokkos_verified& result = live("verified", verified);
    alive.arguments.assign(step);
    alive.arguments.check_verified_rows();
    tokkos::check_node_rows(alive.arguments.requests());
    result.drafts = alive.part->verify_greedy(logits, alive.arguments.trees());
  });
}

tokkos_status tokkos_verify_uniforms(const tokkos_step* step, float* nodes, size_t node_count,
                                     float* bonus, size_t bonus_count) {
  return guarded([&] {
    checked_array("nodes", nodes, node_count);
    checked_array("bonus", bonus, bonus_count);
    StepArguments arguments;
    arguments.assign(step);
    arguments.check_verified_rows();
    const tokkos::VerifyUniforms uniforms = tokkos::verify_uniforms(arguments.requests());
    check_count("nodes", node_count, uniforms.nodes.size());
    check_count("bonus", bonus_count, uniforms.bonus.size());
    std::ranges::copy(uniforms.nodes, nodes);
    std::ranges::copy(uniforms.bonus, bonus);
  });
}

tokkos_status tokkos_verifier_acceptance(const tokkos_verifier* verifier,
                                         tokkos_acceptance* acceptance) {
  return guarded([&] {
    const tokkos::AcceptanceStatistics& counted = live("verifier", verifier).part->statistics();
    tokkos_acceptance found{};
    found.tried = counted.tried.data();
    found.accepted = counted.accepted.data();
    found.depth_count = std::min(counted.tried.size(), counted.accepted.size());
    found.trees = counted.trees;
    write_struct("acceptance", acceptance, found);
  });
}

tokkos_status tokkos_verifier_reset_acceptance(tokkos_verifier* verifier) {
  return guarded([&] { live("verifier", verifier).part->reset_statistics(); });
}
