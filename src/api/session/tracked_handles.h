// Handles that `warpgrind check` tracks: streams, events, graphs ("graph": executable ones too) and texture objects
// ("texture"). Does nothing in other runs. Thread-safe. Lives as long as the session.
#pragma once

#include <cstdint>
#include <string_view>

#include "checkers/checker.h"

namespace warpgrind::session {

// Call on the thread that creates or destroys the handle: its stack is kept.
class TrackedHandles {
 public:
  explicit TrackedHandles(checkers::Checkers* checkers) : checkers_(checkers) {}  // null: not tracked

  void made(std::string_view kind, std::uint64_t handle) {
    if (checkers_) checkers_->handles().made(kind, handle);
  }
  void destroyed(std::uint64_t handle) {
    if (checkers_) checkers_->handles().destroyed(handle);
  }
  void all_destroyed() {
    if (checkers_) checkers_->handles().destroyed_all();
  }

 private:
  checkers::Checkers* const checkers_;
};

}  // namespace warpgrind::session
