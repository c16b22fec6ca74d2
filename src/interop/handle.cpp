// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/handle.hpp"

#include "interop/last_error.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace tokkos::interop {

namespace {

/// The live objects by their handles. So a stale or wrong pointer is an error, not a crash.
struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<Object>> objects;
};

Registry& registry() {
  // Never destroyed: handles may be used until the very end of a process.
  static Registry& instance = *std::make_unique<Registry>().release();
  return instance;
}

}  // namespace

void keep(std::unique_ptr<Object> object, const void* handle) {
  const std::unique_lock lock(registry().mutex);
  registry().objects.emplace(handle, std::move(object));
}

void end(const char* name, const void* handle, bool (*is_kind)(const Object&)) {
  std::unique_ptr<Object> object;  // ended without the lock: it may call back
  {
    const std::unique_lock lock(registry().mutex);
    const auto found = registry().objects.find(handle);
    if (found != registry().objects.end() && is_kind(*found->second)) {
      object = std::move(found->second);
      registry().objects.erase(found);
    }
  }
  if (!object) refuse_handle(name, handle);
}

Object* find(const void* handle) noexcept {
  const std::shared_lock lock(registry().mutex);
  const auto found = registry().objects.find(handle);
  return found == registry().objects.end() ? nullptr : found->second.get();
}

void refuse_handle(const std::string& name, const void* handle) {
  if (handle == nullptr) throw HandleError(name, "null", "an object");
  throw HandleError(name, find(handle) == nullptr ? "not alive" : "an object of another kind",
                    "one that was created and not destroyed");
}

}  // namespace tokkos::interop
