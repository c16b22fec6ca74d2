// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/draft_tree.hpp>
#include <tokkos/request/generation_config.hpp>
#include <tokkos/request/step_requests.hpp>
#include <tokkos/request/token_history.hpp>

#include "tools/replay/log_probability_request.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::tools {

/// The requests of a replayed step, in row order.
class ReplayRequests {
 public:
  ReplayRequests() = default;
  ReplayRequests(ReplayRequests&&) = default;
  ReplayRequests& operator=(ReplayRequests&&) = default;

  /// A view of everything; valid while this object lives and is not changed.
  StepRequests step() const;

  /// Rows of the requests that obey their rows of the bitmask.
  std::vector<std::int32_t> masked_rows() const;

  /// Each row's value: that of the request that owns it.
  template <class T, class ValueOf>
  std::vector<T> of_rows(const ValueOf& value_of) const {
    std::vector<T> values;
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const auto rows = static_cast<std::size_t>(cum_num_token[i + 1] - cum_num_token[i]);
      values.insert(values.end(), rows, static_cast<T>(value_of(i)));
    }
    return values;
  }

  std::int64_t active_vocabulary = 0;
  std::vector<std::string> ids;
  std::vector<GenerationConfig> configs;
  std::vector<TokenHistory> histories;
  std::vector<SequenceState> states;  ///< point to `histories`
  std::vector<std::int32_t> cum_num_token{0};
  std::vector<DraftTree> drafts;
  std::vector<std::vector<std::int32_t>> draft_rows;
  std::vector<bool> masked;
  std::vector<LogProbabilityRequest> log_probabilities;
};

/// Reads a request file, for logits of `rows` rows of `vocabulary` tokens.
/// @param text its content
/// @param file what errors call it
/// @throws Error that names the field, its value and what was expected; fields and values that this
///   version does not know are errors
ReplayRequests parse_request_file(const std::string& text, const std::string& file,
                                  std::int64_t rows, std::int64_t vocabulary);

}  // namespace tokkos::tools
