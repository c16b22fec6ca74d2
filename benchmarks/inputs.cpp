// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <tokkos/numerics/stored_logit.hpp>

#include <algorithm>
#include <random>
#include <span>
#include <type_traits>

namespace tokkos::bench {

namespace {

template <class T>
Numbers<T> on_device(const std::vector<T>& values) {
  const Numbers<T> view(Kokkos::view_alloc("tokkos::bench::input", Kokkos::WithoutInitializing),
                        values.size());
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                                values.size());
  Kokkos::deep_copy(view, host);
  return view;
}

/// Fills rows on the host: row(i, span) writes row i.
template <class T, class Row>
Rows<T> make_rows(std::int64_t rows, std::int64_t columns, const Row& row) {
  const Rows<T> view(Kokkos::view_alloc("tokkos::bench::input", Kokkos::WithoutInitializing), rows,
                     columns);
  const auto host = Kokkos::create_mirror_view(view);
  for (std::int64_t i = 0; i < rows; ++i) {
    row(i, std::span<T>(&host(i, 0), static_cast<std::size_t>(columns)));
  }
  Kokkos::deep_copy(view, host);
  return view;
}

}  // namespace

template <LogitType Logit>
std::string type_name() {
  if constexpr (std::is_same_v<Logit, float>) return "float32";
  return std::is_same_v<Logit, bfloat16> ? "bfloat16" : "float16";
}

std::string case_name(const std::string& operation, const std::string& type, std::int64_t rows,
                      std::int64_t vocabulary, const std::string& variant) {
  return operation + '/' + type + '/' + std::to_string(rows) + '/' + std::to_string(vocabulary) +
         (variant.empty() ? "" : '/' + variant);
}

template <LogitType Logit>
Rows<Logit> make_logits(std::int64_t rows, std::int64_t vocabulary, Values values) {
  std::mt19937 generator(2024);
  std::normal_distribution<float> normal(values == Values::offset ? 1e4f : 0.0f,
                                         values == Values::flat ? 0.0f : 2.5f);
  std::vector<Logit> numbers(static_cast<std::size_t>(rows + vocabulary));
  for (Logit& number : numbers) number = narrow<Logit>(normal(generator));
  return make_rows<Logit>(rows, vocabulary, [&](std::int64_t i, std::span<Logit> row) {
    std::copy_n(numbers.begin() + i, vocabulary, row.begin());
    if (values == Values::peaked) {
      row[static_cast<std::size_t>(i * 7919 % vocabulary)] = narrow<Logit>(20.0f);
    }
  });
}

Rows<float> make_probabilities(std::int64_t rows, std::int64_t vocabulary, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::exponential_distribution<float> weight;
  return make_rows<float>(rows, vocabulary, [&](std::int64_t, std::span<float> row) {
    double sum = 0.0;
    for (float& p : row) sum += p = weight(generator);
    for (float& p : row) p = static_cast<float>(p / sum);
  });
}

Numbers<float> make_temperatures(std::int64_t rows, float temperature) {
  return on_device(std::vector<float>(static_cast<std::size_t>(rows), temperature));
}

Numbers<float> make_mixed_temperatures(std::int64_t rows) {
  constexpr float all[] = {0.7f, 0.0f, 0.3f, 1.0f, 1.5f};
  std::vector<float> temperatures(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < temperatures.size(); ++i) temperatures[i] = all[i % 5];
  return on_device(temperatures);
}

Numbers<float> make_uniforms(std::int64_t count) {
  std::mt19937 generator(7);
  std::vector<float> uniforms(static_cast<std::size_t>(count));
  for (float& u : uniforms) u = static_cast<float>(generator() >> 8) * 0x1p-24f;
  return on_device(uniforms);
}

Rows<std::int32_t> make_bitmask(std::int64_t rows, std::int64_t vocabulary, std::int64_t allowed) {
  std::mt19937 generator(11);
  return make_rows<std::int32_t>(
      rows, (vocabulary + 31) / 32, [&](std::int64_t, std::span<std::int32_t> words) {
        if (allowed < 0) {
          for (std::int32_t& word : words) word = static_cast<std::int32_t>(generator());
          return;
        }
        std::ranges::fill(words, 0);
        for (std::int64_t i = 0; i < allowed; ++i) {
          const auto token = static_cast<std::int64_t>(generator()) % vocabulary;
          words[static_cast<std::size_t>(token / 32)] |=
              static_cast<std::int32_t>(1u << token % 32);
        }
      });
}

Numbers<std::int32_t> make_row_ids(std::int64_t rows) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  return on_device(ids);
}

RowEdits::RowEdits(std::int64_t rows, std::int64_t vocabulary, std::int64_t penalized,
                   std::int64_t biased) {
  std::mt19937 generator(5);
  std::vector<std::int32_t> bias_row, bias_token, position, token, count;
  std::vector<float> bias;
  for (std::int64_t i = 0; i < rows; ++i) {
    // A stride that shares no factor with the vocabulary's length meets every token once.
    std::int64_t at = generator() % vocabulary;
    for (std::int64_t k = 0; k < penalized + biased; ++k) {
      at = (at + 1000003) % vocabulary;
      if (k < penalized) {
        position.push_back(static_cast<std::int32_t>(i));
        token.push_back(static_cast<std::int32_t>(at));
        count.push_back(static_cast<std::int32_t>(1 + k % 3));
      } else {
        bias_row.push_back(static_cast<std::int32_t>(i));
        bias_token.push_back(static_cast<std::int32_t>(at));
        bias.push_back(k % 2 == 0 ? 1e-3f : -1e-3f);
      }
    }
  }
  m_bias_row = on_device(bias_row);
  m_bias_token = on_device(bias_token);
  m_bias = on_device(bias);
  m_penalty_row = make_row_ids(rows);
  m_penalty_position = on_device(position);
  m_penalty_token = on_device(token);
  m_count = on_device(count);
  m_penalty = make_rows<float>(rows, 3, [](std::int64_t, std::span<float> row) {
    row[0] = 1e-4f;
    row[1] = -1e-4f;
    row[2] = 1.0001f;
  });
}

LogitBiasEdits<Memory> RowEdits::biases() const {
  return {m_bias_row, m_bias_token, m_bias};
}

PenaltyEdits<Memory> RowEdits::penalties() const {
  return {m_penalty_row, m_penalty_position, m_penalty_token, m_count, m_penalty};
}

template std::string type_name<float>();
template std::string type_name<bfloat16>();
template std::string type_name<float16>();
template Rows<float> make_logits<float>(std::int64_t, std::int64_t, Values);
template Rows<bfloat16> make_logits<bfloat16>(std::int64_t, std::int64_t, Values);
template Rows<float16> make_logits<float16>(std::int64_t, std::int64_t, Values);

}  // namespace tokkos::bench
