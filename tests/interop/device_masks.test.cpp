// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Masks that C gives as arrays on the device.
#include <tokkos/tokkos.h>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cfloat>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/device_masks.hpp"
#include "engine/random_step.hpp"
#include "interop/c_step.hpp"
#include "interop/one_row.hpp"
#include "interop/step_results.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;

/// One row of logits and its mask, all of it right.
struct MaskedRow : OneRow {
  std::array<std::int32_t, 8> words{0, 1 << 9, 0, 0};  // token 41
  std::array<std::int32_t, 4> index{0};
  tokkos_array bitmask = tokkos_matrix(words.data(), TOKKOS_INT32, 1, 4, 0);
  tokkos_array row_index = tokkos_vector(index.data(), TOKKOS_INT32, 1);

  MaskedRow() {
    outputs.bitmask = &bitmask;
    outputs.bitmask_row_index = &row_index;
  }
};

/// The same for tokkos_apply_bitmask.
struct MaskedInPlace : MaskedRow {
  tokkos_row_masks masks = tokkos_row_masks_default();
  std::array<std::int32_t, 1> status{0};
  tokkos_array row_status = tokkos_vector(status.data(), TOKKOS_INT32, 1);

  MaskedInPlace() {
    masks.bitmask = &bitmask;
    masks.seq_ids = &row_index;
    masks.row_status = &row_status;
  }
  tokkos_status apply() { return tokkos_apply_bitmask(context.get(), &logits, &masks); }
  Complaint refused() {
    const Complaint said = complaint_of(apply());
    CHECK(memory == std::vector<float>(OneRow::vocabulary, 0.5f));
    CHECK(status[0] == 0);
    return said;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("masks in arrays of C have the bits of masks by callbacks", "[interop]",
                        Backends) {
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  using Results = StepResults<Memory, typename TestType::logit>;
  const auto given = make_truncated_step(vocabulary, 4);
  const auto rows = static_cast<std::size_t>(given->rows);
  const StepOfC masked(given->step);
  const Context context = context_on<Space>();
  const Processor processor = processor_on(context, limits_of(64, vocabulary));
  const auto process = [&](const Results& results, const StepOfC& step, auto change) {
    const tokkos_array logits = array_of(results.logits.matrix());
    OutputsOfC outputs = results.outputs_of_c();
    change(outputs);
    check_ok(tokkos_processor_process(processor.get(), &logits, step.get(), outputs.get(), nullptr,
                                      nullptr));
  };
  const Results expected(rows, vocabulary, 4), at_once(rows, vocabulary, 4),
      in_halves(rows, vocabulary, 4);
  process(expected, masked, [](OutputsOfC&) {});

  DeviceMasks<Memory> masks(masks_of(*given), vocabulary);
  REQUIRE(masks.count() > 1);
  const OwnedStep plain = without_masks(given->step);
  const StepOfC unmasked(plain);
  const auto with_masks = [&](OutputsOfC& outputs) {
    tokkos_array words = array_of(masks.view().words), index = array_of(masks.view().row_index);
    words.flags = index.flags = TOKKOS_ARRAY_READ_ONLY;
    outputs.outputs().bitmask = outputs.add(words);
    outputs.outputs().bitmask_row_index = outputs.add(index);
  };
  process(at_once, unmasked, with_masks);
  check_ok(tokkos_processor_prepare(processor.get(), given->rows, unmasked.get(), nullptr));
  const tokkos_array logits = array_of(in_halves.logits.matrix());
  OutputsOfC outputs = in_halves.outputs_of_c();
  with_masks(outputs);
  check_ok(tokkos_processor_process_prepared(processor.get(), &logits, outputs.get(), nullptr));
  check_ok(tokkos_context_fence(context.get()));
  CHECK((at_once.bits() == expected.bits()));
  CHECK((in_halves.bits() == expected.bits()));
  CHECK(masks.intact());
}

TEST_CASE("the only token that an array of C allows is drawn", "[interop]") {
  MaskedRow row;
  check_ok(row.process());
  CHECK(row.drawn[0] == 41);
  row.outputs.bitmask_row_index = nullptr;  // row 0 has row 0
  row.words[1] = 1 << 10;
  check_ok(row.process());
  CHECK(row.drawn[0] == 42);
}

TEST_CASE("masks in arrays that do not fit are refused by the names of C", "[interop]") {
  MaskedRow row;
  const auto refused = [&](const std::string& field, const std::string& value, auto change) {
    const tokkos_array bitmask = row.bitmask, index = row.row_index;
    const tokkos_step_outputs outputs = row.outputs;
    const tokkos_step_options options = row.options;
    change();
    const Complaint said = row.complaint();
    CHECK(said.field == field);
    CHECK(said.value == value);
    row.bitmask = bitmask;
    row.row_index = index;
    row.outputs = outputs;
    row.options = options;
  };
  for (const std::int64_t words : {0, 1, 3}) {
    refused("bitmask.shape", std::to_string(words), [&] { row.bitmask.shape[1] = words; });
  }
  for (const std::int64_t count : {0, 2, 3}) {
    refused("bitmask_row_index.shape", std::to_string(count),
            [&] { row.row_index.shape[0] = count; });
  }
  for (const std::int64_t width : {0, 4, 100}) {  // of no row, and perhaps without memory
    refused("bitmask.shape", "0", [&] {
      row.bitmask = tokkos_matrix(nullptr, TOKKOS_INT32, 0, width, 0);
      row.outputs.bitmask_row_index = nullptr;
    });
    refused("bitmask.shape", "0", [&] { row.bitmask.shape[0] = 0; });
  }
  refused("bitmask_row_index.shape", "0", [&] {  // without memory is not left out
    row.row_index = tokkos_vector(nullptr, TOKKOS_INT32, 0);
  });
  refused("bitmask.type", "int64", [&] { row.bitmask.type = TOKKOS_INT64; });
  refused("bitmask.type", "float32", [&] { row.bitmask.type = TOKKOS_FLOAT32; });
  refused("bitmask.ndim", "1", [&] { row.bitmask.ndim = 1; });
  refused("bitmask_row_index.type", "float32", [&] { row.row_index.type = TOKKOS_FLOAT32; });
  refused("bitmask_row_index.ndim", "2", [&] { row.row_index.ndim = 2; });
  refused("options.store_mask", "set", [&] { row.options.store_mask = 1; });
  refused("bitmask", "null", [&] { row.outputs.bitmask = nullptr; });
  check_ok(row.process());
  CHECK(row.drawn[0] == 41);
}

TEST_CASE("a step of C may have masks in arrays and by callbacks", "[interop]") {
  MaskedRow row;
  ScriptedGrammar grammar(3, OneRow::vocabulary);
  std::int32_t allowed_by_grammar = 32, refused_by_grammar = 32;
  while (!grammar.allows({}, allowed_by_grammar)) ++allowed_by_grammar;
  while (grammar.allows({}, refused_by_grammar)) ++refused_by_grammar;
  REQUIRE(allowed_by_grammar < 63);
  REQUIRE(refused_by_grammar < 63);
  row.words[1] = 1 << (allowed_by_grammar - 32) | 1 << (refused_by_grammar - 32);
  const tokkos_mask_callbacks callbacks = callbacks_of(grammar);
  Mask mask;
  check_ok(tokkos_mask_create(&callbacks, mask.put()));
  const std::int32_t allowed[] = {refused_by_grammar, 70};
  row.config.allowed_token_ids = allowed;
  row.config.allowed_token_count = 2;
  check_ok(row.process());
  CHECK(row.drawn[0] == refused_by_grammar);
  row.memory.assign(OneRow::vocabulary, 0.5f);  // the list is stored there
  row.config.allowed_token_count = 0;
  row.request.mask = mask.get();
  check_ok(row.process());
  CHECK(row.drawn[0] == allowed_by_grammar);
}

TEMPLATE_LIST_TEST_CASE("rows masked by C are those that C++ masks", "[interop]", Backends) {
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  using Logit = typename TestType::logit;
  constexpr std::size_t rows = 4, columns = 100;
  const std::vector<Logit> values = StepResults<Memory, Logit>::values(rows * columns, 8);
  const std::vector<std::int32_t> words{-1, 5, 0, 7, 1 << 30, -3, 1, 9};
  const std::vector<std::int32_t> seq_ids{3, 0, 2, 7}, mask_rows{1, 0, 5, 0};
  Guarded<Logit, Memory> expected(rows, columns, 3, values), results(rows, columns, 3, values);
  Guarded<std::int32_t, Memory> expected_status(rows), status(rows);
  const Guarded<std::int32_t, Memory> bitmask(2, 4, 2, words), ids(seq_ids), from(mask_rows);
  const Space space;
  apply_bitmask_inplace(space, expected.matrix(), Vector<const std::int32_t, Memory>(ids.vector()),
                        Vector<const std::int32_t, Memory>(from.vector()),
                        Matrix<const std::int32_t, Memory>(bitmask.matrix()),
                        {.active_vocabulary = 97}, expected_status.vector());
  space.fence("tokkos::test::apply_bitmask");

  const Context context = context_on<Space>();
  const tokkos_array logits = array_of(results.matrix()), of_status = array_of(status.vector());
  tokkos_array of_bitmask = array_of(bitmask.matrix()), of_ids = array_of(ids.vector()),
               of_rows = array_of(from.vector());
  of_bitmask.flags = of_ids.flags = of_rows.flags = TOKKOS_ARRAY_READ_ONLY;
  tokkos_row_masks masks = tokkos_row_masks_default();
  masks.bitmask = &of_bitmask;
  masks.seq_ids = &of_ids;
  masks.mask_rows = &of_rows;
  masks.active_vocabulary = 97;
  masks.row_status = &of_status;
  check_ok(tokkos_apply_bitmask(context.get(), &logits, &masks));
  check_ok(tokkos_context_fence(context.get()));
  const auto masked = results.values();
  CHECK(status.values() == expected_status.values());
  CHECK(status.values() == std::vector<std::int32_t>{0, 0, TOKKOS_ROW_INVALID_EDIT, 0});
  const auto expected_values = expected.values();
  for (std::size_t i = 0; i < masked.size(); ++i) {
    REQUIRE(widen(masked[i]) == widen(expected_values[i]));
    if (i / columns == 1) REQUIRE(widen(masked[i]) == widen(values[i]));
  }
  CHECK(results.guards_intact());
}

TEST_CASE("logits are masked where they lie, by words of C", "[interop]") {
  MaskedInPlace row;
  check_ok(row.apply());
  for (std::int64_t v = 0; v < OneRow::vocabulary; ++v) {
    REQUIRE(row.memory[static_cast<std::size_t>(v)] == (v == 41 ? 0.5f : -FLT_MAX));
  }
  CHECK(row.status[0] == TOKKOS_OK);
}

TEST_CASE("row masks of C that are wrong are refused by member", "[interop]") {
  MaskedInPlace row;
  const auto refused = [&](const std::string& field, auto change) {
    const tokkos_array bitmask = row.bitmask, index = row.row_index, logits = row.logits;
    const tokkos_row_masks masks = row.masks;
    change();
    CHECK(row.refused().field == field);
    row.bitmask = bitmask;
    row.row_index = index;
    row.logits = logits;
    row.masks = masks;
  };
  refused("bitmask", [&] { row.masks.bitmask = nullptr; });
  refused("seq_ids", [&] { row.masks.seq_ids = nullptr; });
  refused("masks.size", [&] { row.masks.size = 4; });
  refused("bitmask.shape", [&] { row.bitmask.shape[1] = 3; });
  refused("bitmask.type", [&] { row.bitmask.type = TOKKOS_FLOAT16; });
  refused("seq_ids.type", [&] { row.row_index.type = TOKKOS_INT64; });
  refused("logits.type", [&] { row.logits.type = TOKKOS_INT32; });
  refused("logits.flags", [&] { row.logits.flags = TOKKOS_ARRAY_READ_ONLY; });
  tokkos_array two = tokkos_vector(row.index.data(), TOKKOS_INT32, 2);
  refused("mask_rows.shape", [&] { row.masks.mask_rows = &two; });
  refused("row_status.shape", [&] { row.masks.row_status = &two; });
  const tokkos_array none = tokkos_vector(nullptr, TOKKOS_INT32, 0);
  refused("mask_rows.shape", [&] { row.masks.mask_rows = &none; });
  refused("row_status.shape", [&] { row.masks.row_status = &none; });
  refused("mask_rows.shape", [&] {  // nothing is listed, and yet given a mask
    row.row_index = none;
    row.masks.mask_rows = &two;
  });
  refused("logits.shape", [&] { row.logits = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 3, 0, 0); });
  for (const std::int64_t active : {std::int64_t{-1}, std::int64_t{101}, std::int64_t{1} << 40}) {
    refused("active_vocabulary", [&] { row.masks.active_vocabulary = active; });
  }
  CHECK(tokkos_apply_bitmask(nullptr, &row.logits, &row.masks) == TOKKOS_ERROR_INVALID_HANDLE);
  CHECK(complaint_of(tokkos_apply_bitmask(row.context.get(), nullptr, &row.masks)).field ==
        "logits");
  CHECK(complaint_of(tokkos_apply_bitmask(row.context.get(), &row.logits, nullptr)).field ==
        "masks");
  check_ok(row.apply());
  CHECK(row.memory[41] == 0.5f);
  CHECK(row.memory[42] == -FLT_MAX);
}

}  // namespace tokkos::test
