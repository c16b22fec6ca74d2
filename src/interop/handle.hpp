// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tokkos::interop {

/// What every opaque struct of tokkos.h derives from.
class Object {
 public:
  virtual ~Object() = default;
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
};

/// Takes over an object; its address is a live handle from now on.
void keep(std::unique_ptr<Object> object, const void* handle);

/// Ends the object of a handle. @throws HandleError if the handle is not live
/// @param is_kind whether an object is of the handle's kind
void end(const char* name, const void* handle, bool (*is_kind)(const Object&));

/// The object of a live handle, null for any other pointer.
Object* find(const void* handle) noexcept;

/// Throws HandleError: the handle is null, or not live.
[[noreturn]] void refuse_handle(const std::string& name, const void* handle);

/// The object behind a handle. Never reads through a pointer that is not live.
/// @throws HandleError if it is null, was destroyed or is of another kind
template <class Kind>
Kind& live(std::string_view name, const Kind* handle) {
  auto* object = dynamic_cast<Kind*>(find(handle));
  if (object == nullptr) refuse_handle(std::string(name), handle);
  return *object;
}

/// Makes an object and gives its handle back.
template <class Kind, class... Arguments>
void create(Kind** handle, Arguments&&... arguments) {
  auto object = std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
  Kind* const address = object.get();
  keep(std::move(object), address);
  *handle = address;
}

/// Ends an object; null is nothing to do.
template <class Kind>
void destroy(const char* name, Kind* handle) {
  if (handle == nullptr) return;
  end(name, handle,
      [](const Object& object) { return dynamic_cast<const Kind*>(&object) != nullptr; });
}

}  // namespace tokkos::interop
