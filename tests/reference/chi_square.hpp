// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Probability that a chi-square variable exceeds x.
double chi_square_above(double x, double degrees);

/// The value that a chi-square variable exceeds with probability alpha.
double chi_square_quantile(double alpha, double degrees);

/// Probability that a noncentral chi-square variable exceeds x.
double noncentral_chi_square_above(double x, double degrees, double noncentrality);

/// Outcomes in groups of at least `least` expected ones: the rarest ones in one group, every other
/// one in a group of its own.
class OutcomeGroups {
 public:
  /// @param probabilities of the outcomes, above 0, with sum 1
  OutcomeGroups(const std::vector<double>& probabilities, double samples, double least = 8.0);

  double degrees() const { return static_cast<double>(m_probabilities.size()) - 1.0; }
  double largest_group_of_rare() const { return m_rare; }

  /// Chi-square statistic of counts against the probabilities.
  double against_law(const std::vector<std::int64_t>& counts) const;
  /// Chi-square statistic of two samples of the same size against each other.
  double against_each_other(const std::vector<std::int64_t>& a,
                            const std::vector<std::int64_t>& b) const;

  /// Least probability with which a sample is told from the law at the level alpha where its own
  /// law differs by `difference` in total variation (such a share of the runs comes out otherwise),
  /// however it differs. Of all such laws the one with |p' - p| / p the same for every outcome is
  /// the hardest to tell: by Cauchy and Schwarz sum (p' - p)^2 / p >= (sum |p' - p|)^2.
  double power_against_law(double difference, double alpha) const;
  /// The same for two samples, where sum (p' - p)^2 / (p' + p) >= (sum |p' - p|)^2 / 2.
  double power_against_each_other(double difference, double alpha) const;

 private:
  std::vector<double> grouped(const std::vector<std::int64_t>& counts) const;
  double power(double noncentrality, double alpha) const;
  double seen_difference(double difference) const;

  double m_samples;
  double m_rare = 0.0;
  std::vector<std::size_t> m_group;     // of each outcome
  std::vector<double> m_probabilities;  // of each group
};

}  // namespace tokkos::test
