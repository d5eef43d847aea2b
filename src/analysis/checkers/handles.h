// Streams, events, graphs and texture objects: where the program made and destroyed them.
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
  std::string_view kind;  // "stream", "event", "graph", "texture": as in leak-stream
  HostStack made;
  std::optional<HostStack> destroyed;
};

// Thread-safe. Called by the thread that makes or destroys it.
class Handles {
 public:
  void made(std::string_view kind, std::uint64_t handle);
  void destroyed(std::uint64_t handle);
  void destroyed_all();                                    // the device was reset
  std::optional<Handle> find(std::uint64_t handle) const;  // the last that had this value
  std::vector<Handle> live() const;                        // in the order in which they were made

 private:
  mutable std::mutex mutex_;
  std::vector<Handle> all_;
  std::map<std::uint64_t, std::size_t> last_;
};

}  // namespace warpgrind::checkers
