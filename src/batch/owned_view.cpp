// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/batch/owned_view.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace tokkos::detail {

namespace {

/// Everything that is to be released, and whether Kokkos knows of it.
struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<Releasable>> owners;
  bool hooked = false;
};

Registry& registry() {
  // Never destroyed: a program may finalize Kokkos at its exit, after the destructors of statics.
  static Registry& instance = *std::make_unique<Registry>().release();
  return instance;
}

void release_all() {
  std::vector<std::weak_ptr<Releasable>> owners;
  {
    const std::lock_guard lock(registry().mutex);
    owners.swap(registry().owners);
    registry().hooked = false;
  }
  for (const auto& owner : owners) {
    if (const auto alive = owner.lock()) alive->release();
  }
}

}  // namespace

void release_at_finalize(const std::shared_ptr<Releasable>& owner) {
  const std::lock_guard lock(registry().mutex);
  if (!registry().hooked) {
    Kokkos::push_finalize_hook(release_all);
    registry().hooked = true;
  }
  std::erase_if(registry().owners, [](const auto& known) { return known.expired(); });
  registry().owners.push_back(owner);
}

}  // namespace tokkos::detail
