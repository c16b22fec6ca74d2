// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"
#include "sameness/result_hash.hpp"
#include "sameness/shuffled_batches.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tokkos::test {

namespace {

/// The temperatures of live requests, the ends of the greedy range, and one that is none.
float random_temperature(RandomValues& random) {
  const float choices[] = {0.0f, 1e-5f, 1.1e-5f, 0.7f, 1.0f, 1.5f, 1000.0f, -1.0f};
  const auto choice = random.below(16);
  return choice < 8 ? choices[choice] : 0.05f + 2.0f * random.uniform();
}

/// Rows whose parameters have nothing to do with each other.
template <LogitType Logit>
RowBatch random_rows(std::int64_t rows, std::int64_t vocabulary) {
  RandomValues random(static_cast<std::uint64_t>(vocabulary) + 40);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = vocabulary - vocabulary / 30;
  batch.words = (vocabulary + 31) / 32;
  batch.temperature.clear();
  for (std::int64_t i = 0; i < rows; ++i) {
    auto row = random.logits(vocabulary, 0.1f + 12.0f * random.uniform(), 9.0f * random.uniform());
    auto& any = row[static_cast<std::size_t>(random.below(vocabulary))];
    const auto kind = random.below(40);
    if (kind == 0) any = std::numeric_limits<float>::quiet_NaN();
    if (kind == 1) any = std::numeric_limits<float>::infinity();
    if (kind < 6) std::fill_n(row.begin(), vocabulary / 2, 3.0f);
    batch.logits.insert(batch.logits.end(), row.begin(), row.end());
    batch.temperature.push_back(random_temperature(random));
    const auto words = random.words(batch.words, 1 + static_cast<int>(random.below(12)));
    batch.bitmask.insert(batch.bitmask.end(), words.begin(), words.end());
    batch.mask_index.push_back(random.below(3) == 0 ? -1 : static_cast<std::int32_t>(i));
  }
  batch.logits = stored_values<Logit>(batch.logits);
  return batch;
}

/// The listed rows as a batch, copied (their masks are found by their index).
RowBatch copied(const RowBatch& all, const std::vector<std::int64_t>& rows) {
  RowBatch batch;
  batch.vocabulary = all.vocabulary;
  batch.active = all.active;
  batch.words = all.words;
  batch.temperature.clear();
  const auto append = [](auto& to, const auto& from, std::int64_t row, std::int64_t width) {
    to.insert(to.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
  };
  for (const std::int64_t row : rows) {
    append(batch.logits, all.logits, row, all.vocabulary);
    append(batch.temperature, all.temperature, row, 1);
    append(batch.bitmask, all.bitmask, row, all.words);
    const auto place = static_cast<std::int32_t>(batch.mask_index.size());
    batch.mask_index.push_back(all.mask_index[static_cast<std::size_t>(row)] < 0 ? -1 : place);
  }
  return batch;
}

/// A copied batch turned back to front in memory, with row indices that undo it.
RowBatch indexed(RowBatch batch) {
  const std::int64_t n = batch.rows();
  std::vector<float> reversed;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const auto row = batch.logits.begin() + i * batch.vocabulary;
    reversed.insert(reversed.end(), row, row + batch.vocabulary);
    batch.row_index.push_back(static_cast<std::int32_t>(i));
  }
  batch.logits = reversed;
  return batch;
}

/// One hash for all that each row of a batch says.
template <class Backend>
std::vector<std::uint64_t> row_hashes(const RowBatch& batch, const std::vector<float>& uniforms) {
  const RowResults verbs = verbs_of<Backend>(batch, uniforms);
  const RowResults fused = softmax_of<Backend>(batch);
  const auto chunks = static_cast<std::size_t>(chunk_count(batch.active));
  const auto width = static_cast<std::size_t>(batch.vocabulary);
  const auto part = [](const auto& values, std::size_t row, std::size_t count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * count);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    ResultHash hash;
    hash.add(part(verbs.probabilities, i, width)).add(part(fused.probabilities, i, width));
    hash.add(part(verbs.status, i, 1)).add(part(fused.status, i, 1));
    hash.add(part(verbs.tokens, i, 1)).add(part(verbs.argmax, i, 1));
    hash.add(part(verbs.log_sum_exp, i, 1));
    hash.add(part(verbs.chunk_maximum, i, chunks)).add(part(verbs.chunk_sum, i, chunks));
    hash.add(part(fused.chunk_maximum, i, chunks)).add(part(fused.chunk_sum, i, chunks));
    hash.add(part(verbs.row_maximum, i, 1)).add(part(verbs.row_mass, i, 1));
    hashes.push_back(hash.value());
  }
  return hashes;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("ten thousand rows have the same bits alone and anywhere in batches",
                        "[sameness]", Backends) {
  for (const Share share :
       {Share{5200, 37}, Share{4200, 300}, Share{440, 4097}, Share{160, 9001}}) {
    CAPTURE(share.vocabulary);
    const RowBatch all = random_rows<typename TestType::logit>(share.rows, share.vocabulary);
    RandomValues random(41);
    const auto uniforms = random.uniforms(share.rows);
    std::vector<std::uint64_t> alone;
    for (std::int64_t i = 0; i < share.rows; ++i) {
      const std::vector<float> u{uniforms[static_cast<std::size_t>(i)]};
      alone.push_back(row_hashes<TestType>(copied(all, {i}), u).front());
    }
    // A row that says the same as another one proves little.
    CHECK(distinct(alone) > share.rows / 2);
    for (const auto& rows : shuffled_batches(share.rows, random)) {
      const auto batch = copied(all, rows);
      const auto expected = chosen(alone, rows);
      const bool same = row_hashes<TestType>(rows.size() % 2 == 0 ? batch : indexed(batch),
                                             chosen(uniforms, rows)) == expected;
      INFO("a batch of " << rows.size());
      CHECK(same);
    }
  }
}

}  // namespace tokkos::test
