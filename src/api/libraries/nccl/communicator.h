// Communicators, and what this thread has collected in a group.
#pragma once

#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libraries/common/handles.h"
#include "libraries/nccl/bootstrap.h"

namespace warpgrind::libraries::nccl {

// The ranks that communicate, as each of them sees it.
struct Clique {
  std::uint64_t number = 0;  // equal on all ranks
  std::vector<Member> members;
  std::shared_ptr<Operations> here;        // all ranks are in this process
  std::shared_ptr<Root> root;              // else: of a rank in the root's process
  std::shared_ptr<Connection> connection;  // else: to the root
  int ranks() const { return static_cast<int>(members.size()); }
};

// An operation of ncclRedOpCreatePreMulSum.
struct OwnOperation {
  ncclDataType_t type = ncclFloat32;
  std::uint64_t bits = 0;    // of the factor
  const void* at = nullptr;  // the factor in device memory; null: `bits`
};

}  // namespace warpgrind::libraries::nccl

struct ncclComm {
  int rank = 0, device = 0;
  std::mutex mutex;  // guards the members up to `welcome`
  warpgrind::libraries::nccl::Clique clique;
  std::uint64_t collectives = 0, exchanges = 0;  // issued so far
  std::vector<std::uint64_t> sends, receives;    // by peer
  std::map<int, warpgrind::libraries::nccl::OwnOperation> own_operations;
  int next_operation = ncclNumOps;
  // Until the communicator is complete.
  std::shared_ptr<warpgrind::libraries::nccl::Welcome> welcome;
  int ranks = 0;
  std::atomic<ncclResult_t> asynchronous{ncclSuccess};
};

namespace warpgrind::libraries::nccl {

using CommRef = std::shared_ptr<ncclComm>;

// nullptr: not a communicator, or a destroyed one.
CommRef find(ncclComm_t comm);
// Waits until the communicator is complete.
ncclResult_t complete(ncclComm& comm);

// Keeps the text for ncclGetLastError, prints it once, and returns the error.
ncclResult_t refuse(ncclResult_t error, const std::string& why);

// An operation between call and issue.
struct Pending {
  CommRef comm;
  Call call;
  const void* send = nullptr;
  void* recv = nullptr;
  int peer = -1;  // of a transfer; `send` or `recv` says which side this is
  bool is_send = false;
  OwnOperation own;  // for kMultiplied
  cudaStream_t stream = nullptr;
  bool has_index = false;  // else chosen at the issue (calls of graphs)
  std::uint64_t index = 0;
};

// Issues the operation, or adds it to the thread's group.
ncclResult_t submit(Pending operation);
// True while the calling thread is in a group; communicators are completed at its end.
bool in_group();
void complete_at_group_end(CommRef comm);
ncclResult_t begin_group();
// simulated: only the estimate of its time, microseconds; the group's operations are dropped.
ncclResult_t end_group(float* simulated);

// Each rank gives 16 bytes, and gets those of all.
struct SplitChoice {
  std::int32_t color = 0, key = 0;
  std::uint64_t unused = 0;
};
ncclResult_t exchange(ncclComm& comm, const SplitChoice& own, std::vector<SplitChoice>& all);
// Issue and arrival of an operation, wherever the other ranks are.
OperationRef issue(const Clique& clique, const Key& key, int participants, int participant, const Call& call,
                   std::string& error);
void arrive(const Clique& clique, const Key& key, const OperationRef& operation, int participant, const Part& part);

}  // namespace warpgrind::libraries::nccl
