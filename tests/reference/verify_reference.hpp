// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace tokkos::test {

/// Draft trees of a batch with everything that verification reads, as plain arrays.
struct VerifyCase {
  int vocabulary = 0;
  std::vector<float> draft_probs;  // [nodes][vocabulary]
  std::vector<float> model_probs;  // [nodes][vocabulary]
  std::vector<std::int32_t> draft_tokens;
  std::vector<std::int32_t> first_child;
  std::vector<std::int32_t> next_sibling;
  std::vector<std::int32_t> roots;  // [batch]
  std::vector<float> uniforms;
  std::vector<float> bonus_uniforms;  // [batch]
  // What only the kernels read (the references take a row for every node): row of draft_probs of
  // each node, -1 one-hot; empty: its own.
  std::vector<std::int32_t> row_of_node;
  bool without_replacement = false;
  int active_vocabulary = 0;

  int nodes() const { return static_cast<int>(draft_tokens.size()); }
  int batch() const { return static_cast<int>(roots.size()); }
  std::span<float> draft_row(int node) { return {&draft_probs[offset(node)], width()}; }
  std::span<float> model_row(int node) { return {&model_probs[offset(node)], width()}; }
  std::span<const float> draft_row(int node) const { return {&draft_probs[offset(node)], width()}; }
  std::span<const float> model_row(int node) const { return {&model_probs[offset(node)], width()}; }

  /// Adds a node with rows of zeros; `parent` < 0 starts a tree. Later children come after earlier
  /// ones. Returns the node.
  int add_node(int parent, std::int32_t token, float uniform);

  std::size_t width() const { return static_cast<std::size_t>(vocabulary); }
  std::size_t offset(int node) const { return static_cast<std::size_t>(node) * width(); }
};

/// Whether no walk from one root comes upon a node that a walk from another comes upon too: what is
/// kept for a node is then written by one tree.
bool are_apart(const VerifyCase& verify_case);

enum class Acceptance { always, never, mixed };

/// Random trees of different shapes with their nodes numbered at random. `height` levels of drafts;
/// `widest` children at most (1: chains). Every decision of the seed's rule is away from its
/// threshold and every residual sum is at least 0.2, so that float32 decides as double does.
VerifyCase make_verify_case(int batch, int vocabulary, int height, int widest,
                            Acceptance acceptance, std::uint64_t seed);

/// Outcome of the seed's rule in double.
struct SeedOutcome {
  std::vector<std::int32_t> last_accepted;            // [batch]
  std::map<int, std::vector<double>> rewritten_rows;  // node -> residual distribution
  double least_margin = 1.0;  // |p - u q| of the decision that was nearest to the other one
  double least_mass = 1.0;    // least product of the residual sums by which a row was divided
};
SeedOutcome verify_by_seed_rule(const VerifyCase& verify_case);

/// Outcome of the lossless rule, in the float32 and integer arithmetic of its definition, by rows
/// that are copied and rewritten.
struct LosslessOutcome {
  std::vector<std::int32_t> last_accepted;  // [batch]
  std::vector<std::int32_t> accepted;       // [batch]
  std::vector<std::int32_t> bonus_tokens;   // [batch]
  std::vector<std::int32_t> status;         // [batch]

  bool operator==(const LosslessOutcome&) const = default;
};
LosslessOutcome verify_lossless(const VerifyCase& verify_case);

/// First token whose inclusive prefix of masses RNE(p * 2^44) exceeds floor(u * sum), -1 if all are
/// 0. `u` is a multiple of 2^-24 in [0, 1).
std::int32_t draw_by_mass(std::span<const float> probabilities, float u);

/// Random positive row that sums to 1.
void fill_random_distribution(std::span<float> row, std::mt19937_64& random);

/// A random multiple of 2^-24 in [0, 1).
float random_uniform(std::mt19937_64& random);

}  // namespace tokkos::test
