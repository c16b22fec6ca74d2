// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Histories, masks and handles: a plain model says which call works, and what the objects hold.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <vector>

#include "engine/scripted_grammar.hpp"
#include "fuzz/c_api.hpp"
#include "interop/c_step.hpp"

namespace tokkos::test {

namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t vocabulary = 40;

std::int32_t fuzz_token(FuzzBytes& bytes) {
  return bytes.mostly<std::int32_t>({bytes.byte() % 40, largest, 1 << 20}, {-1, -largest - 1});
}

std::vector<std::int32_t> fuzz_tokens(FuzzBytes& bytes) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(bytes.below(5)));
  for (std::int32_t& token : tokens) token = fuzz_token(bytes);
  return tokens;
}

bool are_tokens(const std::vector<std::int32_t>& tokens) {
  return std::ranges::all_of(tokens, [](std::int32_t token) { return token >= 0; });
}

/// Objects of C and what they are to hold. Those that were destroyed stay in the list.
class Objects {
 public:
  explicit Objects(FuzzBytes& bytes) : m_bytes(bytes) {}
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects() {
    for (KnownHistory& known : m_histories) {
      if (known.lives) check_ok(tokkos_history_destroy(known.handle));
    }
    for (KnownMask& known : m_masks) {
      if (known.lives) check_ok(tokkos_mask_destroy(known.handle));
    }
  }

  void call() {
    using Call = void (Objects::*)();
    static constexpr Call calls[] = {
        &Objects::make_history,   &Objects::append_token,     &Objects::take_back,
        &Objects::make_mask,      &Objects::move_mask,        &Objects::commit_to_both,
        &Objects::destroy_mask,   &Objects::append_token,     &Objects::destroy_history,
        &Objects::commit_to_both, &Objects::pass_wrong_handle};
    (this->*calls[m_bytes.byte() % std::size(calls)])();
  }

  void check_all() {
    for (const KnownHistory& known : m_histories) check(known);
    for (const KnownMask& known : m_masks) {
      expect(known.grammar->accepted() == known.accepted, "a mask stands where it was put");
      expect(known.grammar->misuses() == 0, "callbacks are called as they are documented");
    }
  }

 private:
  struct KnownHistory {
    tokkos_history* handle = nullptr;
    bool lives = false;
    std::vector<std::int32_t> prompt, generated;
  };
  struct KnownMask {
    tokkos_mask* handle = nullptr;
    bool lives = false;
    ScriptedGrammar* grammar = nullptr;
    std::vector<std::int32_t> accepted;
  };

  template <class Known>
  Known* one_of(std::vector<Known>& list) {
    return list.empty() ? nullptr : &list[m_bytes.byte() % list.size()];
  }

  /// A new object may have the address of a dead one, which nothing can tell from it then.
  template <class List, class Handle>
  static void forget(List& list, const Handle* made) {
    for (auto& known : list) {
      if (known.handle == made) known.handle = nullptr;
    }
  }

  void make_history() {
    const auto prompt = fuzz_tokens(m_bytes);
    const bool null = m_bytes.rarely(), no_place = m_bytes.rarely();
    tokkos_history* made = nullptr;
    const bool works = m_watch.worked(tokkos_history_create(
        null ? nullptr : prompt.data(), prompt.size(), no_place ? nullptr : &made));
    const bool is_right = are_tokens(prompt) && !no_place && !(null && !prompt.empty());
    expect(works == is_right && works == (made != nullptr), "right prompts make histories");
    if (!works) return;
    forget(m_histories, made);
    m_histories.push_back({made, true, prompt, {}});
  }

  void append_token() {
    KnownHistory* const known = one_of(m_histories);
    if (known == nullptr) return;
    const std::int32_t token = fuzz_token(m_bytes);
    const bool works = m_watch.worked(tokkos_history_commit(known->handle, token));
    expect(works == (known->lives && token >= 0), "tokens are appended to live histories");
    if (works) known->generated.push_back(token);
  }

  void take_back() {
    KnownHistory* const known = one_of(m_histories);
    if (known == nullptr) return;
    const auto count = m_bytes.mostly<std::size_t>(
        {m_bytes.byte() % (known->generated.size() + 1), 0},
        {known->generated.size() + 1, std::numeric_limits<std::size_t>::max()});
    const bool works = m_watch.worked(tokkos_history_rollback(known->handle, count));
    expect(works == (known->lives && count <= known->generated.size()), "tokens are taken back");
    if (works) known->generated.resize(known->generated.size() - count);
  }

  void destroy_history() {
    KnownHistory* const known = one_of(m_histories);
    if (known == nullptr) return;
    const bool works = m_watch.worked(tokkos_history_destroy(known->handle));
    expect(works == (known->lives || known->handle == nullptr), "what lives is destroyed once");
    known->lives = false;
  }

