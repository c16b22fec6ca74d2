// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "request/error_of.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokkos::test;

/// The arguments of normalize over 3 rows of 100 logits, to be spoilt by a test.
template <class Backend>
struct Arguments {
  using Memory = typename Backend::memory_space;
  RowBatch batch = [] {
    RowBatch three;
    three.vocabulary = 100;
    three.logits.assign(300, 1.0f);
    three.words = 4;
    three.bitmask.assign(12, -1);
    return three;
  }();
  DeviceRows<Backend> device{batch};
  typename Backend::execution_space space;

  /// The errors of measure, softmax and normalize; whichever do not look at the spoilt argument may
  /// have none.
  std::vector<tokkos::Error> errors() {
    std::vector<tokkos::Error> thrown;
    const std::vector<std::function<void()>> calls{
        [&] { tokkos::measure(space, device.rows, device.measures, device.status); },
        [&] { tokkos::normalize(space, device.rows, device.measures, device.probabilities); },
        [&] {
          tokkos::softmax(space, device.rows, device.measures, device.probabilities, device.status);
        }};
    for (const auto& call : calls) {
      if (auto error = thrown_by(call)) thrown.push_back(*error);
    }
    return thrown;
  }

  bool nothing_is_written() {
    RowResults results;
    device.read_probabilities(results);
    bool untouched = results.padding_is_untouched;
    for (const float p : results.probabilities) untouched &= p == DeviceRows<Backend>::canary;
    for (const auto status : on_host(device.status)) untouched &= status == 0;
    return untouched;
  }
};

