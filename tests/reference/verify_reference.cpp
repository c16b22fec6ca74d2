// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/verify_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tokkos::test {

namespace {

constexpr double tiny_residual = 1e-7;

/// max(p - q, 0) / its sum in double; returns the sum.
double to_residual(std::vector<double>& p, std::span<const float> q) {
  double sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) {
    p[v] = std::max(p[v] - static_cast<double>(q[v]), 0.0);
    sum += p[v];
  }
  for (double& value : p) value /= sum;
  return sum;
}

/// Walks tree `tree` by the seed's rule in double. With `steer`, uniforms near a threshold are
/// moved away from it and a rejection that would leave little mass is turned into an acceptance.
void walk_seed(const VerifyCase& c, int tree, std::vector<float>* steer, SeedOutcome& outcome) {
  int parent = c.roots[tree];
  int child = c.first_child[parent];
  std::vector<double> p(c.model_row(parent).begin(), c.model_row(parent).end());
  double mass = 1.0;  // of the parent's row that is left
  while (child != -1) {
    const std::int32_t token = c.draft_tokens[child];
    const double q = c.draft_row(child)[token];
    double u = steer ? (*steer)[child] : c.uniforms[child];
    if (steer && std::abs(u * q - p[token]) < 1e-3 * p[token]) u *= 0.5;
    bool accepted = p[token] >= u * q;
    outcome.least_margin = std::min(outcome.least_margin, std::abs(p[token] - u * q));
    if (!accepted) {
      std::vector<double> residual = p;
      const double sum = to_residual(residual, c.draft_row(child));
      mass *= sum;
      outcome.least_mass = std::min(outcome.least_mass, mass);
      if (steer && sum < 0.2 && p[token] > 0) {
        u = 0.5 * std::min(1.0, p[token] / q);
        accepted = true;
      } else if (sum < tiny_residual) {
        accepted = true;
      } else {
        p = residual;
        outcome.rewritten_rows[parent] = residual;
      }
    }
    if (steer) (*steer)[child] = static_cast<float>(u);
    if (accepted) {
      parent = child;
      mass = 1.0;
      p.assign(c.model_row(parent).begin(), c.model_row(parent).end());
    }
    child = accepted ? c.first_child[child] : c.next_sibling[child];
  }
  outcome.last_accepted[tree] = parent;
}

/// row = share of `token` + (1 - share) * row.
void mix_in(std::span<float> row, std::int32_t token, float share) {
  for (float& value : row) value *= 1 - share;
  row[token] += share;
}

/// Shapes the random rows so that the wanted decision is taken with room to spare.
void shape_rows(VerifyCase& c, int parent, Acceptance acceptance, std::mt19937_64& random) {
  const int drafted = (c.vocabulary + 1) / 2;  // drafts come from the lower half of the vocabulary
  std::span<float> p = c.model_row(parent);
  if (acceptance == Acceptance::never) {
    float low = std::accumulate(p.begin(), p.begin() + drafted, 0.0f);
    float high = std::accumulate(p.begin() + drafted, p.end(), 0.0f);
    for (int v = 0; v < c.vocabulary; ++v) p[v] *= v < drafted ? 0.05f / low : 0.95f / high;
  }
  for (int child = c.first_child[parent]; child != -1; child = c.next_sibling[child]) {
    const std::int32_t token = static_cast<std::int32_t>(random() % drafted);
    const float q = c.draft_row(child)[token];
    c.draft_tokens[child] = token;
    c.uniforms[child] = random_uniform(random);
    switch (acceptance) {
      case Acceptance::always:
        c.uniforms[child] = 0.5f * std::min(1.0f, p[token] / q);
        break;
      case Acceptance::never:
        mix_in(c.draft_row(child), token, 0.6f);
        c.uniforms[child] = 0.7f + 0.25f * c.uniforms[child];
        break;
      case Acceptance::mixed:
        mix_in(c.draft_row(child), token, 0.3f);
        mix_in(p, token, 0.2f);
        break;
    }
  }
}

