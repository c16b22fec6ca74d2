// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include "interop/kokkos_runtime.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace tokkos::interop {

/// A callback of the caller's that said that it failed, or threw.
class CallbackError : public std::runtime_error {
 public:
  /// @param callback which one it was: "mask.fill"
  /// @param reason "returned -1"
  CallbackError(std::string callback, std::string reason)
      : std::runtime_error(callback + " " + reason),
        m_callback(std::move(callback)),
        m_reason(std::move(reason)) {}
  const std::string& callback() const { return m_callback; }
  const std::string& reason() const { return m_reason; }

 private:
  std::string m_callback;
  std::string m_reason;
};

/// A handle that is null, was destroyed or is of another kind.
class HandleError : public std::runtime_error {
 public:
  HandleError(std::string field, std::string value, std::string expected)
      : std::runtime_error(field + " is " + value + ", expected " + expected),
        m_field(std::move(field)),
        m_value(std::move(value)),
        m_expected(std::move(expected)) {}
  const std::string& field() const { return m_field; }
  const std::string& value() const { return m_value; }
  const std::string& expected() const { return m_expected; }

 private:
  std::string m_field;
  std::string m_value;
  std::string m_expected;
};

/// Something that this library was built without.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The status of the exception in flight, whose text becomes this thread's last error.
tokkos_status status_of_exception() noexcept;

/// Whether what was caught is no exception but the end of a thread (pthread_exit, pthread_cancel),
/// which unwinds its frames as one does and has to go on.
inline bool is_end_of_thread() noexcept {
  return std::current_exception() == nullptr;
}

/// Runs the body of a C function: nothing that it throws gets out.
template <class Body>
tokkos_status guarded(Body&& body) {
  try {
    check_not_forked();
    const CallInFlight call;
    std::forward<Body>(body)();
    return TOKKOS_OK;
  } catch (...) {
    if (is_end_of_thread()) throw;
    return status_of_exception();
  }
}

/// Calls a callback that returns 0 or more where it works.
/// @throws CallbackError if it returns less, or throws
template <class Callback>
int called(const char* name, Callback&& callback) {
  int result = 0;
  try {
    result = std::forward<Callback>(callback)();
  } catch (const std::exception& error) {
    throw CallbackError(name, std::string("threw: ") + error.what());
  } catch (...) {
    if (is_end_of_thread()) throw;
    throw CallbackError(name, "threw something that is no std::exception");
  }
  if (result < 0) throw CallbackError(name, "returned " + std::to_string(result));
  return result;
}

/// Calls a callback that returns 0 where it works, and returns that. @throws CallbackError
/// otherwise
template <class Callback>
int called_to_do(const char* name, Callback&& callback) {
  const int result = called(name, std::forward<Callback>(callback));
  if (result != 0) throw CallbackError(name, "returned " + std::to_string(result));
  return result;
}

}  // namespace tokkos::interop
