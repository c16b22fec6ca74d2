// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What is read of the caller's memory: structs of any size, arrays and tensors of any shape, text
// of any room. Nothing is touched beside what they say they are.
#include <tokkos/interop/dlpack.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "fuzz/c_api.hpp"

namespace tokkos::test {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t vocabulary = 33;
constexpr std::uint8_t untouched = 0xA5;

/// Any number, mostly a small one.
std::int64_t fuzz_number(FuzzBytes& bytes) {
  return bytes.one_of<std::int64_t>({bytes.below(4), vocabulary, -1, most, least, most / 2 + 1,
                                     vocabulary - 1, bytes.byte(), 1LL << 32, 2147483647});
}

std::size_t fuzz_size(FuzzBytes& bytes, std::size_t right) {
  return bytes.one_of<std::size_t>({right, right + 8, right - 8, 8, 0, 4096, 4104, right + 4,
                                    std::numeric_limits<std::size_t>::max()});
}

bool is_size(std::size_t size) {
  return size >= 8 && size <= 4096 && size % 8 == 0;
}

/// A struct of any size that is read.
void read_limits(FuzzBytes& bytes) {
  const tokkos_limits given = {fuzz_size(bytes, sizeof(tokkos_limits)), fuzz_number(bytes),
                               fuzz_number(bytes), fuzz_number(bytes),
                               bytes.mostly<std::int64_t>({0, 5}, {-1, least})};
  alignas(8) std::array<std::uint8_t, 4096> memory{};
  std::memcpy(memory.data(), &given, sizeof given);
  // A member of a later version.
  const bool newer = bytes.rarely();
  if (newer) memory[sizeof given] = 1;
  tokkos_limits seen{};
  std::memcpy(&seen, memory.data(), std::min(given.size, sizeof seen));
  // Rows are not made here, only counted: a processor asks for their memory when it needs it.
  if (seen.max_rows > 64 && seen.max_rows <= 2147483647) return;
  const bool is_whole = seen.active_vocabulary == 0;
  const bool is_right =
      is_size(given.size) && !(newer && given.size > sizeof given) && seen.max_rows >= 0 &&
      seen.max_rows <= 2147483647 && seen.max_edits >= 0 && seen.vocabulary >= 1 &&
      seen.vocabulary <= 2147483647 &&
      (is_whole ? seen.vocabulary < 524288
                : seen.active_vocabulary >= 1 && seen.active_vocabulary <= seen.vocabulary &&
                      seen.active_vocabulary < 524288);
  ErrorWatch watch;
  SamplerOfC sampler;
  const bool works = watch.worked(
      tokkos_sampler_create(c_context(false).get(),
                            reinterpret_cast<const tokkos_limits*>(memory.data()), sampler.put()));
  expect(works == is_right && works == (sampler.get() != nullptr), "limits are checked");
}

/// A struct of any size that is written.
void write_error(FuzzBytes& bytes) {
  alignas(8) std::array<std::uint8_t, 4200> memory{};
  memory.fill(untouched);
  const std::size_t size = fuzz_size(bytes, sizeof(tokkos_error));
  std::memcpy(memory.data(), &size, sizeof size);
  ErrorWatch watch;
  const bool works =
      watch.worked(tokkos_last_error_parts(reinterpret_cast<tokkos_error*>(memory.data())));
  expect(works == is_size(size), "a struct of any version is filled");
  const std::size_t written = works ? std::min(size, sizeof(tokkos_error)) : sizeof size;
  expect(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(written), memory.end(),
                     [](std::uint8_t byte) { return byte == untouched; }),
         "nothing is written past a struct's size");
}

void name_status(FuzzBytes& bytes) {
  std::array<char, 300> text{};
  text.fill(static_cast<char>(untouched));
  const auto room = static_cast<std::size_t>(bytes.byte());
  std::size_t length = 0;
  ErrorWatch watch;
  expect(watch.worked(tokkos_row_status_names(static_cast<std::int32_t>(bytes.number()),
                                              text.data(), room, &length)),
         "every status has names");
  if (room > 0) {
    expect(std::string_view(text.data()).size() == std::min(length, room - 1), "texts are cut");
  }
  expect(std::all_of(text.begin() + static_cast<std::ptrdiff_t>(room), text.end(),
                     [](char c) { return c == static_cast<char>(untouched); }),
         "nothing is written past a text's room");
}

void make_context(FuzzBytes& bytes) {
  tokkos_context_options options = tokkos_context_options_default();
  c_context(false);  // Kokkos runs
  options.backend = bytes.mostly<std::int32_t>({1, 2, 0}, {3, 4, 5, -1, 77});
  options.device = bytes.mostly<std::int32_t>({-1}, {-2, 3, 2147483647});
  options.has_stream = bytes.mostly<std::int32_t>({0}, {1, 2, -1});
  options.num_threads = bytes.mostly<std::int32_t>({0, 2, 512}, {-1, 513});
  ErrorWatch watch;
  Context made;
  const bool works = watch.worked(tokkos_context_create(&options, made.put()));
  expect(works == (made.get() != nullptr), "a context is made or refused");
  if (works) check_ok(tokkos_context_fence(made.get()));
}