template <class Backend>
void expect_errors(Arguments<Backend>& arguments, std::size_t count, const std::string& field) {
  const auto errors = arguments.errors();
  CHECK(errors.size() == count);
  for (const auto& error : errors) CHECK(error.field().find(field) == 0);
  CHECK(arguments.nothing_is_written());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("arrays that do not fit the rows are an error before anything is written",
                        "", Backends) {
  using Memory = typename TestType::memory_space;
  Arguments<TestType> a;
  const auto good = a.device.rows;
  const auto spoilt = [&](const char* field, const auto& change) {
    a.device.rows = good;
    change(a.device.rows);
    expect_errors(a, 3, field);
  };
  const auto two = on_device<Memory>(std::vector<float>{1.0f, 1.0f});
  const auto one_word = on_device<Memory>(std::vector<std::int32_t>(9, -1), 3, 0, std::int32_t{-1});
  const auto two_masks =
      on_device<Memory>(std::vector<std::int32_t>(8, -1), 4, 0, std::int32_t{-1});
  const auto index = on_device<Memory>(std::vector<std::int32_t>{0, 0});
  spoilt("temperature", [&](auto& rows) { rows.temperature = two; });
  spoilt("temperature", [&](auto& rows) { rows.temperature = {}; });
  spoilt("bitmask", [&](auto& rows) { rows.bitmask.words = one_word; });
  spoilt("bitmask", [&](auto& rows) { rows.bitmask.words = two_masks; });
  spoilt("bitmask.row_index", [&](auto& rows) { rows.bitmask.row_index = index; });
  spoilt("active_vocabulary", [&](auto& rows) { rows.active_vocabulary = 101; });
  spoilt("active_vocabulary", [&](auto& rows) { rows.active_vocabulary = -1; });
}

TEMPLATE_LIST_TEST_CASE("outputs of the wrong shape are an error before anything is written", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  Arguments<TestType> a;
  const auto good = a.device.probabilities;
  const auto cut = [&](std::int64_t rows, std::int64_t columns) {
    using Range = std::pair<std::int64_t, std::int64_t>;
    return Kokkos::subview(good, Range(0, rows), Range(0, columns));
  };
  a.device.probabilities = cut(2, 100);
  expect_errors(a, 2, "probabilities");
  a.device.probabilities = cut(3, 99);
  expect_errors(a, 2, "probabilities");
  const Kokkos::LayoutStride narrow(3, 90, 100, 1);
  a.device.probabilities = tokkos::Matrix<float, Memory>(good.data(), narrow);
  expect_errors(a, 2, "probabilities");
  const Kokkos::LayoutStride spaced(3, 30, 100, 2);
  a.device.probabilities = tokkos::Matrix<float, Memory>(good.data(), spaced);
  expect_errors(a, 2, "probabilities");
  a.device.probabilities = good;

  // normalize takes no status.
  const Kokkos::View<std::int32_t*, Memory> two("short", 2);
  const auto& device = a.device;
  const auto measured =
      thrown_by([&] { tokkos::measure(a.space, device.rows, device.measures, two); });
  const auto fused = thrown_by(
      [&] { tokkos::softmax(a.space, device.rows, device.measures, device.probabilities, two); });
  REQUIRE((measured.has_value() && fused.has_value()));
  CHECK(measured->field().find("row_status") == 0);
  CHECK(fused->field().find("row_status") == 0);
  CHECK(a.nothing_is_written());

  const tokkos::Workspace<Memory> other(3, 5000);
  a.device.measures = other.measures(3);
  expect_errors(a, 3, "measures");
  a.device.measures = a.device.workspace().measures(2);
  expect_errors(a, 3, "measures");
}

TEMPLATE_LIST_TEST_CASE("a workspace that was moved from has room for no rows", "", Backends) {
  using Memory = typename TestType::memory_space;
  tokkos::Workspace<Memory> workspace(3, 5000);
  const tokkos::Workspace<Memory> taken = std::move(workspace);
  CHECK(taken.measures(3).chunk_maximum.extent(0) == 3);
  const auto none = workspace.measures(0);
  CHECK(none.chunk_maximum.extent(0) == 0);
  CHECK(none.row_mass.extent(0) == 0);
  for (const std::int64_t rows : {1, 2, 3}) {
    CHECK(error_of([&] { static_cast<void>(workspace.measures(rows)); }).field == "Kokkos");
  }
}

TEMPLATE_LIST_TEST_CASE("a row stride smaller than V is an error", "", Backends) {
  using Memory = typename TestType::memory_space;
  using Logit = typename TestType::logit;
  Arguments<TestType> a;
  const Kokkos::LayoutStride overlapping(3, 99, 100, 1);
  a.device.rows.logits =
      tokkos::Matrix<const Logit, Memory>(a.device.block().logits().data(), overlapping);
  expect_errors(a, 3, "logits");
}

TEMPLATE_LIST_TEST_CASE("an active vocabulary of 2^19 or more, or none, is an error", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  using Logit = typename TestType::logit;
  Arguments<TestType> a;
  const Kokkos::View<Logit**, Kokkos::LayoutRight, Memory> wide("wide", 1, 524288);
  const tokkos::Workspace<Memory> workspace(1, 524288);
  a.device.rows = {};
  a.device.rows.logits = wide;
  const Kokkos::View<float*, Memory> one("one", 1);
  a.device.rows.temperature = one;
  a.device.measures = workspace.measures(1);
  CHECK(a.errors().at(0).field() == "active_vocabulary");
  a.device.rows.active_vocabulary = 524287;
  Kokkos::deep_copy(one, 1.0f);
  CHECK_NOTHROW(tokkos::measure(a.space, a.device.rows, a.device.measures));
  a.space.fence("tokkos::test::measure");
  CHECK(on_host(a.device.measures.row_mass)[0] == std::int64_t{524287} << 44);
  const Kokkos::View<Logit**, Kokkos::LayoutRight, Memory> none("none", 1, 0);
  a.device.rows.logits = none;
  a.device.rows.active_vocabulary = 0;
  CHECK(a.errors().size() == 3);
}

TEMPLATE_LIST_TEST_CASE("probabilities may not overlap the logits other than exactly in place", "",
                        ExecutionSpaces) {
  using Backend = tokkos::test::Backend<TestType, float>;
  using Memory = typename TestType::memory_space;
  Arguments<Backend> a;
  const auto before = a.device.block().patterns();
  const auto logits = a.device.block().logits();
  const auto row = static_cast<std::size_t>(logits.stride(0));
  const auto expect_overlap = [&](std::int64_t offset, std::size_t stride) {
    const Kokkos::LayoutStride layout(3, stride, 100, 1);
    const auto good = a.device.probabilities;
    a.device.probabilities = tokkos::Matrix<float, Memory>(logits.data() + offset, layout);
    CHECK(a.errors().size() == 2);
    CHECK(a.device.block().patterns() == before);
    a.device.probabilities = good;
  };
  expect_overlap(1, row);
  expect_overlap(-1, row);
  expect_overlap(static_cast<std::int64_t>(row), row);
  expect_overlap(0, 100);  // another stride
  const auto index = on_device<Memory>(std::vector<std::int32_t>{0, 1, 2});
  a.device.rows.row_index = index;
  expect_overlap(0, row);  // in place, but rows are taken by index
}
