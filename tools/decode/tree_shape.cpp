// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/tree_shape.hpp"

#include <tokkos/core/error.hpp>

#include <charconv>
#include <optional>
#include <string_view>

namespace tokkos::tools {

namespace {

std::optional<std::int32_t> parse_count(std::string_view text) {
  std::int32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (count < 1 || count > TreeShape::max_nodes) return std::nullopt;
  return count;
}

}  // namespace

std::int32_t TreeShape::width(std::size_t depth) const {
  std::int32_t width = 1;
  for (std::size_t d = 0; d < depth; ++d) width *= children[d];
  return width;
}

std::int32_t TreeShape::nodes() const {
  std::int32_t nodes = 0;
  for (std::size_t depth = 1; depth <= children.size(); ++depth) nodes += width(depth);
  return nodes;
}

TreeShape parse_tree_shape(const std::string& text) {
  const Error bad("--tree", std::nullopt, "\"" + text + "\"",
                  "chain:K or AxBxC with numbers of at least 1 and at most 1024 nodes");
  TreeShape shape;
  if (text.starts_with("chain:")) {
    const auto length = parse_count(std::string_view(text).substr(6));
    if (!length) throw bad;
    shape.children.assign(static_cast<std::size_t>(*length), 1);
    return shape;
  }
  std::string_view rest = text;
  std::int64_t width = 1;
  std::int64_t nodes = 0;
  while (true) {
    const std::size_t cross = rest.find('x');
    const auto count = parse_count(rest.substr(0, cross));
    if (!count) throw bad;
    width *= *count;
    nodes += width;
    if (nodes > TreeShape::max_nodes) throw bad;
    shape.children.push_back(*count);
    if (cross == std::string_view::npos) return shape;
    rest.remove_prefix(cross + 1);
  }
}

}  // namespace tokkos::tools
