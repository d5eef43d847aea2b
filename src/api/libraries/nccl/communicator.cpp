// Communicators: completion, errors, and the way to the other ranks.
#include "libraries/nccl/communicator.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "libraries/common/issue.h"

namespace warpgrind::libraries::nccl {
namespace {

// Operations of communicators whose ranks are all in this process, by the communicator's number.
std::shared_ptr<Operations> operations_here(std::uint64_t clique) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::map<std::uint64_t, std::weak_ptr<Operations>>;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<Operations> found = (*all)[clique].lock();
  if (!found) (*all)[clique] = found = std::make_shared<Operations>();
  return found;
}

// Polls until `done()`. After 10 s it prints the text, once.
template <class Done>
void wait_on_host(Done&& done, const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  bool said = false;
  while (!done()) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (said || std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) continue;
    said = true;
    warpgrind_library_say(text.c_str());
  }
}

}  // namespace

CommRef find(ncclComm_t comm) {
  return handles<ncclComm_t, ncclComm>().find(comm);
}

ncclResult_t complete(ncclComm& comm) {
  std::shared_ptr<Welcome> welcome;
  {
    const std::lock_guard lock(comm.mutex);
    welcome = comm.welcome;
  }
  if (!welcome) return ncclSuccess;
  wait_on_host([&] { return welcome->done.load(std::memory_order_acquire); },
               fmt::format("for 10 s, ncclCommInitRank of rank {} waits for other ranks: the communicator has {}",
                           comm.rank, comm.ranks));
  const std::lock_guard lock(comm.mutex);
  if (!comm.welcome) return ncclSuccess;  // another thread has completed it
  comm.welcome.reset();
  if (!welcome->error.empty()) {
    comm.asynchronous = ncclInvalidUsage;
    return refuse(ncclInvalidUsage, welcome->error);
  }
  comm.clique.members = welcome->members;
  bool here = true;
  for (const Member& m : comm.clique.members) here = here && m.process == this_process();
  if (here) {
    comm.clique.here = operations_here(comm.clique.number);
    comm.clique.connection.reset();
  }
  comm.sends.resize(comm.clique.members.size());
  comm.receives.resize(comm.clique.members.size());
  comm.asynchronous = ncclSuccess;
  return ncclSuccess;
}

OperationRef issue(const Clique& clique, const Key& key, int participants, int participant, const Call& call,
                   std::string& error) {
  if (clique.here) return clique.here->issue(key, participants, participant, call, error);
  if (clique.root) return clique.root->operations().issue(key, participants, participant, call, error);
  auto operation = std::make_shared<Operation>(participants);
  operation->call = call;
  operation->has_call = true;
  return operation;
}

void arrive(const Clique& clique, const Key& key, const OperationRef& operation, int participant, const Part& part) {
  if (clique.here || clique.root)
    Operations::arrive(*operation, participant, part);
  else
    clique.connection->arrive(key, operation, participant, part);
}

ncclResult_t exchange(ncclComm& comm, const SplitChoice& own, std::vector<SplitChoice>& all) {
  all.resize(comm.clique.members.size());
  Key key{comm.clique.number, kExchange, kExchange, 0};
  {
    const std::lock_guard lock(comm.mutex);
    key.index = comm.exchanges++;
  }
  Call call;
  call.kind = Kind::exchange;
  call.count = sizeof own;
  std::string error;
  const OperationRef operation = issue(comm.clique, key, comm.clique.ranks(), comm.rank, call, error);
  arrive(comm.clique, key, operation, comm.rank, {&own, all.data(), 0, false});
  wait_on_host([&] { return operation->ended(); }, "for 10 s, ncclCommSplit waits for other ranks of the communicator");
  return operation->result == ncclSuccess ? ncclSuccess : refuse(operation->result, operation->error);
}

}  // namespace warpgrind::libraries::nccl