/// Parents of a random tree, node 0 its root, at most 16 nodes.
std::vector<int> random_parents(int height, int widest, std::mt19937_64& random) {
  std::vector<int> parents = {-1};
  std::size_t begin = 0;
  for (int level = 0; level < height; ++level) {
    const std::size_t end = parents.size();
    for (std::size_t node = begin; node < end; ++node) {
      const int children = 1 + static_cast<int>(random() % static_cast<unsigned>(widest));
      for (int i = 0; i < children && (i == 0 || parents.size() < 12); ++i) {
        if (parents.size() < 16) parents.push_back(static_cast<int>(node));
      }
    }
    begin = end;
  }
  return parents;
}

/// max(p - q, 0) / R with R exact on the grid 2^-44; false, and p as it was, if R < 1e-7.
bool subtract_draft(std::vector<float>& p, std::span<const float> q) {
  std::vector<float> difference(p.size());
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) {
    difference[v] = std::max(p[v] - q[v], 0.0f);
    sum += std::llrint(static_cast<double>(difference[v]) * 0x1p44);
  }
  const float total = static_cast<float>(sum) * 0x1p-44f;
  if (total < 1e-7f) return false;
  for (std::size_t v = 0; v < p.size(); ++v) p[v] = difference[v] / total;
  return true;
}

}  // namespace

int VerifyCase::add_node(int parent, std::int32_t token, float uniform) {
  const int node = nodes();
  draft_tokens.push_back(token);
  first_child.push_back(-1);
  next_sibling.push_back(-1);
  uniforms.push_back(uniform);
  draft_probs.resize(draft_probs.size() + static_cast<std::size_t>(vocabulary));
  model_probs.resize(model_probs.size() + static_cast<std::size_t>(vocabulary));
  if (parent < 0) {
    roots.push_back(node);
    bonus_uniforms.push_back(0.5f);
    return node;
  }
  std::int32_t* link = &first_child[parent];
  while (*link != -1) link = &next_sibling[*link];
  *link = node;
  return node;
}

float random_uniform(std::mt19937_64& random) {
  return static_cast<float>(random() >> 40) * 0x1p-24f;
}

void fill_random_distribution(std::span<float> row, std::mt19937_64& random) {
  double sum = 0;
  for (std::size_t v = 0; v < row.size(); v += 2) {
    const std::uint64_t bits = random();
    for (std::size_t i = 0; i < 2 && v + i < row.size(); ++i) {
      const auto word = static_cast<std::uint32_t>(bits >> (32 * i));
      const float uniform = static_cast<float>(word >> 8) * 0x1p-24f;
      row[v + i] = 0.01f + uniform * uniform * uniform;
      sum += row[v + i];
    }
  }
  const auto scale = static_cast<float>(1 / sum);
  for (float& value : row) value *= scale;
}

bool are_apart(const VerifyCase& c) {
  const int nodes = c.nodes();
  std::vector<int> owner(static_cast<std::size_t>(nodes), -1);
  for (int tree = 0; tree < c.batch(); ++tree) {
    std::vector<std::int32_t> open = {c.roots[static_cast<std::size_t>(tree)]};
    while (!open.empty()) {
      const std::int32_t node = open.back();
      open.pop_back();
      if (node < 0 || node >= nodes) continue;
      const auto i = static_cast<std::size_t>(node);
      if (owner[i] == tree) continue;
      if (owner[i] != -1) return false;
      owner[i] = tree;
      open.push_back(c.first_child[i]);
      open.push_back(c.next_sibling[i]);
    }
  }
  return true;
}

