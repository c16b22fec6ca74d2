// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/verify_draft_trees.hpp>

#include "kernels/draft_rows.hpp"
#include "kernels/sibling_drafts.hpp"
#include "kernels/tree_walk.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// The lossless rule in one tree. Rejected rows are not rewritten: the distribution that is left at
/// a parent is described by its tried children, each with a number in residual_sums. Above 0 that
/// is R; 0 marks a child that left the distribution as is; and -1 - m one whose R was not summed
/// yet, m the target's mass that it took.
template <class ExecutionSpace>
struct LosslessRule {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  // R stays unsummed while more than this is left of the parent's mass, and only a u that is this
  // near to its threshold (row sums within 1%, and rounding) asks for it.
  static constexpr float least_unsummed = 0.05f;
  static constexpr float doubt = 0.02f;
  static constexpr int most_unsummed = 1024;

  const DraftDistributions<Space>& given;
  TreeLinks<Space> links;
  const Vector<float, Space>& residual_sums;
  SiblingDrafts<ExecutionSpace> drafts;
  RowScratch scratch;
  SharedSums sums;

  /// Number of the target's tokens: those past them have probability 0 and are not looked at.
  KOKKOS_FUNCTION std::int64_t active() const {
    return given.active_vocabulary > 0 ? given.active_vocabulary
                                       : static_cast<std::int64_t>(given.model_probs.extent(1));
  }

  /// The target's own mass of a token after `parent`.
  KOKKOS_FUNCTION float target_mass(std::int32_t parent, TokenId token) const {
    return token < active() ? given.model_probs(parent, token) : 0.0f;
  }

  KOKKOS_FUNCTION void enter() { sums.entered = sums.used; }

