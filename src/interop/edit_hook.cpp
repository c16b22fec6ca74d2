// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/edit_hook.hpp"

#include "interop/handle.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"

#include <memory>
#include <utility>

/// What a callback gets: a handle while it runs, and no longer.
struct tokkos_row_edits : tokkos::interop::Object {
  explicit tokkos_row_edits(tokkos::RowEdits& given) : edits(&given) {}
  tokkos::RowEdits* edits;
};

namespace tokkos::interop {

namespace {

/// Ends the handle when the callback is done, however it ends.
class Borrowed {
 public:
  explicit Borrowed(RowEdits& edits) { create(&m_handle, edits); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    try {
      destroy("edits", m_handle);
    } catch (...) {  // the callback cannot have ended it
    }
  }
  tokkos_row_edits* handle() const { return m_handle; }

 private:
  tokkos_row_edits* m_handle = nullptr;
};

}  // namespace

EditHook edit_hook_of(const tokkos_step& step) {
  if (step.edit_hook == nullptr) return {};
  return [call = step.edit_hook, user = step.edit_hook_user](RowEdits& edits) {
    const Borrowed borrowed(edits);
    called_to_do("step.edit_hook", [&] { return call(user, borrowed.handle()); });
  };
}

}  // namespace tokkos::interop

using namespace tokkos::interop;

void tokkos_row_place_init(tokkos_row_place* place, size_t size) {
  initialize_struct(place, size, tokkos_row_place{});
}

tokkos_status tokkos_row_edits_place(const tokkos_row_edits* edits, tokkos_row_place* place) {
  return guarded([&] {
    const tokkos::RowEdits& row = *live("edits", edits).edits;
    tokkos_row_place found{};
    found.request = row.request();
    found.row = row.row();
    found.draft_node = row.draft_node();
    found.prompt = row.context().prompt.data();
    found.prompt_count = row.context().prompt.size();
    found.generated = row.context().generated.data();
    found.generated_count = row.context().generated.size();
    found.drafts = row.context().drafts.data();
    found.draft_count = row.context().drafts.size();
    write_struct("place", place, found);
  });
}

tokkos_status tokkos_row_edits_add_bias(tokkos_row_edits* edits, int32_t token, double bias) {
  return guarded([&] { live("edits", edits).edits->add_bias(token, bias); });
}
