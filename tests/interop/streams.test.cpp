// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A request's own stream number through C: its uniforms are those of C++, with or without an id.
#include <tokkos/tokkos.h>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

#include "interop/c_step.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {
namespace {

/// Three requests of one row and one draft node each; the first two have stream numbers.
OwnedStep three_requests() {
  TokenHistory history({1});
  history.commit(2);
  OwnedStep step;
  step.add({.seed = 5, .stream = 0}, history);
  step.add({.seed = 5, .stream = 4000000000u}, history);
  step.add({.seed = 5}, history);
  step.trees.emplace(3, DraftTree{{3}, {-1}});
  step.indices.emplace(3, std::vector<std::int32_t>{-1, 0});
  step.cum_num_token = {0, 2, 4, 6};
  return step;
}

std::vector<float> of_rows(const StepOfC& step) {
  std::vector<float> uniforms(6);
  check_ok(tokkos_step_uniforms(step.get(), uniforms.data(), uniforms.size()));
  return uniforms;
}

}  // namespace

TEST_CASE("requests with stream numbers draw as in C++, and need no ids", "[interop]") {
  const OwnedStep owned = three_requests();
  StepOfC step(owned);
  const std::vector<float> expected = step_uniforms(owned.requests(), 6);
  CHECK(of_rows(step) == expected);
  CHECK(expected[0] != expected[2]);
  const VerifyUniforms of_trees = verify_uniforms(owned.requests());
  const auto check_trees = [&] {
    std::vector<float> nodes(6), bonus(3);
    check_ok(tokkos_verify_uniforms(step.get(), nodes.data(), 6, bonus.data(), 3));
    CHECK(nodes == of_trees.nodes);
    CHECK(bonus == of_trees.bonus);
  };
  check_trees();
  step.request(0).id = step.request(1).id = nullptr;
  CHECK(of_rows(step) == expected);
  check_trees();
  step.request(2).id = nullptr;
  std::vector<float> unwritten(6);
  CHECK(complaint_of(tokkos_step_uniforms(step.get(), unwritten.data(), 6)).names("requests.id"));
  CHECK(unwritten == std::vector<float>(6));
  step.config(2).has_stream = 1;
  step.config(2).stream = 4000000000u;
  const std::vector<float> unnamed = of_rows(step);
  CHECK(unnamed[4] == expected[2]);
  CHECK(unnamed[5] == expected[3]);
}

TEST_CASE("drafts are drawn with uniforms of their own", "[interop]") {
  const OwnedStep owned = three_requests();
  StepOfC step(owned);
  float uniform = -1.0f;
  check_ok(tokkos_draft_uniform(&step.request(1), 7, 3, &uniform));
  CHECK(uniform == philox_uniform(5, 7, 3, Purpose::draft, 4000000000u));
  check_ok(tokkos_draft_uniform(&step.request(2), 1, 0, &uniform));
  CHECK(uniform == philox_uniform(5, 1, 0, Purpose::draft, request_stream(owned.ids[2])));
  // Neither its tree nor the nodes of its rows are looked at.
  tokkos_draft_tree without_arrays = tokkos_draft_tree_default();
  without_arrays.count = 3;
  tokkos_request drafted = step.request(1);
  drafted.draft_tree = &without_arrays;
  drafted.rows = 4;
  check_ok(tokkos_draft_uniform(&drafted, 7, 3, &uniform));
  CHECK(uniform == philox_uniform(5, 7, 3, Purpose::draft, 4000000000u));
  uniform = -1.0f;
  step.request(2).id = nullptr;
  CHECK(complaint_of(tokkos_draft_uniform(&step.request(2), 1, 0, &uniform)).names("requests.id"));
  CHECK(uniform == -1.0f);
  CHECK(complaint_of(tokkos_draft_uniform(nullptr, 1, 0, &uniform)).names("request"));
  CHECK(complaint_of(tokkos_draft_uniform(&step.request(1), 1, 0, nullptr)).names("uniform"));
}

TEST_CASE("a step is validated alone", "[interop]") {
  const OwnedStep owned = three_requests();
  StepOfC step(owned);
  check_ok(tokkos_step_validate(step.get(), 1000));
  for (const std::int64_t vocabulary : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1} << 31}) {
    const Complaint complaint = complaint_of(tokkos_step_validate(step.get(), vocabulary));
    CHECK(complaint.field == "vocabulary");
    CHECK(complaint.value == std::to_string(vocabulary));
  }
  step.config(1).top_p = 1.5f;
  const Complaint complaint = complaint_of(tokkos_step_validate(step.get(), 1000));
  CHECK(complaint.field == "requests[1].config.top_p");
  CHECK(complaint.value == "1.5");
}

TEST_CASE("a request with neither id nor stream number is refused beside others", "[interop]") {
  const OwnedStep owned = three_requests();
  StepOfC step(owned);
  std::vector<float> uniforms(6);
  const auto refused = [&] {
    return complaint_of(tokkos_step_uniforms(step.get(), uniforms.data(), uniforms.size()));
  };
  step.config(1).has_stream = 0;
  step.request(1).id = nullptr;
  CHECK(refused().field == "requests[1].id");
  step.config(1).has_stream = 2;
  CHECK(refused().field == "requests[1].config.has_stream");
  CHECK(uniforms == std::vector<float>(6));
}

TEST_CASE("a config of a caller that knows no stream numbers has none", "[interop]") {
  const OwnedStep owned = three_requests();
  StepOfC step(owned);
  step.config(1).size = offsetof(tokkos_generation_config, stream);
  OwnedStep older = three_requests();
  older.configs[1].stream.reset();
  CHECK(of_rows(step) == step_uniforms(older.requests(), 6));
}

}  // namespace tokkos::test
