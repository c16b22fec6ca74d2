// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <memory>
#include <utility>

namespace tokkos {

namespace detail {

/// Something that lets go of its memory before Kokkos is gone.
class Releasable {
 public:
  virtual ~Releasable() = default;
  virtual void release() = 0;
};

/// Has `owner` released in Kokkos::finalize, if it still lives then.
void release_at_finalize(const std::shared_ptr<Releasable>& owner);

}  // namespace detail

/// A View that an object owns. Kokkos aborts a program that frees a View after Kokkos::finalize;
/// this one is freed in a finalize hook, so objects that hold it may outlive Kokkos (and be
/// destroyed only).
template <class View>
class OwnedView {
 public:
  OwnedView() = default;
  /// Moves; what is left owns nothing.
  OwnedView(OwnedView&&) noexcept = default;
  /// Moves; what it owned is freed.
  OwnedView& operator=(OwnedView&&) noexcept = default;
  OwnedView(const OwnedView&) = delete;  // two owners would write to one memory
  OwnedView& operator=(const OwnedView&) = delete;
  /// Owns `view` from now on.
  explicit OwnedView(View view) : m_held(std::make_shared<Held>(std::move(view))) {
    detail::release_at_finalize(m_held);
  }

  /// The View; empty before one was given and after Kokkos::finalize.
  View get() const { return m_held ? m_held->view : View(); }

 private:
  struct Held final : detail::Releasable {
    explicit Held(View v) : view(std::move(v)) {}
    void release() override { view = View(); }
    View view;
  };
  std::shared_ptr<Held> m_held;
};

}  // namespace tokkos