VerifyCase make_verify_case(int batch, int vocabulary, int height, int widest,
                            Acceptance acceptance, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> trees;
  std::size_t nodes = 0;
  for (int b = 0; b < batch; ++b) {
    trees.push_back(random_parents(height - (widest > 1 ? b % 2 : 0), widest, random));
    nodes += trees.back().size();
  }
  std::vector<int> number(nodes);
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), random);

  VerifyCase c;
  c.vocabulary = vocabulary;
  c.draft_tokens.assign(nodes, -1);
  c.first_child.assign(nodes, -1);
  c.next_sibling.assign(nodes, -1);
  c.uniforms.assign(nodes, 0.0f);
  c.draft_probs.resize(nodes * static_cast<std::size_t>(vocabulary));
  c.model_probs.resize(nodes * static_cast<std::size_t>(vocabulary));
  std::size_t first = 0;
  for (const std::vector<int>& parents : trees) {
    c.roots.push_back(number[first]);
    c.bonus_uniforms.push_back(random_uniform(random));
    for (std::size_t i = parents.size() - 1; i > 0;
         --i) {  // last first: each becomes the first child
      const int node = number[first + i];
      const int parent = number[first + static_cast<std::size_t>(parents[i])];
      c.next_sibling[node] = c.first_child[parent];
      c.first_child[parent] = node;
    }
    first += parents.size();
  }
  for (int node = 0; node < c.nodes(); ++node) {
    fill_random_distribution(c.draft_row(node), random);
    fill_random_distribution(c.model_row(node), random);
  }
  for (int node = 0; node < c.nodes(); ++node) shape_rows(c, node, acceptance, random);
  SeedOutcome unused{std::vector<std::int32_t>(trees.size()), {}};
  std::vector<float> steered = c.uniforms;
  for (int b = 0; b < batch; ++b) walk_seed(c, b, &steered, unused);
  c.uniforms = steered;
  return c;
}

SeedOutcome verify_by_seed_rule(const VerifyCase& verify_case) {
  SeedOutcome outcome{std::vector<std::int32_t>(verify_case.roots.size()), {}};
  for (int b = 0; b < verify_case.batch(); ++b) walk_seed(verify_case, b, nullptr, outcome);
  return outcome;
}

std::int32_t draw_by_mass(std::span<const float> probabilities, float u) {
  std::int64_t sum = 0;
  for (const float p : probabilities) sum += std::llrint(static_cast<double>(p) * 0x1p44);
  const auto share = static_cast<std::int64_t>(u * 0x1p24f);
  const std::int64_t high = sum >> 24, low = sum & 0xffffff;
  const std::int64_t target = share * high + ((share * low) >> 24);  // floor(u * sum), exactly
  std::int64_t prefix = 0;
  for (std::size_t v = 0; v < probabilities.size(); ++v) {
    prefix += std::llrint(static_cast<double>(probabilities[v]) * 0x1p44);
    if (prefix > target) return static_cast<std::int32_t>(v);
  }
  return -1;
}

LosslessOutcome verify_lossless(const VerifyCase& c) {
  LosslessOutcome outcome;
  for (int b = 0; b < c.batch(); ++b) {
    int parent = c.roots[b];
    std::int32_t accepted = 0, status = 0;
    std::vector<float> p(c.model_row(parent).begin(), c.model_row(parent).end());
    for (int child = c.first_child[parent]; child != -1;) {
      const std::int32_t token = c.draft_tokens[child];
      const float ratio = c.uniforms[child] * c.draft_row(child)[token];
      if (p[token] > 0 && ratio < p[token]) {
        parent = child;
        ++accepted;
        p.assign(c.model_row(parent).begin(), c.model_row(parent).end());
        child = c.first_child[parent];
      } else {
        if (!subtract_draft(p, c.draft_row(child))) status |= 8;  // zero_residual
        child = c.next_sibling[child];
      }
    }
    outcome.last_accepted.push_back(parent);
    outcome.accepted.push_back(accepted);
    outcome.bonus_tokens.push_back(draw_by_mass(p, c.bonus_uniforms[b]));
    outcome.status.push_back(status);
  }
  return outcome;
}

}  // namespace tokkos::test
