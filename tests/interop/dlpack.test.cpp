// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// DLPack tensors made by hand, through C++ and C: what is taken without a copy, and which member
// an error names.
#include <tokkos/tokkos.h>
#include <tokkos/interop/dlpack.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "interop/c_objects.hpp"
#include "interop/last_complaint.hpp"

namespace tokkos::test {
namespace {

/// A tensor [3, 5] of float32 in rows of 8, from the third element of its memory on.
struct HandMade {
  alignas(64) std::array<float, 64> memory{};
  std::array<std::int64_t, 3> shape{3, 5, 1}, strides{8, 1, 1};
  DLTensor tensor{};

  HandMade() {
    tensor.data = memory.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape.data();
    tensor.strides = strides.data();
    tensor.byte_offset = 8;
  }
  HandMade(const HandMade&) = delete;
  HandMade& operator=(const HandMade&) = delete;

  DLManagedTensor managed() const { return {tensor, nullptr, nullptr}; }
  DLManagedTensorVersioned versioned(std::uint64_t flags = 0) const {
    DLManagedTensorVersioned made{};
    made.version = {1, 0};
    made.flags = flags;
    made.dl_tensor = tensor;
    return made;
  }
};

const Context& serial() {
  static const Context context = context_on<Kokkos::Serial>();
  return context;
}

tokkos_status import_to(tokkos_array& array, const void* tensor, std::int32_t kind) {
  return tokkos_array_from_dlpack(serial().get(), tensor, kind, "logits", &array);
}

/// The member that both ways of import name.
std::string refused_member(const DLTensor& tensor) {
  tokkos_array array{};
  const Complaint of_c = complaint_of(import_to(array, &tensor, TOKKOS_DLPACK_TENSOR));
  const Complaint of_cpp = error_of([&] {
    static_cast<void>(DlpackTensor("logits", tensor).matrix<const float>(Kokkos::Serial()));
  });
  CHECK(of_c.message == of_cpp.message);
  return of_c.field;
}

}  // namespace

TEST_CASE("tensors of every kind are taken where they lie", "[interop]") {
  HandMade made;
  const DLManagedTensor managed = made.managed();
  const DLManagedTensorVersioned versioned = made.versioned();
  const std::array<const void*, 3> tensors{&made.tensor, &managed, &versioned};
  for (std::int32_t kind = 0; kind < 3; ++kind) {
    tokkos_array array{};
    check_ok(import_to(array, tensors[static_cast<std::size_t>(kind)], kind));
    CHECK(array.data == made.memory.data() + 2);
    CHECK(array.type == TOKKOS_FLOAT32);
    CHECK(array.ndim == 2);
    CHECK(array.shape[0] == 3);
    CHECK(array.shape[1] == 5);
    CHECK(array.strides[0] == 8);
    CHECK(array.flags == 0);
  }
  const auto view = DlpackTensor("logits", versioned).matrix<float>(Kokkos::Serial());
  view(2, 4) = 7.0f;
  CHECK(made.memory[2 + 2 * 8 + 4] == 7.0f);
  CHECK(view.extent(0) == 3);
  CHECK(view.extent(1) == 5);
}

TEST_CASE("strides may be null, or say anything where there is one element", "[interop]") {
  HandMade made;
  made.tensor.strides = nullptr;
  tokkos_array array{};
  check_ok(import_to(array, &made.tensor, TOKKOS_DLPACK_TENSOR));
  CHECK(array.strides[0] == 5);
  CHECK(array.strides[1] == 1);
  made.tensor.strides = made.strides.data();
  made.shape = {1, 5, 1};
  made.strides = {-77, 1, 1};
  check_ok(import_to(array, &made.tensor, TOKKOS_DLPACK_TENSOR));
  CHECK(array.strides[0] == 5);
  made.shape = {0, 5, 1};
  made.tensor.data = nullptr;
  check_ok(import_to(array, &made.tensor, TOKKOS_DLPACK_TENSOR));
  CHECK(array.shape[0] == 0);
  made.shape = {3, 0, 1};
  check_ok(import_to(array, &made.tensor, TOKKOS_DLPACK_TENSOR));
  CHECK(array.shape[0] == 3);
  CHECK(array.shape[1] == 0);
  HandMade vector;
  vector.tensor.ndim = 1;
  vector.strides = {4, 1, 1};
  const auto view = DlpackTensor("tokens", vector.tensor).vector<float>(Kokkos::Serial());
  CHECK(view.stride(0) == 4);
  CHECK(&view(1) == vector.memory.data() + 6);
}

TEST_CASE("all types that Tokkos has are told apart", "[interop]") {
  HandMade made;
  const auto type_of = [&](DLDataType dtype) {
    made.tensor.dtype = dtype;
    tokkos_array array{};
    check_ok(import_to(array, &made.tensor, TOKKOS_DLPACK_TENSOR));
    return array.type;
  };
  CHECK(type_of({kDLFloat, 32, 1}) == TOKKOS_FLOAT32);
  CHECK(type_of({kDLFloat, 16, 1}) == TOKKOS_FLOAT16);
  CHECK(type_of({kDLBfloat, 16, 1}) == TOKKOS_BFLOAT16);
  CHECK(type_of({kDLInt, 32, 1}) == TOKKOS_INT32);
  CHECK(type_of({kDLInt, 64, 1}) == TOKKOS_INT64);
  CHECK(type_of({kDLUInt, 32, 1}) == TOKKOS_INT32);
  made.tensor.dtype = {kDLBfloat, 16, 1};
  const Kokkos::Serial space;
  CHECK(DlpackTensor("x", made.tensor).matrix<bfloat16>(space).data() ==
        static_cast<void*>(made.memory.data() + 2));
  CHECK(error_of([&] {
          static_cast<void>(DlpackTensor("x", made.tensor).matrix<float16>(space));
        }).message == "x.dtype is bfloat16, expected float16");
}

TEST_CASE("a mask's words are imported, signed or not, and mask logits", "[interop]") {
  std::array<std::uint32_t, 2> words{1u << 31 | 1u << 2, 1u << 1};
  std::array<std::int64_t, 2> shape{1, 2};
  DLTensor mask{};
  mask.data = words.data();
  mask.device = {kDLCPU, 0};
  mask.ndim = 2;
  mask.shape = shape.data();
  for (const std::uint8_t code : {kDLInt, kDLUInt}) {
    mask.dtype = {code, 32, 1};
    const Kokkos::Serial space;
    std::vector<float> logits(40, 1.0f);
    std::int32_t row = 0;
    const auto rows = vector_of<const std::int32_t, Kokkos::HostSpace>(&row, 1);
    const Matrix<float, Kokkos::HostSpace> matrix(logits.data(),
                                                  Kokkos::LayoutStride(1, 40, 40, 1));
    apply_bitmask_inplace(space, matrix, rows,
                          DlpackTensor("mask", mask).matrix<const std::int32_t>(space));
    for (std::size_t v = 0; v < logits.size(); ++v) {
      const bool is_allowed = v == 2 || v == 31 || v == 33;
      CHECK(logits[v] == (is_allowed ? 1.0f : -std::numeric_limits<float>::max()));
    }
  }
  mask.dtype = {kDLUInt, 32, 1};
  CHECK(error_of([&] {
          static_cast<void>(DlpackTensor("x", mask).matrix<const float>(Kokkos::Serial()));
        }).message == "x.dtype is uint32, expected float32");
}

TEST_CASE("a tensor that cannot be taken is refused by its member", "[interop]") {
  const auto refused = [](auto change) {
    HandMade made;
    change(made);
    return refused_member(made.tensor);
  };
  CHECK(refused([](HandMade& m) { m.tensor.ndim = 3; }) == "logits.ndim");
  CHECK(refused([](HandMade& m) {  // products that fit, and their sum does not
          m.shape[0] = 1, m.shape[1] = std::numeric_limits<std::int64_t>::max() - 7;
          m.tensor.strides = nullptr;
        }) == "logits.shape");
  CHECK(refused([](HandMade& m) { m.tensor.ndim = 0; }) == "logits.ndim");
  CHECK(refused([](HandMade& m) { m.tensor.ndim = -1; }) == "logits.ndim");
  CHECK(refused([](HandMade& m) { m.tensor.dtype = {kDLFloat, 64, 1}; }) == "logits.dtype");
  CHECK(refused([](HandMade& m) { m.tensor.dtype = {kDLUInt, 64, 1}; }) == "logits.dtype");
  CHECK(refused([](HandMade& m) { m.tensor.dtype.lanes = 4; }) == "logits.dtype");
  CHECK(refused([](HandMade& m) { m.tensor.dtype.code = 99; }) == "logits.dtype");
  CHECK(refused([](HandMade& m) { m.tensor.shape = nullptr; }) == "logits.shape");
  CHECK(refused([](HandMade& m) { m.shape[1] = -5; }) == "logits.shape");
  CHECK(refused([](HandMade& m) { m.shape[0] = std::numeric_limits<std::int64_t>::max(); }) ==
        "logits.shape");
  CHECK(refused([](HandMade& m) { m.strides[1] = 2; }) == "logits.strides");
  CHECK(refused([](HandMade& m) { m.strides[0] = 4; }) == "logits.strides");
  CHECK(refused([](HandMade& m) { m.strides[0] = -8; }) == "logits.strides");
  CHECK(refused([](HandMade& m) { m.strides[0] = 0; }) == "logits.strides");  // broadcast
  CHECK(refused([](HandMade& m) { m.tensor.device = {kDLCUDA, 0}; }) == "logits.device");
  CHECK(refused([](HandMade& m) { m.tensor.byte_offset = 3; }) == "logits.byte_offset");
  CHECK(refused([](HandMade& m) { m.tensor.byte_offset = ~std::uint64_t{3}; }) ==
        "logits.byte_offset");
  CHECK(refused([](HandMade& m) { m.tensor.data = nullptr; }) == "logits.data");
  CHECK(refused([](HandMade& m) {
          m.tensor.data = reinterpret_cast<char*>(m.memory.data()) + 1;
        }) == "logits.data");
  HandMade half;  // of the right kind and not of its size
  half.tensor.dtype.bits = 16;
  const Complaint said = error_of([&] {
    static_cast<void>(DlpackTensor("logits", half.tensor).matrix<const float>(Kokkos::Serial()));
  });
  CHECK(said.field == "logits.dtype");
  CHECK(said.value == "float16");
}

TEST_CASE("pinned memory of a GPU is a host's too", "[interop]") {
  HandMade made;
  tokkos_array array{};
  for (const DLDeviceType type : {kDLCPU, kDLCUDAHost, kDLROCMHost}) {
    made.tensor.device = {type, 0};
    check_ok(import_to(array, &made.tensor, TOKKOS_DLPACK_TENSOR));
  }
  constexpr DlpackDevice first{2, 0}, second{2, 1};
  CHECK_FALSE(first.reaches(second));
  CHECK(first.reaches({13, 0}));
  CHECK_FALSE(first.reaches({1, 0}));
}

TEST_CASE("a read-only tensor can be read, and not written", "[interop]") {
  HandMade made;
  const DLManagedTensorVersioned constant = made.versioned(DLPACK_FLAG_BITMASK_READ_ONLY);
  const Kokkos::Serial space;
  const DlpackTensor tensor("logits", constant);
  CHECK(tensor.matrix<const float>(space)(0, 0) == 0.0f);
  CHECK(error_of([&] { static_cast<void>(tensor.matrix<float>(space)); }).field == "logits.flags");
  tokkos_array array{};
  check_ok(import_to(array, &constant, TOKKOS_DLPACK_VERSIONED));
  CHECK(array.flags == TOKKOS_ARRAY_READ_ONLY);
}

TEST_CASE("versions, kinds and pointers are checked", "[interop]") {
  HandMade made;
  DLManagedTensorVersioned later = made.versioned();
  later.version = {2, 1};
  tokkos_array array{};
  const Complaint version = complaint_of(import_to(array, &later, TOKKOS_DLPACK_VERSIONED));
  CHECK(version.message == "logits.version is 2.1, expected 1.x");
  CHECK(complaint_of(import_to(array, &later, 3)).field == "kind");
  CHECK(complaint_of(import_to(array, nullptr, 0)).field == "logits");
  CHECK(complaint_of(tokkos_array_from_dlpack(serial().get(), &made.tensor, 0, nullptr, nullptr))
            .field == "array");
  made.tensor.ndim = 1;
  CHECK(error_of([&] {
          static_cast<void>(DlpackTensor("x", made.tensor).matrix<float>(Kokkos::Serial()));
        }).message == "x.ndim is 1, expected 2");
}

TEST_CASE("a host asks producers for no stream", "[interop]") {
  std::int32_t has_stream = 7, type = 0, id = 7;
  std::int64_t stream = 7;
  check_ok(tokkos_context_dlpack_stream(serial().get(), &has_stream, &stream));
  CHECK(has_stream == 0);
  check_ok(tokkos_context_dlpack_device(serial().get(), &type, &id));
  CHECK(type == kDLCPU);
  CHECK(id == 0);
}

TEST_CASE("what a context tells producers is told whole or not at all", "[interop]") {
  const Context& context = serial();
  std::int32_t number = 7;
  std::int64_t stream = 7;
  CHECK(complaint_of(tokkos_context_dlpack_stream(context.get(), &number, nullptr)).field ==
        "stream");
  CHECK(complaint_of(tokkos_context_dlpack_stream(context.get(), nullptr, &stream)).field ==
        "has_stream");
  CHECK(complaint_of(tokkos_context_dlpack_device(context.get(), &number, nullptr)).field ==
        "device_id");
  CHECK(complaint_of(tokkos_context_dlpack_device(context.get(), nullptr, &number)).field ==
        "device_type");
  CHECK(number == 7);
  CHECK(stream == 7);
}

}  // namespace tokkos::test
