// Start of communicators. The process that makes an ncclUniqueId becomes its root: all ranks report to the root, which
// then lists the members to each. Ranks in the root's process call it, others connect by TCP. The root also carries out
// operations of ranks in several processes, whose bytes pass through these connections.
//
// An ncclUniqueId holds addresses and the port of the root, and a random number that connections have to know.
#pragma once

#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libraries/nccl/operations.h"
#include "libraries/nccl/sockets.h"

namespace warpgrind::libraries::nccl {

// A rank's GPU. Plain data: it travels between processes.
struct Member {
  std::uint64_t process = 0;  // random number of its process
  std::int32_t device = 0;
};
std::uint64_t random_number();
std::uint64_t this_process();

// What a rank waits for while its communicator is made.
struct Welcome {
  std::atomic<bool> done{false};
  std::vector<Member> members;  // valid once it is done, like `error`
  std::string error;
};

// Content of an ncclUniqueId. Plain data.
struct Id {
  static constexpr std::uint64_t kMagic = 0x4c43434e47495057;  // "WPIGNCCL"
  std::uint64_t magic = 0, number = 0, network = 0;
  Addresses addresses;     // of the root's host
  std::uint16_t port = 0;  // 0: no other process can connect
};
static_assert(sizeof(Id) <= NCCL_UNIQUE_ID_BYTES);

class Root {
 public:
  using AtWelcome = std::function<void(const std::vector<Member>& members, const std::string& error)>;
  // Makes a root in this process. It lives until the process ends. `error` says why there is none.
  static Id create(std::string& error);
  static std::shared_ptr<Root> find(std::uint64_t number);  // nullptr: not in this process
  // A rank reports; at_welcome is called when all have.
  void report(int rank, int ranks, const Member& member, AtWelcome at_welcome);
  Operations& operations() { return operations_; }

 private:
  std::mutex mutex_;
  int ranks_ = 0;
  std::map<int, Member> members_;
  std::vector<AtWelcome> waiting_;
  Operations operations_;
};

// Connection of one rank to the root in another process.
class Connection {
 public:
  // nullptr: there is no root at that address.
  static std::shared_ptr<Connection> open(const Id& id, int rank, int ranks, const Member& member,
                                          std::shared_ptr<Welcome> welcome);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // The rank's stream has come to the operation. The answer ends `operation`, after it wrote the part's receive buffer.
  void arrive(const Key& key, const OperationRef& operation, int participant, const Part& part);

 private:
  struct State;
  explicit Connection(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace warpgrind::libraries::nccl