/// An array whose numbers are any: the step is refused, or writes where the array lies.
void damage_array(FuzzBytes& bytes) {
  constexpr std::int64_t rows = 2, stride = 2 * vocabulary;
  std::vector<float> logits(rows * stride + 32, 0.25f);
  std::array<std::int32_t, 8> tokens{};
  tokens.fill(-7);
  tokkos_array given = tokkos_matrix(logits.data(), TOKKOS_FLOAT32, rows, vocabulary, stride);
  tokkos_array drawn = tokkos_vector(tokens.data(), TOKKOS_INT32, rows);
  tokkos_array& damaged = bytes.flag() ? drawn : given;
  const int changes = bytes.below(3);
  for (int i = 0; i < changes; ++i) {
    const std::int64_t number = fuzz_number(bytes);
    const auto number32 = static_cast<std::int32_t>(number);
    switch (bytes.below(7)) {
      case 0:
        damaged.type = number32;
        break;
      case 1:
        damaged.ndim = number32;
        break;
      case 2:
        damaged.flags = number32;
        break;
      case 3:
        damaged.shape[bytes.below(2)] = number;
        break;
      case 4:
        // Strides that no memory of this program has are believed; those are left out.
        if (number <= stride || number > most / 2) damaged.strides[bytes.below(2)] = number;
        break;
      case 5:
        if (bytes.flag() || damaged.data == nullptr) {
          damaged.data = nullptr;
        } else {
          damaged.data = static_cast<char*>(damaged.data) + 2;
        }
        break;
      default:
        damaged.reserved = number32;
    }
  }
  if (&damaged == &drawn && drawn.strides[0] > 4) drawn.strides[0] = 4;
  const std::vector<float> before = logits;
  std::array<tokkos_request, 2> requests{tokkos_request_default(), tokkos_request_default()};
  tokkos_step step = tokkos_step_default();
  step.requests = requests.data();
  step.request_count = requests.size();
  tokkos_step_options options = tokkos_step_options_default();
  const std::array<float, 2> uniforms{0.25f, 0.75f};
  options.uniforms = uniforms.data();
  options.uniform_count = uniforms.size();
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  outputs.tokens = &drawn;
  const Processor processor = processor_on(c_context(false), limits_of(4, vocabulary));
  ErrorWatch watch;
  const bool works = watch.worked(
      tokkos_processor_process(processor.get(), &given, &step, &outputs, &options, nullptr));
  expect(logits == before, "a step without edits leaves the logits");
  const auto changed = std::ranges::count_if(tokens, [](std::int32_t t) { return t != -7; });
  const bool writes = works && drawn.shape[0] == rows;  // an empty array is none
  expect(changed == (writes ? rows : 0), "tokens are written where the array lies, or not at all");
}

/// A tensor whose members are any.
void import_tensor(FuzzBytes& bytes) {
  alignas(64) std::array<float, 64> memory{};
  std::array<std::int64_t, 3> shape{3, 5, 1}, strides{8, 1, 1};
  for (std::int64_t& extent : shape) extent = bytes.mostly({extent}, {fuzz_number(bytes)});
  for (std::int64_t& step : strides) step = bytes.mostly({step}, {fuzz_number(bytes)});
  DLManagedTensorVersioned managed{};
  managed.version = {bytes.mostly<std::uint32_t>({1}, {0, 2, 77}), bytes.byte()};
  managed.flags = bytes.number();
  DLTensor& tensor = managed.dl_tensor;
  tensor.data = bytes.mostly<void*>({memory.data()}, {nullptr, memory.data() + 1});
  tensor.device = {static_cast<DLDeviceType>(bytes.mostly({1, 1}, {2, 3, 30})), bytes.below(2)};
  tensor.ndim = bytes.mostly({2, 1}, {0, 3, -1, 2147483647});
  tensor.dtype = {bytes.mostly<std::uint8_t>({kDLFloat, kDLInt, kDLBfloat}, {bytes.byte()}),
                  bytes.mostly<std::uint8_t>({32, 16, 64}, {bytes.byte()}),
                  bytes.mostly<std::uint16_t>({1}, {0, 2})};
  tensor.shape = bytes.rarely() ? nullptr : shape.data();
  tensor.strides = bytes.rarely() ? nullptr : strides.data();
  tensor.byte_offset = bytes.mostly<std::uint64_t>(
      {0, 8, 4, 2}, {1, std::numeric_limits<std::uint64_t>::max(), 1ull << 63});
  const bool versioned = bytes.flag();
  const void* const given = versioned ? static_cast<const void*>(&managed) : &tensor;
  const std::int32_t kind = versioned ? TOKKOS_DLPACK_VERSIONED : TOKKOS_DLPACK_TENSOR;
  tokkos_array made = tokkos_vector(memory.data(), TOKKOS_INT64, 77);
  ErrorWatch watch;
  if (!watch.worked(
          tokkos_array_from_dlpack(c_context(false).get(), given, kind, nullptr, &made))) {
    expect(made.shape[0] == 77, "a refused tensor makes no array");
    return;
  }
  expect(made.ndim == tensor.ndim && (made.ndim == 1 || made.ndim == 2), "dimensions are kept");
  expect(made.shape[0] == shape[0], "extents are kept");
  const bool is_empty = shape[0] == 0 || (made.ndim == 2 && shape[1] == 0);
  expect(is_empty || made.data == static_cast<char*>(tensor.data) + tensor.byte_offset,
         "an array lies where its tensor lies");
}

}  // namespace

void fuzz_c_structs(FuzzBytes& bytes) {
  switch (bytes.below(6)) {
    case 0:
      return read_limits(bytes);
    case 1:
      return write_error(bytes);
    case 2:
      return name_status(bytes);
    case 3:
      return make_context(bytes);
    case 4:
      return damage_array(bytes);
    default:
      return import_tensor(bytes);
  }
}

}  // namespace tokkos::test
