// NCCL's entry points for operations: the checks of their arguments.
#include <fmt/format.h>

#include "libraries/nccl/communicator.h"

namespace warpgrind::libraries::nccl {
namespace {

struct Arguments {
  const char* function;
  const void* send;
  void* recv;
  std::uint64_t count;
  ncclDataType_t type;
  ncclComm_t comm;
  cudaStream_t stream;
};

std::string problem_of(const Arguments& a, const ncclComm& comm, const Call& call, int participants, int participant) {
  if (bytes_of(a.type) == 0) return fmt::format("unknown data type {}", static_cast<int>(a.type));
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46;
  if (a.count > kMost) return fmt::format("the count {} is too large", a.count);
  if (call.root < 0 || call.root >= comm.ranks)
    return fmt::format("the root {} is not one of the {} ranks", call.root, comm.ranks);
  if (send_bytes(call, participants, participant) && !a.send) return "the send buffer is NULL";
  if (recv_bytes(call, participants, participant) && !a.recv) return "the receive buffer is NULL";
  return "";
}

// Takes the operation from the call; false: there is no such operation.
bool take_op(ncclComm& comm, ncclRedOp_t op, Pending& out) {
  out.call.op = op;
  if (op >= ncclSum && op < ncclNumOps) return true;
  const std::lock_guard lock(comm.mutex);
  const auto own = comm.own_operations.find(op);
  if (own == comm.own_operations.end() || own->second.type != out.call.type) return false;
  out.own = own->second;
  out.call.op = kMultiplied;
  return true;
}

ncclResult_t call(const Arguments& a, Kind kind, int root = 0, ncclRedOp_t op = ncclSum) {
  const CommRef comm = find(a.comm);
  if (!comm)
    return refuse(ncclInvalidArgument,
                  fmt::format("{}: this is no communicator, or one that was destroyed", a.function));
  if (const ncclResult_t error = complete(*comm)) return error;
  Pending p;
  p.comm = comm;
  p.call = {kind, a.type, ncclSum, a.count, root};
  p.send = a.send;
  p.recv = a.recv;
  p.stream = a.stream;
  if (const std::string why = problem_of(a, *comm, p.call, comm->ranks, comm->rank); !why.empty())
    return refuse(ncclInvalidArgument, fmt::format("{}: {}", a.function, why));
  if (reduces(kind) && !take_op(*comm, op, p))
    return refuse(ncclInvalidArgument, fmt::format("{}: {} is not a reduction operation of this communicator for {}",
                                                   a.function, static_cast<int>(op), name_of(a.type)));
  return submit(std::move(p));
}

ncclResult_t transfer(const Arguments& a, int peer, bool is_send) {
  const CommRef comm = find(a.comm);
  if (!comm)
    return refuse(ncclInvalidArgument,
                  fmt::format("{}: this is no communicator, or one that was destroyed", a.function));
  if (const ncclResult_t error = complete(*comm)) return error;
  if (peer < 0 || peer >= comm->ranks)
    return refuse(ncclInvalidArgument,
                  fmt::format("{}: the peer {} is not one of the {} ranks", a.function, peer, comm->ranks));
  Pending p;
  p.comm = comm;
  p.call = {Kind::transfer, a.type, ncclSum, a.count, 0};
  p.send = a.send;
  p.recv = a.recv;
  p.peer = peer;
  p.is_send = is_send;
  p.stream = a.stream;
  if (const std::string why = problem_of(a, *comm, p.call, 2, is_send ? 0 : 1); !why.empty())
    return refuse(ncclInvalidArgument, fmt::format("{}: {}", a.function, why));
  return submit(std::move(p));
}

}  // namespace
}  // namespace warpgrind::libraries::nccl

using namespace warpgrind::libraries::nccl;

extern "C" {

ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call({"ncclAllReduce", send, recv, count, type, comm, stream}, Kind::all_reduce, 0, op);
}
ncclResult_t ncclReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call({"ncclReduce", send, recv, count, type, comm, stream}, Kind::reduce, root, op);
}
ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return call({"ncclBroadcast", send, recv, count, type, comm, stream}, Kind::broadcast, root);
}
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return call({"ncclBcast", buffer, buffer, count, type, comm, stream}, Kind::broadcast, root);
}
ncclResult_t ncclReduceScatter(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call({"ncclReduceScatter", send, recv, count, type, comm, stream}, Kind::reduce_scatter, 0, op);
}
ncclResult_t ncclAllGather(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call({"ncclAllGather", send, recv, count, type, comm, stream}, Kind::all_gather);
}
ncclResult_t ncclAlltoAll(const void* send, void* recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  return call({"ncclAlltoAll", send, recv, count, type, comm, stream}, Kind::all_to_all);
}
ncclResult_t ncclGather(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return call({"ncclGather", send, recv, count, type, comm, stream}, Kind::gather, root);
}
ncclResult_t ncclScatter(const void* send, void* recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                         cudaStream_t stream) {
  return call({"ncclScatter", send, recv, count, type, comm, stream}, Kind::scatter, root);
}
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return transfer({"ncclSend", send, nullptr, count, type, comm, stream}, peer, true);
}
ncclResult_t ncclRecv(void* recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return transfer({"ncclRecv", nullptr, recv, count, type, comm, stream}, peer, false);
}

}  // extern "C"
