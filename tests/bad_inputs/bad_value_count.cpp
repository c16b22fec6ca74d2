// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "bad_inputs/bad_value_count.hpp"

#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstdio>

namespace tokkos::test {

namespace {

std::int64_t tried = 0;

class PrintedCount : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override {
    std::printf("bad values tried: %lld\n", static_cast<long long>(tried));
  }
};

}  // namespace

void count_bad_value(std::int64_t values) {
  tried += values;
}

CATCH_REGISTER_LISTENER(PrintedCount)

}  // namespace tokkos::test
