// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"
#include "lm_head/gemm.hpp"
#include "lm_head/pieces.hpp"

#include <KokkosBlas3_gemm.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace tokkos {

namespace {

/// Rows one after the other, at a distance, as Kokkos Kernels takes them: its products are
/// instantiated for LayoutRight, whose rows may be padded, and not for LayoutStride.
template <class T, class ExecutionSpace>
auto padded_rows(T* data, std::int64_t rows, std::int64_t width, std::int64_t stride) {
  const Kokkos::View<T**, Kokkos::LayoutRight, typename ExecutionSpace::device_type,
                     Kokkos::MemoryUnmanaged>
      whole(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(stride));
  return Kokkos::subview(whole, Kokkos::ALL, std::pair<std::int64_t, std::int64_t>(0, width));
}

/// Rows [n, k] times the transpose of [m, k].
template <class ExecutionSpace>
void multiply(const ExecutionSpace& space,
              const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden, const float* weights,
              std::int64_t weight_stride, std::int64_t tokens,
              const Matrix<float, MemoryOf<ExecutionSpace>>& logits) {
  const auto rows = static_cast<std::int64_t>(hidden.extent(0));
  const auto size = static_cast<std::int64_t>(hidden.extent(1));
  const auto stride_of = [&](const auto& view, std::int64_t width) {
    return rows > 1 ? static_cast<std::int64_t>(view.stride(0)) : width;
  };
  const auto a =
      padded_rows<const float, ExecutionSpace>(hidden.data(), rows, size, stride_of(hidden, size));
  const auto b = padded_rows<const float, ExecutionSpace>(weights, tokens, size,
                                                          tokens > 1 ? weight_stride : size);
  const auto c =
      padded_rows<float, ExecutionSpace>(logits.data(), rows, tokens, stride_of(logits, tokens));
  static_assert(std::is_same_v<typename decltype(c)::array_layout, Kokkos::LayoutRight>);
  KokkosBlas::gemm(space, "N", "T", 1.0f, a, b, 0.0f, c);
}

template <class ExecutionSpace, LogitType Weight>
struct WidenWeights {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<const Weight, Space> weight;
  float* widened;
  std::int64_t first;

  /// Entry by entry: elements of a row follow each other.
  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    const auto size = static_cast<std::int64_t>(weight.extent(1));
    widened[entry] = widen(weight(first + entry / size, entry % size));
  }
};

/// The first columns of rows, as many as the narrower of the two has.
template <class ExecutionSpace>
struct CopyRows {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<const float, Space> from;
  Matrix<float, Space> to;
  const std::int64_t* order;  ///< of the rows that are copied
  bool gather;                ///< from the rows of `order`, or to them
  std::int64_t width;

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    const std::int64_t place = entry / width;
    const std::int64_t column = entry % width;
    const std::int64_t row = order[place];
    to(gather ? place : row, column) = from(gather ? row : place, column);
  }
};

template <class T, class Space>
Matrix<T, Space> dense(T* data, std::int64_t rows, std::int64_t width) {
  const auto columns = static_cast<std::size_t>(width);
  return Matrix<T, Space>(
      data, Kokkos::LayoutStride(static_cast<std::size_t>(rows), columns, columns, 1));
}

/// The pieces that rows have chosen, on the host.
template <class ExecutionSpace>
std::vector<std::int64_t> starts_on_host(const ExecutionSpace& space,
                                         const LogitWindow<MemoryOf<ExecutionSpace>>& window) {
  const std::size_t rows = window.starts.extent(0);
  std::vector<std::int64_t> starts(rows);
  using Host = Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  using Device =
      Kokkos::View<const std::int64_t*, MemoryOf<ExecutionSpace>, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(space, Host(starts.data(), rows), Device(window.starts.data(), rows));
  space.fence("tokkos::lm_head::starts");
  return starts;
}

