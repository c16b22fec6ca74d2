// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/ordering.hpp>
#include <tokkos/engine/staging.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// A device on the host that does everything as late as it may: only when somebody waits for it.

namespace tokkos::test {

/// An instance: a queue of what it was given.
class LateSpace {
 public:
  using memory_space = Kokkos::HostSpace;

  /// What an instance was given first to last, and how far it is.
  class Queue {
   public:
    void add(std::string name, std::function<void()> work) {
      m_names.push_back(std::move(name));
      m_work.push_back(std::move(work));
    }
    std::size_t size() const { return m_work.size(); }
    const std::vector<std::string>& names() const { return m_names; }
    void run(std::size_t end) {
      while (m_done < end) {
        const std::function<void()> next = std::exchange(m_work[m_done++], {});
        next();  // it may ask for more of this queue
      }
    }

   private:
    std::vector<std::string> m_names;
    std::vector<std::function<void()>> m_work;
    std::size_t m_done = 0;
  };

  void launch(std::string name, std::function<void()> work) const {
    m_queue->add(std::move(name), std::move(work));
  }
  void fence(const std::string& name) const {
    m_queue->add(name, [] {});
    m_queue->run(m_queue->size());
  }
  const std::shared_ptr<Queue>& queue() const { return m_queue; }

  /// What uploads go to, as of the last PreparedStep.
  static inline std::weak_ptr<Queue> uploads;

 private:
  std::shared_ptr<Queue> m_queue = std::make_shared<Queue>();
};

/// Copies late, too.
template <class To, class From>
void copy_bytes(const LateSpace& space, const To& to, const From& from) {
  space.launch("copy", [to, from] { Kokkos::deep_copy(to, from); });
}

}  // namespace tokkos::test

namespace tokkos {

template <>
inline constexpr bool needs_upload<test::LateSpace> = true;

template <>
class Ordering<test::LateSpace> {
 public:
  bool record(const test::LateSpace& space) {
    m_queue = space.queue();
    m_end = m_queue->size();
    return true;
  }
  void precede(const test::LateSpace& space) const {
    if (m_queue) space.launch("wait", [queue = m_queue, end = m_end] { queue->run(end); });
  }
  void wait() const {
    if (m_queue) m_queue->run(m_end);
  }

 private:
  std::shared_ptr<test::LateSpace::Queue> m_queue;
  std::size_t m_end = 0;
};

template <>
inline test::LateSpace upload_instance(const test::LateSpace&) {
  const test::LateSpace other;
  test::LateSpace::uploads = other.queue();
  return other;
}

}  // namespace tokkos
