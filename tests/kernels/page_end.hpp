// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

namespace tokkos::test {

/// A host array between two pages that nobody may touch, its last element against the second one:
/// a read or write past the end, or a page before the beginning, stops the program.
template <class T>
class PageEnd {
 public:
  explicit PageEnd(std::span<const T> values) : m_size(values.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (values.size_bytes() + page - 1) / page * page;
    m_bytes = inside + 2 * page;
    m_pages = mmap(nullptr, m_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m_pages == MAP_FAILED) throw std::bad_alloc();
    char* first = static_cast<char*>(m_pages) + page;
    if (mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    m_data = reinterpret_cast<T*>(first + inside) - m_size;
    std::ranges::copy(values, m_data);
  }
  PageEnd(const PageEnd&) = delete;
  PageEnd& operator=(const PageEnd&) = delete;
  ~PageEnd() { munmap(m_pages, m_bytes); }

  /// From now on nobody may touch `count` elements from `first` on, which are whole pages.
  void forbid(std::size_t first, std::size_t count) const {
    if (mprotect(m_data + first, count * sizeof(T), PROT_NONE) != 0) throw std::bad_alloc();
  }

  T* data() const { return m_data; }
  std::span<const T> values() const { return {m_data, m_size}; }

 private:
  std::size_t m_size;
  std::size_t m_bytes;
  void* m_pages;
  T* m_data;
};

}  // namespace tokkos::test