  /// The distribution left at `parent` after the children before `child` (-1: all): the target's
  /// own row as long as no rejection has changed it.
  KOKKOS_FUNCTION const float* left_at(const Team& team, std::int32_t parent, std::int32_t child,
                                       std::int64_t start, int length, float* buffer) const {
    const float* p = &given.model_probs(parent, start);
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      const float sum = residual_sums(c);
      if (sum <= 0.0f) continue;
      const DraftChunk draft = drafts.chunk(team, parent, c, start, length);
      store_remaining<ExecutionSpace>(team, length, p, draft, sum, buffer);
      p = buffer;
    }
    return p;
  }

  /// The mass of one token there.
  KOKKOS_FUNCTION float mass(std::int32_t parent, std::int32_t child, TokenId token) const {
    float p = target_mass(parent, token);
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      const float sum = residual_sums(c);
      if (sum > 0.0f) p = remaining(p, drafts.mass(parent, c, token), sum);
    }
    return p;
  }

  /// A member's own sum of a chunk of what rejecting `child` would leave, before it is normalized.
  KOKKOS_FUNCTION OwnSum sum_of_residual(const Team& team, std::int32_t parent, std::int32_t child,
                                         std::int64_t start, int length) const {
    const float* p = left_at(team, parent, child, start, length, scratch.chunk);
    const float largest = p == scratch.chunk ? largest_residual : largest_given;
    const DraftChunk draft = drafts.chunk(team, parent, child, start, length);
    return sum_remaining<ExecutionSpace>(team, length, p, draft, largest);
  }

  /// The same of what is left at `parent` once all its children are rejected.
  KOKKOS_FUNCTION OwnSum sum_of_rest(const Team& team, std::int32_t parent, std::int64_t start,
                                     int length) const {
    const float* p = left_at(team, parent, -1, start, length, scratch.chunk);
    return sum_given<ExecutionSpace>(team, length, p,
                                     is_residual(parent) ? largest_residual : largest_given);
  }

  /// The same of chunk `chunk` of the sum that a walk waits for.
  KOKKOS_FUNCTION OwnSum sum_of(const Team& team, const PausedWalk& paused,
                                std::int64_t chunk) const {
    const std::int64_t start = chunk * chunk_size;
    const bool whole = paused.wanted == SumKind::draft_row;
    const std::int64_t end = whole ? drafts.vocabulary() : active();
    if (start >= end) return {};
    const int length = chunk_length(end, start);
    switch (paused.wanted) {
      case SumKind::residual:
        return sum_of_residual(team, paused.node, paused.wanted_node, start, length);
      case SumKind::draft_row:
        return drafts.sum_of_row(team, paused.wanted_node, start, length);
      case SumKind::rest:
        return sum_of_rest(team, paused.node, start, length);
      case SumKind::none:
        break;
    }
    return {};
  }

  /// Whether a rejection has changed the distribution left at `parent`.
  KOKKOS_FUNCTION bool is_residual(std::int32_t parent) const {
    for (std::int32_t c = links.first_child(parent); c != -1; c = links.next_sibling(c)) {
      if (residual_sums(c) > 0.0f) return true;
    }
    return false;
  }

  /// Notes a rejected child's number for every member to see.
  KOKKOS_FUNCTION void note(const Team& team, std::int32_t child, float number) const {
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() { residual_sums(child) = number; });
    team.team_barrier();
  }

  KOKKOS_FUNCTION void skip(const Team& team, std::int32_t child) const { note(team, child, 0.0f); }

  /// Rejects `child`: sums its R. False if `sums` paused or, with the status bit, if something is
  /// no probability.
  KOKKOS_FUNCTION bool reject(const Team& team, std::int32_t parent, std::int32_t child,
                              std::int32_t& status) {
    const auto chunk_sum = [&](std::int64_t start, int length) {
      return sum_of_residual(team, parent, child, start, length);
    };
    OwnSum left;
    if (!sums.next(team, SumKind::residual, child, active(), chunk_sum, nullptr, left)) {
      return false;
    }
    const float total = from_grid(left.sum);
    if (left.illegal != 0 || total > 1.01f) {  // a distribution leaves at most 1
      status |= RowStatus::invalid_probability;
      return false;
    }
    if (total < smallest_residual) status |= RowStatus::zero_residual;
    note(team, child, total < smallest_residual ? 0.0f : total);
    return true;
  }

  /// Sums what was left unsummed of the children of `parent` before `child` (-1: all).
  KOKKOS_FUNCTION bool settle(const Team& team, std::int32_t parent, std::int32_t child,
                              std::int32_t& status) {
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      const bool unsummed = agreed(team, residual_sums(c) < 0.0f);
      if (unsummed && !reject(team, parent, c, status)) return false;
    }
    return true;
  }

  /// What one look at a one-hot child says, without a sum. A rejection leaves in `number` what is
  /// noted of it.
  KOKKOS_FUNCTION FirstLook look_at_one_hot(std::int32_t parent, std::int32_t child, TokenId token,
                                            float u, float& number) const {
    float taken = 0.0f;
    bool tried = false;
    int unsummed = 0;
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      const float sum = residual_sums(c);
      if (sum > 0.0f) return FirstLook::undecided;
      if (sum == 0.0f) continue;
      taken += -1.0f - sum;
      tried = tried || drafts.token(c) == token;
      ++unsummed;
    }
    const float p = target_mass(parent, token);
    if (!(p >= 0.0f && p <= 1.0f)) return FirstLook::undecided;
    if (unsummed == 0 && p > 0.0f && u < p) return FirstLook::accept;
    const float own = tried ? 0.0f : p;
    const float rest = 1.0f - taken;  // about what p is to be divided by
    if (unsummed >= most_unsummed || rest - own < least_unsummed) {
      // With so little left, only what needs no sum is certain.
      return FirstLook::undecided;
    }
    number = -1.0f - own;
    if (unsummed == 0 || own == 0.0f) return FirstLook::reject;
    if (p < 1e-30f) return FirstLook::undecided;  // rounding is relative no more
    if (u * (rest + doubt) < p) return FirstLook::accept;
    return u * (rest - doubt) >= p ? FirstLook::reject : FirstLook::undecided;
  }

  KOKKOS_FUNCTION Verdict judge(const Team& team, std::int32_t parent, std::int32_t child,
                                TokenId token, std::int32_t& status) {
    const float u = clamped_uniform(given.uniforms(child));
    if (u != u) {
      status |= RowStatus::invalid_parameter;
      return Verdict::stop;
    }
    if (drafts.rows.row_of(child) == no_row) {
      status |= RowStatus::invalid_draft;
      skip(team, child);
      return Verdict::reject;
    }
    if (!drafts.take_from_row(team, parent, child, sums)) {
      if (!sums.is_paused()) status |= RowStatus::invalid_probability;
      return Verdict::stop;
    }
    if (agreed(team, drafts.is_one_hot(child))) {
      float number = 0.0f;
      const FirstLook look = agreed(team, look_at_one_hot(parent, child, token, u, number));
      if (look == FirstLook::accept) return Verdict::accept;
      if (look == FirstLook::reject) {
        note(team, child, number);
        return Verdict::reject;
      }
    }
    if (!settle(team, parent, child, status)) return Verdict::stop;
    const float p = mass(parent, child, token);
    const float q = drafts.mass(parent, child, token);
    const bool bad = is_illegal_probability(p) || is_illegal_probability(q);
    const FirstLook look = agreed(team, bad                     ? FirstLook::illegal
                                        : p > 0.0f && u * q < p ? FirstLook::accept
                                                                : FirstLook::undecided);
    if (look == FirstLook::accept) return Verdict::accept;
    if (look == FirstLook::illegal) {
      status |= RowStatus::invalid_probability;
      return Verdict::stop;
    }
    return reject(team, parent, child, status) ? Verdict::reject : Verdict::stop;
  }

  /// The token drawn from what is left at `parent`, all its children rejected; -1 if `sums` paused
  /// or, with status bits, if there is nothing to draw from.
  KOKKOS_FUNCTION TokenId draw(const Team& team, std::int32_t parent, float u,
                               std::int32_t& status) {
    const auto chunk_sum = [&](std::int64_t start, int length) {
      return sum_of_rest(team, parent, start, length);
    };
    OwnSum total;
    const std::int64_t* masses = nullptr;
    if (!settle(team, parent, -1, status) ||
        !sums.next(team, SumKind::rest, parent, active(), chunk_sum, scratch.masses, total,
                   &masses)) {
      return -1;
    }
    const auto row = [&](std::int64_t start, int length, float* buffer) {
      return left_at(team, parent, -1, start, length, buffer);
    };
    // Rounding on the grid may shift the sum of a small residual; only a given row must sum to 1.
    const bool sums_to_one = agreed(team, !is_residual(parent));
    return draw_from_row(team, active(), row, u, total, masses, scratch.chunk, sums_to_one, status);
  }
};

}  // namespace tokkos
