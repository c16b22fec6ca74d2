// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/replay_input.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/types.hpp>

#include "tools/io/input_file.hpp"
#include "tools/io/safetensors_reader.hpp"
#include "tools/io/tensor_checks.hpp"

#include <limits>
#include <span>

namespace tokkos::tools {

namespace {

const TensorInfo& find_logits(const SafetensorsReader& reader) {
  const TensorInfo& logits = reader.require("logits");
  const bool widens =
      logits.dtype->name == "F32" || logits.dtype->name == "F16" || logits.dtype->name == "BF16";
  reader.check(logits,
               widens && logits.shape.size() == 2 &&
                   logits.shape[0] <= std::numeric_limits<std::int32_t>::max() &&
                   logits.shape[1] >= 1 && logits.shape[1] <= max_vocabulary,
               "F32, F16 or BF16 [n, V], n and V below 2^31, V at least 1");
  return logits;
}

HostMatrix<float> read_logits(SafetensorsReader& reader, const TensorInfo& info) {
  HostMatrix<float> logits(
      Kokkos::view_alloc("tokkos::replay::logits", Kokkos::WithoutInitializing), info.shape[0],
      info.shape[1]);
  reader.read_widened(info, {logits.data(), logits.span()});
  return logits;
}

HostMatrix<std::int32_t> read_bitmask(SafetensorsReader& reader, std::int64_t rows,
                                      std::int64_t vocabulary, std::int64_t active_vocabulary) {
  const TensorInfo* info = reader.find("bitmask");
  if (!info) return {};
  const std::int64_t fewest = (active_vocabulary + 31) / 32;
  const std::int64_t most = (vocabulary + 31) / 32;
  reader.check(*info,
               info->dtype->name == "I32" && info->shape.size() == 2 && info->shape[0] == rows &&
                   info->shape[1] >= fewest && info->shape[1] <= most,
               "I32 [" + to_text(rows) + ", " + to_text(fewest) + " to " + to_text(most) + "]");
  HostMatrix<std::int32_t> bitmask(
      Kokkos::view_alloc("tokkos::replay::bitmask", Kokkos::WithoutInitializing), info->shape[0],
      info->shape[1]);
  reader.read(*info, {bitmask.data(), bitmask.span()});
  return bitmask;
}

std::vector<float> read_uniforms(SafetensorsReader& reader, std::int64_t rows) {
  const TensorInfo* info = reader.find("uniforms");
  if (!info) return {};
  reader.check_shape(*info, "F32", {rows});
  std::vector<float> uniforms(static_cast<std::size_t>(rows));
  reader.read(*info, uniforms);
  for (std::size_t row = 0; row < uniforms.size(); ++row) {
    check_uniform(reader.file(), "uniforms", row, uniforms[row]);
  }
  return uniforms;
}

}  // namespace

ReplayInput read_replay_input(const std::string& logits_file, const std::string& requests_file) {
  SafetensorsReader reader(logits_file);
  allow_only(reader, {"logits", "bitmask", "uniforms"});
  const TensorInfo& logits = find_logits(reader);
  const std::int64_t rows = logits.shape[0];
  const std::int64_t vocabulary = logits.shape[1];
  ReplayInput input;
  input.requests =
      parse_request_file(read_input_file(requests_file), requests_file, rows, vocabulary);
  input.bitmask = read_bitmask(reader, rows, vocabulary, input.requests.active_vocabulary);
  input.uniforms = read_uniforms(reader, rows);
  input.logits = read_logits(reader, logits);
  return input;
}

}  // namespace tokkos::tools
