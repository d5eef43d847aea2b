// Host calls that made and destroyed each stream, event, graph and texture object.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/host_stack.h"

namespace warpgrind::checkers {

struct Handle {
  std::string_view kind;  // "stream", "event", "graph", "texture": as in the finding leak-stream
  HostStack made;
  std::optional<HostStack> destroyed;
};

// Thread-safe. Call it from the thread that makes or destroys the handle: its call stack is recorded.
class Handles {
 public:
  void made(std::string_view kind, std::uint64_t handle);
  void destroyed(std::uint64_t handle);
  void destroyed_all();                                    // the device was reset
  std::optional<Handle> find(std::uint64_t handle) const;  // the newest one with this value
  std::vector<Handle> all() const;                         // in order of creation

 private:
  mutable std::mutex mutex_;
  std::vector<Handle> all_;
  std::map<std::uint64_t, std::size_t> last_;
};

}  // namespace warpgrind::checkers
