// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "law/law_tally.hpp"

#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstdio>

namespace tokkos::test {

namespace {

LawResult told;

void print(const char* what, const LawResult& result) {
  std::printf(
      "law: %s: %lld exact laws, worst total variation %.3g (%lld thresholds, %lld outcomes "
      "tried)\n",
      what, static_cast<long long>(result.laws), result.total_variation,
      static_cast<long long>(result.thresholds), static_cast<long long>(result.corners));
}

class Tally : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;

  void testRunEnded(const Catch::TestRunStats&) override {
    if (told.laws > 0) print("in all", told);
  }
};

CATCH_REGISTER_LISTENER(Tally)

}  // namespace

void tell(const std::string& what, const LawResult& result) {
  print(what.c_str(), result);
  told.add(result);
}

void tell_control(const std::string& what, const LawResult& result) {
  std::printf(
      "law: control, %s: total variation %.3g, forbidden mass %.3g, %lld laws incomplete, %lld "
      "outcomes of %lld wrong\n",
      what.c_str(), result.total_variation, result.forbidden_mass,
      static_cast<long long>(result.incomplete_laws), static_cast<long long>(result.wrong_corners),
      static_cast<long long>(result.corners));
}

}  // namespace tokkos::test
