// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/chi_square.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tokkos::test {

namespace {

// Share of a gamma variable of shape `a` above y: by its series below the mean, by its continued
// fraction (modified Lentz) above.
double gamma_above(double a, double y) {
  if (y <= 0.0) return 1.0;
  const double scale = std::exp(a * std::log(y) - y - std::lgamma(a));
  if (y < a + 1.0) {
    double term = 1.0 / a;
    double sum = term;
    for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) sum += term *= y / n;
    return 1.0 - scale * sum;
  }
  double b = y + 1.0 - a;
  double c = 1e300;
  double d = 1.0 / b;
  double fraction = d;
  for (double n = 1.0; n < 1e5; n += 1.0) {
    const double an = n * (a - n);
    b += 2.0;
    d = 1.0 / (an * d + b);
    c = b + an / c;
    fraction *= c * d;
    if (std::abs(c * d - 1.0) < 1e-15) break;
  }
  return scale * fraction;
}

}  // namespace

double chi_square_above(double x, double degrees) {
  return gamma_above(0.5 * degrees, 0.5 * x);
}

double chi_square_quantile(double alpha, double degrees) {
  double low = 0.0;
  double high = degrees + 1.0;
  while (chi_square_above(high, degrees) > alpha) high *= 2.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (chi_square_above(middle, degrees) > alpha ? low : high) = middle;
  }
  return high;
}

// A chi-square variable whose degrees grow by twice a Poisson variable.
double noncentral_chi_square_above(double x, double degrees, double noncentrality) {
  const double mean = 0.5 * noncentrality;
  if (mean == 0.0) return chi_square_above(x, degrees);
  double sum = 0.0;
  const double last = mean + 20.0 * std::sqrt(mean) + 50.0;
  for (double j = 0.0; j < last; j += 1.0) {
    const double weight = std::exp(j * std::log(mean) - mean - std::lgamma(j + 1.0));
    if (weight > 1e-20) sum += weight * chi_square_above(x, degrees + 2.0 * j);
  }
  return sum;
}

OutcomeGroups::OutcomeGroups(const std::vector<double>& probabilities, double samples, double least)
    : m_samples(samples), m_group(probabilities.size()) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return probabilities[i]; });
  std::size_t in_first = 0;
  for (const std::size_t outcome : order) {
    if (m_probabilities.empty() || m_probabilities[0] * samples >= least) {
      m_probabilities.push_back(0.0);
    }
    m_group[outcome] = m_probabilities.size() - 1;
    m_probabilities.back() += probabilities[outcome];
    in_first += m_probabilities.size() == 1 ? 1 : 0;
  }
  if (in_first > 1) m_rare = m_probabilities[0];
}

std::vector<double> OutcomeGroups::grouped(const std::vector<std::int64_t>& counts) const {
  std::vector<double> sums(m_probabilities.size(), 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sums[m_group[i]] += static_cast<double>(counts[i]);
  }
  return sums;
}

double OutcomeGroups::against_law(const std::vector<std::int64_t>& counts) const {
  const std::vector<double> seen = grouped(counts);
  double statistic = 0.0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double expected = m_probabilities[i] * m_samples;
    statistic += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  return statistic;
}

double OutcomeGroups::against_each_other(const std::vector<std::int64_t>& a,
                                         const std::vector<std::int64_t>& b) const {
  const std::vector<double> first = grouped(a);
  const std::vector<double> second = grouped(b);
  double statistic = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double difference = first[i] - second[i];
    if (difference != 0.0) statistic += difference * difference / (first[i] + second[i]);
  }
  return statistic;
}

// What a group of rare outcomes hides of a difference is at most its own probability.
double OutcomeGroups::seen_difference(double difference) const {
  return std::max(difference - m_rare, 0.0);
}

double OutcomeGroups::power(double noncentrality, double alpha) const {
  return noncentral_chi_square_above(chi_square_quantile(alpha, degrees()), degrees(),
                                     noncentrality);
}

double OutcomeGroups::power_against_law(double difference, double alpha) const {
  const double moved = 2.0 * seen_difference(difference);
  return power(m_samples * moved * moved, alpha);
}

double OutcomeGroups::power_against_each_other(double difference, double alpha) const {
  const double moved = 2.0 * seen_difference(difference);
  return power(0.5 * m_samples * moved * moved, alpha);
}

}  // namespace tokkos::test
