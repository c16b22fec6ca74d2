// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/philox.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace {

std::vector<std::uint32_t> words_of(const tokkos::Philox& philox) {
  return {philox.word[0], philox.word[1], philox.word[2], philox.word[3]};
}

constexpr std::uint64_t key_of(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32) | low;
}

}  // namespace

// kat_vectors of Random123, philox4x32 10
TEST_CASE("Philox4x32-10 gives the known answers of Random123") {
  using Words = std::vector<std::uint32_t>;
  CHECK(words_of({0, 0, 0, 0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(words_of({key_of(ones, ones), ones, ones, ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words_of({key_of(0xa4093822, 0x299f31d0), 0x243f6a88, 0x85a308d3, 0x13198a2e,
                  0x03707344}) == Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE(
    "a uniform is the upper 24 bits of the first word for (position, draw, purpose, stream)") {
  // The same counter as in the third known answer, except that purposes end at 3.
  CHECK(tokkos::philox_uniform(0, 0, 0, tokkos::Purpose::sample, 0) ==
        static_cast<float>(0x6627e8) / 16777216.0f);
  const tokkos::Philox words(key_of(7, 9), 11, 13, 2, 17);
  CHECK(tokkos::philox_uniform(key_of(7, 9), 11, 13, tokkos::Purpose::verify, 17) ==
        static_cast<float>(words.word[0] / 256) / 16777216.0f);
}

TEST_CASE("purposes have the numbers of the contract") {
  CHECK(static_cast<int>(tokkos::Purpose::sample) == 0);
  CHECK(static_cast<int>(tokkos::Purpose::draft) == 1);
  CHECK(static_cast<int>(tokkos::Purpose::verify) == 2);
  CHECK(static_cast<int>(tokkos::Purpose::bonus) == 3);
}

TEST_CASE("uniforms lie from 0 to below 1 and differ in every coordinate of the counter and key") {
  std::set<float> seen;
  const auto add = [&](std::uint64_t seed, std::uint32_t position, std::uint32_t draw,
                       tokkos::Purpose purpose, std::uint32_t stream) {
    const float u = tokkos::philox_uniform(seed, position, draw, purpose, stream);
    CHECK((u >= 0.0f && u < 1.0f));
    seen.insert(u);
  };
  add(1, 2, 3, tokkos::Purpose::sample, 4);
  add(5, 2, 3, tokkos::Purpose::sample, 4);
  add(1 + (std::uint64_t{1} << 32), 2, 3, tokkos::Purpose::sample, 4);
  add(1, 6, 3, tokkos::Purpose::sample, 4);
  add(1, 2, 7, tokkos::Purpose::sample, 4);
  add(1, 2, 3, tokkos::Purpose::bonus, 4);
  add(1, 2, 3, tokkos::Purpose::sample, 8);
  CHECK(seen.size() == 7);
}

// Published test vectors of FNV-1a, 32 bits
TEST_CASE("a request's default stream is the FNV-1a hash of its id") {
  CHECK(tokkos::request_stream("") == 0x811c9dc5u);
  CHECK(tokkos::request_stream("a") == 0xe40c292cu);
  CHECK(tokkos::request_stream("b") == 0xe70c2de5u);
  CHECK(tokkos::request_stream("foobar") == 0xbf9cf968u);
  CHECK(tokkos::request_stream(std::string_view("\xff\0\0\x01", 4)) == 0xc48fb86du);
  CHECK(tokkos::request_stream("\xff") != tokkos::request_stream("\x7f"));
}