/// The rows that a window holds a piece of, by piece, on host and device.
template <class ExecutionSpace>
std::vector<std::int64_t> sort_rows(const ExecutionSpace& space,
                                    const std::vector<std::int64_t>& starts,
                                    std::int64_t first_start, std::int64_t* on_device) {
  std::vector<std::int64_t> order(starts.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto start_of = [&](std::int64_t row) { return starts[static_cast<std::size_t>(row)]; };
  std::erase_if(order, [&](std::int64_t row) { return start_of(row) < first_start; });
  if (order.empty()) return order;
  std::ranges::stable_sort(order, {}, start_of);
  using Host = Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  using Device = Kokkos::View<std::int64_t*, MemoryOf<ExecutionSpace>, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(space, Device(on_device, order.size()), Host(order.data(), order.size()));
  space.fence("tokkos::lm_head::order");  // the host's list goes away
  return order;
}

}  // namespace

template <class ExecutionSpace, LogitType Weight>
void gemm_block(const ExecutionSpace& space,
                const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight, std::int64_t first,
                std::int64_t count, const Matrix<float, MemoryOf<ExecutionSpace>>& logits,
                const GemmRoom& room) {
  const auto size = static_cast<std::int64_t>(weight.extent(1));
  if constexpr (std::is_same_v<Weight, float>) {
    const auto stride = static_cast<std::int64_t>(weight.stride(0));
    multiply(space, hidden, weight.data() + first * stride, stride, count, logits);
  } else {
    for (std::int64_t column = 0; column < count; column += chunk_size) {
      const std::int64_t tokens = std::min(count - column, std::int64_t{chunk_size});
      launch_entries("tokkos::lm_head::widen", space, tokens * size,
                     WidenWeights<ExecutionSpace, Weight>{weight, room.weights, first + column});
      const Matrix<float, MemoryOf<ExecutionSpace>> part(
          logits.data() + column, Kokkos::LayoutStride(logits.extent(0), logits.stride(0),
                                                       static_cast<std::size_t>(tokens), 1));
      multiply(space, hidden, static_cast<const float*>(room.weights), size, tokens, part);
    }
  }
}

template <class ExecutionSpace, LogitType Weight>
void gemm_chosen(const ExecutionSpace& space,
                 const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                 const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight, std::int64_t active,
                 const LogitWindow<MemoryOf<ExecutionSpace>>& window, const GemmRoom& room) {
  using Space = MemoryOf<ExecutionSpace>;
  const std::vector<std::int64_t> starts = starts_on_host(space, window);
  const std::vector<std::int64_t> order = sort_rows(space, starts, window.first_start, room.order);
  const auto size = static_cast<std::int64_t>(hidden.extent(1));
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::int64_t first = starts[static_cast<std::size_t>(order[begin])];
    while (end < order.size() && starts[static_cast<std::size_t>(order[end])] == first) ++end;
    const auto rows = static_cast<std::int64_t>(end - begin);
    const std::int64_t tokens = std::min(active - first, std::int64_t{piece_size});
    const std::int64_t* list = room.order + begin;
    const auto own = dense<float, Space>(room.hidden, rows, size);
    const auto logits = dense<float, Space>(room.logits, rows, tokens);
    launch_entries("tokkos::lm_head::gather", space, rows * size,
                   CopyRows<ExecutionSpace>{hidden, own, list, true, size});
    gemm_block<ExecutionSpace, Weight>(space, own, weight, first, tokens, logits, room);
    launch_entries("tokkos::lm_head::scatter", space, rows * tokens,
                   CopyRows<ExecutionSpace>{logits, window.logits, list, false, tokens});
  }
}

#define TOKKOS_INSTANTIATE(Space, Weight)                                       \
  template void gemm_block<Space, Weight>(                                      \
      const Space&, const Matrix<const float, MemoryOf<Space>>&,                \
      const Matrix<const Weight, MemoryOf<Space>>&, std::int64_t, std::int64_t, \
      const Matrix<float, MemoryOf<Space>>&, const GemmRoom&);                  \
  template void gemm_chosen<Space, Weight>(                                     \
      const Space&, const Matrix<const float, MemoryOf<Space>>&,                \
      const Matrix<const Weight, MemoryOf<Space>>&, std::int64_t,               \
      const LogitWindow<MemoryOf<Space>>&, const GemmRoom&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
