// Table of all stream work (grids, copies, fills ...) with the host call that issued each piece.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/host_stack.h"
#include "events/observer.h"
#include "results/finding.h"

namespace warpgrind::checkers {

struct Work {
  std::uint64_t id = 0;
  events::StreamWork::Kind kind = events::StreamWork::Kind::mark;
  int device = 0;
  std::uint64_t stream = events::StreamWork::kNoStream;
  HostStack call;
  std::string kernel;  // grids: mangled name; set when the grid begins
};

// "the default stream", "stream 3", "a node of a graph"
std::string stream_name(const Work& work);
// The call as an access of a finding. File and line are the host's.
results::FindingAccess access_of(const Work& work);

// Thread-safe.
class Works final : public events::Observer {
 public:
  events::Wants wants() const override;
  void on_stream_work(const events::StreamWork& work, unsigned worker) override;
  void on_launch_begin(const events::Launch& launch) override;
  std::optional<Work> find(std::uint64_t id) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Work> works_;  // by id
};

}  // namespace warpgrind::checkers