  void make_mask() {
    KnownMask made;
    const std::uint8_t script = m_bytes.byte();
    made.grammar = &m_grammars.emplace_back(script, vocabulary, m_bytes.flag());
    tokkos_mask_callbacks callbacks = callbacks_of(*made.grammar);
    const bool lacks_one = m_bytes.rarely();
    if (lacks_one) callbacks.rollback = nullptr;
    const bool works = m_watch.worked(tokkos_mask_create(&callbacks, &made.handle));
    expect(works == !lacks_one, "masks have all their callbacks");
    if (!works) return;
    made.lives = true;
    forget(m_masks, made.handle);
    m_masks.push_back(made);
  }

  /// Accepts a token, or takes some back.
  void move_mask() {
    KnownMask* const known = one_of(m_masks);
    if (known == nullptr) return;
    if (m_bytes.flag()) {
      const std::int32_t token = fuzz_token(m_bytes);
      const bool allowed = known->grammar->allows(known->accepted, token);
      const bool works = m_watch.worked(tokkos_mask_accept(known->handle, token));
      expect(works == (known->lives && allowed), "a mask accepts what its grammar allows");
      if (works) known->accepted.push_back(token);
      return;
    }
    const auto most = static_cast<std::int32_t>(known->accepted.size());
    const auto count =
        m_bytes.mostly<std::int32_t>({m_bytes.below(256) % (most + 1)}, {-1, -largest - 1});
    const bool works = m_watch.worked(tokkos_mask_rollback(known->handle, count));
    expect(works == (known->lives && count >= 0), "a mask takes back what it accepted");
    if (works) known->accepted.resize(known->accepted.size() - static_cast<std::size_t>(count));
  }

  void destroy_mask() {
    KnownMask* const known = one_of(m_masks);
    if (known == nullptr) return;
    const bool works = m_watch.worked(tokkos_mask_destroy(known->handle));
    expect(works == (known->lives || known->handle == nullptr), "what lives is destroyed once");
    known->lives = false;
  }

  void commit_to_both() {
    KnownHistory* const history = one_of(m_histories);
    if (history == nullptr) return;
    KnownMask* const mask = m_bytes.flag() ? one_of(m_masks) : nullptr;
    const auto tokens = fuzz_tokens(m_bytes);
    const bool null = m_bytes.rarely();
    bool is_right = history->lives && are_tokens(tokens) && !(null && !tokens.empty());
    if (mask != nullptr && mask->handle != nullptr) {
      is_right = is_right && mask->lives;
      std::vector<std::int32_t> path = mask->accepted;
      for (const std::int32_t token : tokens) {
        is_right =
            is_right && (!mask->grammar->is_constrained() || mask->grammar->allows(path, token));
        path.push_back(token);
      }
    }
    const bool works =
        m_watch.worked(tokkos_commit(history->handle, mask == nullptr ? nullptr : mask->handle,
                                     null ? nullptr : tokens.data(), tokens.size()));
    expect(works == is_right, "tokens are committed to both, or to none");
    if (!works) return;
    history->generated.insert(history->generated.end(), tokens.begin(), tokens.end());
    if (mask == nullptr || mask->handle == nullptr) return;
    mask->accepted.insert(mask->accepted.end(), tokens.begin(), tokens.end());
  }

  /// Numbers, and objects of another kind, are never followed.
  void pass_wrong_handle() {
    const KnownHistory* const known = one_of(m_histories);
    const std::uintptr_t number = m_bytes.number();
    void* const wrong = known != nullptr ? known->handle : reinterpret_cast<void*>(number);
    std::size_t count = 77;
    expect(!m_watch.worked(tokkos_verified_count(static_cast<tokkos_verified*>(wrong), &count)),
           "what is no verdict is refused");
    expect(count == 77, "a refused call writes nothing");
  }

  void check(const KnownHistory& known) {
    const std::int32_t* tokens = nullptr;
    std::size_t count = 0;
    const bool works = m_watch.worked(tokkos_history_generated(known.handle, &tokens, &count));
    expect(works == known.lives, "live histories say what they hold");
    if (!works) return;
    expect(std::vector(tokens, tokens + count) == known.generated, "histories hold their tokens");
    check_ok(tokkos_history_prompt(known.handle, &tokens, &count));
    expect(std::vector(tokens, tokens + count) == known.prompt, "prompts stay as they are");
    for (const std::int32_t token : {0, 7, largest, -1}) {
      std::int32_t times = -1;
      check_ok(tokkos_history_count(known.handle, token, &times));
      expect(times == std::ranges::count(known.generated, token), "tokens are counted");
    }
  }

  FuzzBytes& m_bytes;
  ErrorWatch m_watch;
  std::deque<ScriptedGrammar> m_grammars;
  std::vector<KnownHistory> m_histories;
  std::vector<KnownMask> m_masks;
};

}  // namespace

void fuzz_c_calls(FuzzBytes& bytes) {
  Objects objects(bytes);
  const int calls = bytes.below(64);
  for (int i = 0; i < calls; ++i) {
    objects.call();
    objects.check_all();
  }
}

}  // namespace tokkos::test
