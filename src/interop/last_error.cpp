// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/last_error.hpp"

#include <tokkos/core/error.hpp>

#include "core/request_of.hpp"
#include "interop/c_names.hpp"
#include "interop/sized_struct.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace tokkos::interop {

namespace {

/// Text that no allocation can keep from being stored; what does not fit is cut.
template <std::size_t capacity>
struct FixedText {
  std::array<char, capacity> letters{};

  void assign(std::string_view text) noexcept {
    const std::size_t count = text.size() < capacity ? text.size() : capacity - 1;
    std::copy_n(text.data(), count, letters.data());
    letters[count] = '\0';
  }
};

struct LastError {
  FixedText<1024> message;
  FixedText<256> field;
  FixedText<256> value;
  FixedText<512> expected;
  std::int64_t index = -1;
  std::int64_t request = -1;
  tokkos_status status = TOKKOS_OK;
};

thread_local LastError last_error;

tokkos_status set_error(tokkos_status status, std::string_view message, std::string_view field = {},
                        std::string_view value = {}, std::string_view expected = {},
                        std::optional<std::int64_t> index = std::nullopt) noexcept {
  last_error.message.assign(message);
  last_error.field.assign(field);
  last_error.value.assign(value);
  last_error.expected.assign(expected);
  last_error.index = index.value_or(-1);
  last_error.request = request_of(field).value_or(-1);
  last_error.status = status;
  return status;
}

tokkos_status set_error(const Error& error) noexcept {
  const tokkos_status status =
      error.field() == "Kokkos" ? TOKKOS_ERROR_KOKKOS : TOKKOS_ERROR_INVALID_ARGUMENT;
  try {
    return set_error(status, with_c_names(error.what()), with_c_names(error.field()),
                     with_c_names(error.value()), with_c_names(error.expected()), error.index());
  } catch (...) {  // no memory for other names
    return set_error(status, error.what(), error.field(), error.value(), error.expected(),
                     error.index());
  }
}

}  // namespace

tokkos_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return set_error(error);
  } catch (const HandleError& error) {
    return set_error(TOKKOS_ERROR_INVALID_HANDLE, error.what(), error.field(), error.value(),
                     error.expected());
  } catch (const CallbackError& error) {
    return set_error(TOKKOS_ERROR_CALLBACK, error.what(), error.callback(), error.reason());
  } catch (const UnsupportedError& error) {
    return set_error(TOKKOS_ERROR_UNSUPPORTED, error.what());
  } catch (const std::bad_alloc& error) {
    return set_error(TOKKOS_ERROR_OUT_OF_MEMORY, error.what());
  } catch (const std::length_error& error) {
    return set_error(TOKKOS_ERROR_OUT_OF_MEMORY, error.what());
  } catch (const std::exception& error) {
    // Kokkos has no type of its own for memory that it could not have, and one text.
    const bool is_memory =
        std::string_view(error.what()).find("failed to allocate") != std::string_view::npos;
    return set_error(is_memory ? TOKKOS_ERROR_OUT_OF_MEMORY : TOKKOS_ERROR_INTERNAL, error.what());
  } catch (...) {
    return set_error(TOKKOS_ERROR_INTERNAL, "an exception that is no std::exception");
  }
}

}  // namespace tokkos::interop

using namespace tokkos::interop;

void tokkos_error_init(tokkos_error* error, size_t size) {
  initialize_struct(error, size, tokkos_error{size, "", "", "", "", -1, 0, 0, -1});
}

const char* tokkos_last_error(void) {
  return last_error.message.letters.data();
}

tokkos_status tokkos_last_error_parts(tokkos_error* error) {
  return guarded([&] {
    // Read before anything can fail: a failure here would be the last error itself.
    tokkos_error parts{};
    parts.message = last_error.message.letters.data();
    parts.field = last_error.field.letters.data();
    parts.value = last_error.value.letters.data();
    parts.expected = last_error.expected.letters.data();
    parts.index = last_error.index;
    parts.request = last_error.request;
    parts.status = last_error.status;
    write_struct("error", error, parts);
  });
}

const char* tokkos_status_name(tokkos_status status) {
  switch (status) {
    case TOKKOS_OK:
      return "TOKKOS_OK";
    case TOKKOS_ERROR_INVALID_ARGUMENT:
      return "TOKKOS_ERROR_INVALID_ARGUMENT";
    case TOKKOS_ERROR_INVALID_HANDLE:
      return "TOKKOS_ERROR_INVALID_HANDLE";
    case TOKKOS_ERROR_CALLBACK:
      return "TOKKOS_ERROR_CALLBACK";
    case TOKKOS_ERROR_OUT_OF_MEMORY:
      return "TOKKOS_ERROR_OUT_OF_MEMORY";
    case TOKKOS_ERROR_KOKKOS:
      return "TOKKOS_ERROR_KOKKOS";
    case TOKKOS_ERROR_UNSUPPORTED:
      return "TOKKOS_ERROR_UNSUPPORTED";
    case TOKKOS_ERROR_INTERNAL:
      return "TOKKOS_ERROR_INTERNAL";
  }
  return "unknown";
}
