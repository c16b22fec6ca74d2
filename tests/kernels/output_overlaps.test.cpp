// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What a kernel writes lies apart from what it reads, and from what else it writes.
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/verify_greedy.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/overlap_arguments.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace tokkos::test {

namespace {

constexpr std::size_t rows = overlap_rows;

}  // namespace

TEMPLATE_LIST_TEST_CASE("what is measured or drawn does not lie in what is read", "",
                        ExecutionSpaces) {
  OverlapArguments<TestType> a;
  const auto& space = a.space;
  const auto& rows_given = a.device.rows;
  const auto& measures = a.device.measures;
  const auto before = a.memory();
  const auto refused = [&](const auto& call) { return a.refusal(call); };

  auto bad = measures;
  bad.row_maximum = a.in_logits(7);
  CHECK(refused([&] { measure(space, rows_given, bad); }) == "measures.row_maximum" + in_logits);
  CHECK(refused([&] { measure(space, rows_given, measures, a.ids_in_logits(-1)); }) ==
        "row_status" + in_logits);
  CHECK(refused([&] {
          measure(space, rows_given, measures,
                  a.template at<std::int32_t>(measures.row_mass.data(), 1));
        }) == "measures.row_mass: memory that overlaps row_status");

  CHECK(refused([&] { argmax(space, rows_given, measures, a.ids_in_logits(399)); }) ==
        "tokens" + in_logits);
  const auto draw_into = [&](const auto& tokens, const auto& status) {
    return refused([&] { draw(space, rows_given, measures, a.drawn_by, tokens, status); });
  };
  CHECK(draw_into(a.ids_in_logits(0), a.status.vector()) == "tokens" + in_logits);
  CHECK(draw_into(a.tokens.vector(), a.ids_in_logits(200)) == "row_status" + in_logits);
  CHECK(draw_into(a.tokens.vector(), a.tokens.vector()) ==
        "tokens: memory that overlaps row_status");
  CHECK(draw_into(a.template at<std::int32_t>(a.uniforms.vector().data(), 3), a.status.vector()) ==
        "tokens: memory that overlaps uniforms");
  CHECK(draw_into(a.template at<std::int32_t>(measures.row_maximum.data(), 0), a.status.vector()) ==
        "tokens: memory that overlaps measures.row_maximum");
  CHECK(refused([&] {
          draw_tokens(space, rows_given, measures, a.uniform_lists(),
                      a.template list_in_logits<std::int32_t>(390));
        }) == "tokens" + in_logits);
  CHECK(refused([&] {
          sample_from_probabilities(space, Matrix<const float, MemoryOf<TestType>>(a.logits),
                                    a.drawn_by, a.ids_in_logits(9));
        }) == "tokens: memory that overlaps the probabilities");
  CHECK(refused([&] {
          GreedyTrees<MemoryOf<TestType>> trees{a.tokens.vector(), a.ids_in_logits(5), {}};
          TokenTrees<MemoryOf<TestType>> chains;
          chains.parent_ptr = a.status.vector();
          chains.nodes_per_tree = 1;
          verify_greedy(space, rows_given, a.given, chains, trees);
        }) == "bonus_tokens" + in_logits);

  CHECK(a.memory() == before);
  draw(space, rows_given, measures, a.drawn_by, a.tokens.vector(), a.status.vector());
  argmax(space, rows_given, measures, a.numbers.vector());
  space.fence("tokkos::test::drawn");
  CHECK(a.numbers.values() != std::get<7>(before));
  CHECK((a.tokens.guards_intact() && a.numbers.guards_intact()));
}

TEMPLATE_LIST_TEST_CASE("logarithms and cuts do not lie in what is read", "", ExecutionSpaces) {
  OverlapArguments<TestType> a;
  const auto& space = a.space;
  const auto& rows_given = a.device.rows;
  const auto& measures = a.device.measures;
  const auto before = a.memory();
  const auto refused = [&](const auto& call) { return a.refusal(call); };

  CHECK(refused([&] { log_sum_exp(space, rows_given, measures, a.in_logits(1)); }) ==
        "result" + in_logits);
  const auto score_into = [&](const auto& result, const auto& status) {
    return refused(
        [&] { log_probabilities(space, rows_given, measures, a.given, result, {}, status); });
  };
  CHECK(score_into(a.in_logits(97), a.status.vector()) == "result" + in_logits);
  CHECK(score_into(a.result.vector(), a.ids_in_logits(0)) == "row_status" + in_logits);
  CHECK(score_into(a.template at<float>(a.numbers.vector().data(), 0), a.status.vector()) ==
        "result: memory that overlaps tokens");
  const auto list_into = [&](const auto& tokens, const auto& result) {
    return refused([&] { top_log_probabilities(space, rows_given, measures, tokens, result); });
  };
  const auto tokens = a.listed_tokens.matrix();
  CHECK(list_into(a.template list_in_logits<std::int32_t>(0), a.listed.matrix()) ==
        "tokens" + in_logits);
  CHECK(list_into(tokens, a.template list_in_logits<float>(17)) == "result" + in_logits);
  const Matrix<float, MemoryOf<TestType>> over_tokens(reinterpret_cast<float*>(tokens.data() + 2),
                                                      Kokkos::LayoutStride(rows, 4, 3, 1));
  CHECK(list_into(tokens, over_tokens) == "tokens: memory that overlaps result");

  auto cuts = a.cuts;
  cuts.logit = a.in_logits(50);
  CHECK(refused([&] { truncate(space, rows_given, measures, {}, cuts); }) ==
        "cuts.logit" + in_logits);
  cuts = a.cuts;
  cuts.count = cuts.token;
  CHECK(refused([&] { truncate(space, rows_given, measures, {}, cuts); }) ==
        "cuts.token: memory that overlaps cuts.count");

  const Matrix<const float, MemoryOf<TestType>> logits = a.logits;
  CHECK(refused([&] {
          save_edited_logits(space, logits, a.biases, a.penalties, a.in_logits(2));
        }) == "saved" + in_logits);
  CHECK(refused([&] {
          save_edited_logits(space, logits, a.biases, a.penalties, a.uniforms.vector());
        }) == "saved: memory that overlaps logit_bias");
  const auto score_raw = [&](const auto& result) {
    const Vector<const float, MemoryOf<TestType>> saved = a.other.vector();
    raw_log_probabilities(space, rows_given, measures, a.biases, a.penalties, saved, a.given,
                          result);
  };
  CHECK(refused([&] { score_raw(a.in_logits(2)); }) == "result" + in_logits);
  CHECK(refused([&] { score_raw(a.other.vector()); }) == "result: memory that overlaps saved");

  CHECK(a.memory() == before);
  log_probabilities(space, rows_given, measures, a.given, a.result.vector());
  truncate(space, rows_given, measures, {}, a.cuts);
  space.fence("tokkos::test::scored");
  CHECK(a.result.values() != std::get<3>(before));
}

TEMPLATE_LIST_TEST_CASE("probabilities, stages and status do not lie in what is read", "",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  OverlapArguments<TestType> a;
  const auto& space = a.space;
  const auto& rows_given = a.device.rows;
  const auto before = a.memory();
  const auto& probabilities = a.device.probabilities;
  const auto refused = [&](const auto& call) { return a.refusal(call); };

  auto measures = a.device.measures;
  measures.row_mass = a.template at<std::int64_t>(probabilities.data(), 2);
  CHECK(refused([&] { normalize(space, rows_given, measures, probabilities); }) ==
        "probabilities: memory that overlaps measures.row_mass");
  CHECK(refused([&] { normalize_truncated(space, rows_given, measures, a.cuts, probabilities); }) ==
        "probabilities: memory that overlaps measures.row_mass");
  CHECK(refused([&] { softmax(space, rows_given, measures, probabilities); }) ==
        "measures.row_mass: memory that overlaps probabilities");
  const auto softmax_with = [&](const auto& status) {
    return refused([&] { softmax(space, rows_given, a.device.measures, probabilities, status); });
  };
  CHECK(softmax_with(a.ids_in_logits(12)) == "row_status" + in_logits);
  CHECK(softmax_with(a.template at<std::int32_t>(probabilities.data(), 12)) ==
        "row_status: memory that overlaps probabilities");

  const Matrix<float, Memory> stage_in_logits(a.logits.data(), Kokkos::LayoutStride(rows, 1, 1, 1));
  const auto chunked = a.chunked.matrix();
  CHECK(refused([&] { chunk_lse(space, rows_given, stage_in_logits, chunked); }) ==
        "chunked_sum" + in_logits);
  CHECK(refused([&] { chunk_lse(space, rows_given, chunked, chunked); }) ==
        "chunked_sum: memory that overlaps chunked_max");
  const Matrix<const float, Memory> stage(probabilities.data(),
                                          Kokkos::LayoutStride(rows, 1, 1, 1));
  CHECK(refused([&] {
          softmax_with_chunked_sum(space, rows_given, stage, stage, probabilities);
        }) == "probabilities: memory that overlaps chunked_sum");

  CHECK(refused([&] { apply_edits(space, a.logits, a.biases, a.penalties, a.ids_in_logits(0)); }) ==
        "row_status" + in_logits);
  CHECK(refused([&] {
          apply_logit_bias_inplace(space, a.logits, a.given, a.given, a.drawn_by,
                                   a.ids_in_logits(1));
        }) == "row_status" + in_logits);
  CHECK(refused([&] {
          apply_bitmask_inplace(space, a.logits, a.given,
                                Matrix<const std::int32_t, Memory>(a.words.matrix()), {},
                                a.ids_in_logits(1));
        }) == "row_status" + in_logits);
  const Matrix<const std::int32_t, Memory> words_in_logits(
      reinterpret_cast<std::int32_t*>(a.logits.data()), Kokkos::LayoutStride(rows, 4, 4, 1));
  CHECK(refused([&] { apply_bitmask_inplace(space, a.logits, a.given, words_in_logits); }) ==
        "logits: memory that overlaps bitmask");

  CHECK(a.memory() == before);
  for (const float p : on_host(a.device.probabilities)) CHECK(p == a.device.canary);
  softmax(space, rows_given, a.device.measures, a.logits);  // exactly in place is legal
  space.fence("tokkos::test::in_place");
  CHECK(a.device.block().patterns() != std::get<0>(before));
}

}  // namespace tokkos::test
