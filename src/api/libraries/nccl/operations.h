// Operations that wait for their participants. The participant that comes last carries the operation out. One table
// serves the ranks of a process, and that of the process which made the ncclUniqueId also serves those of others.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libraries/nccl/calls.h"
#include "semantics/library_calls.h"

namespace warpgrind::libraries::nccl {

// Identifies an operation. Plain data: it travels between processes.
struct Key {
  std::uint64_t clique = 0;         // number of the communicator
  std::int32_t from = -1, to = -1;  // ranks of a transfer; -1: a collective; kExchange: an exchange of the host
  std::uint64_t index = 0;          // counts the operations of one kind, from 0
  auto operator<=>(const Key&) const = default;
};
inline constexpr std::int32_t kExchange = -2;

struct Operation {
  explicit Operation(int participants)
      : parts(static_cast<std::size_t>(participants)),
        issued(static_cast<std::size_t>(participants)),
        arrived(static_cast<std::size_t>(participants)) {}
  std::mutex mutex;  // guards the members up to `start`
  bool has_call = false;
  Call call;
  int first = 0;  // participant that brought the call
  std::vector<Part> parts;
  std::vector<bool> issued, arrived;
  std::vector<std::function<void(const Operation&)>> at_end;  // called by the last participant
  bool abandoned = false;  // the waiting rank has given up: its buffers may be gone (remote operations)
  std::shared_ptr<semantics::CommonStart> start = std::make_shared<semantics::CommonStart>();

  std::atomic<bool> refused{false};  // the calls differ, so it never takes place
  std::atomic<bool> done{false};
  ncclResult_t result = ncclSuccess;  // valid once it is done or refused, like `error`
  std::string error;

  bool ended() const { return done.load(std::memory_order_acquire) || refused.load(std::memory_order_acquire); }
  // Ranks that have not issued it.
  std::vector<int> missing();
};
using OperationRef = std::shared_ptr<Operation>;

class Operations {
 public:
  // The participant will take part: at issue. If its call differs from that of others, the operation ends with an
  // error, which is returned.
  OperationRef issue(const Key& key, int participants, int participant, const Call& call, std::string& error);
  // The participant's stream has come to it.
  static void arrive(Operation& operation, int participant, const Part& part,
                     std::function<void(const Operation&)> at_end = nullptr);

 private:
  std::mutex mutex_;
  std::map<Key, OperationRef> open_;  // until all participants have issued it
};

}  // namespace warpgrind::libraries::nccl
