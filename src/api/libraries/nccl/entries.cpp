// NCCL's entry points other than operations: versions, errors, communicators, memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/per_thread.h"
#include "libraries/common/issue.h"
#include "libraries/nccl/communicator.h"

namespace warpgrind::libraries::nccl {
namespace {

struct LastError {
  std::string text;
};

ncclResult_t need(bool given, const char* function, const char* argument) {
  return given ? ncclSuccess : refuse(ncclInvalidArgument, fmt::format("{}: {} is NULL", function, argument));
}

// A communicator, complete or becoming so; the error of an invalid handle is printed.
CommRef valid(ncclComm_t comm, const char* function) {
  CommRef found = find(comm);
  if (!found)
    refuse(ncclInvalidArgument, fmt::format("{}: this is no communicator, or one that was destroyed", function));
  return found;
}

ncclComm_t add(const CommRef& comm) {
  handles<ncclComm_t, ncclComm>().add(comm.get(), comm);
  return comm.get();
}

int device_count() {
  int count = 0;
  cudaGetDeviceCount(&count);
  return count;
}

ncclResult_t start_rank(const char* function, ncclComm_t* out, int ranks, const ncclUniqueId& unique, int rank,
                        bool blocks) {
  if (const ncclResult_t error = need(out, function, "comm")) return error;
  *out = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, fmt::format("{}: rank {} of {} ranks", function, rank, ranks));
  Id id;
  std::memcpy(static_cast<void*>(&id), &unique, sizeof id);
  if (id.magic != Id::kMagic)
    return refuse(ncclInvalidArgument, fmt::format("{}: the id was not made by ncclGetUniqueId", function));
  auto comm = std::make_shared<ncclComm>();
  comm->rank = rank;
  comm->ranks = ranks;
  if (cudaGetDevice(&comm->device) != cudaSuccess || cudaFree(nullptr) != cudaSuccess) return ncclUnhandledCudaError;
  comm->clique.number = id.number;
  comm->asynchronous = ncclInProgress;
  auto welcome = comm->welcome = std::make_shared<Welcome>();
  const Member member{this_process(), comm->device};
  if ((comm->clique.root = Root::find(id.number))) {
    comm->clique.root->report(rank, ranks, member, [welcome](const auto& members, const std::string& error) {
      welcome->members = members;
      welcome->error = error;
      welcome->done.store(true, std::memory_order_release);
    });
  } else {
    comm->clique.connection = Connection::open(id, rank, ranks, member, welcome);
    if (!comm->clique.connection)
      return refuse(ncclSystemError, fmt::format("{}: the process that made the id cannot be reached: it has ended, or "
                                                 "this host may not connect to it",
                                                 function));
  }
  *out = add(comm);
  if (in_group()) {
    complete_at_group_end(comm);
    return ncclSuccess;
  }
  if (!blocks) return ncclInProgress;
  const ncclResult_t result = complete(*comm);
  if (result != ncclSuccess) {
    handles<ncclComm_t, ncclComm>().remove(*out);
    *out = nullptr;
  }
  return result;
}

ncclResult_t init_all(ncclComm_t* comms, int count, const int* list) {
  if (const ncclResult_t error = need(comms, "ncclCommInitAll", "comm")) return error;
  const int devices = device_count();
  if (count < 1) return refuse(ncclInvalidArgument, fmt::format("ncclCommInitAll: {} devices", count));
  if (!list && count > devices)
    return refuse(ncclInvalidArgument,
                  fmt::format("ncclCommInitAll: {} devices of {} (option --devices)", count, devices));
  Clique clique;
  clique.number = random_number();
  for (int i = 0; i < count; ++i) {
    const int device = list ? list[i] : i;
    if (device < 0 || device >= devices)
      return refuse(ncclUnhandledCudaError,
                    fmt::format("ncclCommInitAll: there is no device {} (option --devices)", device));
    for (const Member& other : clique.members)
      if (other.device == device)
        return refuse(ncclInvalidUsage, fmt::format("ncclCommInitAll: device {} is in the list twice", device));
    clique.members.push_back({this_process(), device});
  }
  clique.here = std::make_shared<Operations>();
  for (int i = 0; i < count; ++i) {
    auto comm = std::make_shared<ncclComm>();
    comm->rank = i;
    comm->ranks = count;
    comm->device = clique.members[static_cast<std::size_t>(i)].device;
    comm->clique = clique;
    comm->sends.resize(clique.members.size());
    comm->receives.resize(clique.members.size());
    comms[i] = add(comm);
  }
  return ncclSuccess;
}

// Number of the communicator that a split makes: the same on all of its ranks.
std::uint64_t number_of(std::uint64_t parent, std::uint64_t split, std::int32_t color) {
  std::uint64_t h = parent;
  for (const std::uint64_t v : {split, static_cast<std::uint64_t>(static_cast<std::uint32_t>(color))}) {
    h ^= v + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccd;
    h ^= h >> 33;
  }
  return h;
}

ncclResult_t split(ncclComm_t handle, int color, int key, ncclComm_t* out) {
  const CommRef parent = valid(handle, "ncclCommSplit");
  if (!parent) return ncclInvalidArgument;
  if (const ncclResult_t error = need(out, "ncclCommSplit", "newcomm")) return error;
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR)
    return refuse(ncclInvalidArgument, fmt::format("ncclCommSplit: the color {} is negative", color));
  if (const ncclResult_t error = complete(*parent)) return error;
  if (in_group() && parent->clique.ranks() > 1)
    return refuse(ncclInvalidUsage, "ncclCommSplit in a group is not supported: call it from one thread for each rank");
  std::vector<SplitChoice> all;
  const std::uint64_t number = parent->exchanges;
  if (const ncclResult_t error = exchange(*parent, {color, key, 0}, all)) return error;
  *out = nullptr;
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  std::vector<int> members;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].color == color) members.push_back(static_cast<int>(r));
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
    return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
  });
  auto comm = std::make_shared<ncclComm>();
  comm->device = parent->device;
  comm->ranks = static_cast<int>(members.size());
  comm->clique = parent->clique;  // with its way to the other ranks
  comm->clique.number = number_of(parent->clique.number, number, color);
  comm->clique.members.clear();
  for (std::size_t r = 0; r < members.size(); ++r) {
    if (members[r] == parent->rank) comm->rank = static_cast<int>(r);
    comm->clique.members.push_back(parent->clique.members[static_cast<std::size_t>(members[r])]);
  }
  comm->sends.resize(members.size());
  comm->receives.resize(members.size());
  *out = add(comm);
  return ncclSuccess;
}

template <class T, class Get>
ncclResult_t query(const char* function, ncclComm_t handle, T* out, Get get) {
  const CommRef comm = valid(handle, function);
  if (!comm) return ncclInvalidArgument;
  if (const ncclResult_t error = need(out, function, "the result")) return error;
  *out = get(*comm);
  return ncclSuccess;
}

ncclResult_t destroy(ncclComm_t handle, const char* function) {
  if (!handle) return ncclSuccess;  // as NCCL
  const CommRef comm = valid(handle, function);
  if (!comm) return ncclInvalidArgument;
  handles<ncclComm_t, ncclComm>().remove(handle);
  return ncclSuccess;
}

}  // namespace

ncclResult_t refuse(ncclResult_t error, const std::string& why) {
  per_thread<LastError>().text = why;
  warpgrind_library_say(fmt::format("NCCL: {}", why).c_str());
  return error;
}

}  // namespace warpgrind::libraries::nccl

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::nccl;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  if (const ncclResult_t error = need(version, "ncclGetVersion", "version")) return error;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}
const char* ncclGetLastError(ncclComm_t) {
  return warpgrind::per_thread<LastError>().text.c_str();
}
void ncclResetDebugInit() {}

ncclResult_t ncclGetUniqueId(ncclUniqueId* out) {
  if (const ncclResult_t error = need(out, "ncclGetUniqueId", "uniqueId")) return error;
  std::string why;
  const Id id = Root::create(why);
  if (!why.empty()) return refuse(ncclInvalidUsage, "ncclGetUniqueId: " + why);
  *out = {};
  std::memcpy(out, &id, sizeof id);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return start_rank("ncclCommInitRank", comm, ranks, id, rank, true);
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (config && config->magic != 0xcafebeef)
    return refuse(ncclInvalidArgument, "ncclCommInitRankConfig: config lacks NCCL_CONFIG_INITIALIZER");
  return start_rank("ncclCommInitRankConfig", comm, ranks, id, rank, !config || config->blocking != 0);
}
ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int ranks, int rank, int ids, ncclUniqueId* id,
                                      ncclConfig_t* config) {
  if (!id || ids < 1) return refuse(ncclInvalidArgument, "ncclCommInitRankScalable: no id");
  return ncclCommInitRankConfig(comm, ranks, *id, rank, config);
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int devices, const int* list) {
  return init_all(comms, devices, list);
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* out, ncclConfig_t*) {
  return split(comm, color, key, out);
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return valid(comm, "ncclCommFinalize") ? ncclSuccess : ncclInvalidArgument;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return destroy(comm, "ncclCommDestroy");
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return destroy(comm, "ncclCommAbort");
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* out) {
  return query("ncclCommGetAsyncError", comm, out, [](ncclComm& c) -> ncclResult_t {
    const std::shared_ptr<Welcome> welcome = [&] {
      const std::lock_guard lock(c.mutex);
      return c.welcome;
    }();
    if (welcome && welcome->done.load(std::memory_order_acquire)) complete(c);
    return c.asynchronous;
  });
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return query("ncclCommCount", comm, count, [](ncclComm& c) { return c.ranks; });
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return query("ncclCommCuDevice", comm, device, [](ncclComm& c) { return c.device; });
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return query("ncclCommUserRank", comm, rank, [](ncclComm& c) { return c.rank; });
}

ncclResult_t ncclMemAlloc(void** out, size_t size) {
  if (const ncclResult_t error = need(out, "ncclMemAlloc", "ptr")) return error;
  return cudaMalloc(out, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* at) {
  return cudaFree(at) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
// Registered buffers are as fast as others here.
ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, size_t, void** handle) {
  return query("ncclCommRegister", comm, handle, [&](ncclComm&) { return buffer; });
}
ncclResult_t ncclCommDeregister(const ncclComm_t comm, void*) {
  return valid(comm, "ncclCommDeregister") ? ncclSuccess : ncclInvalidArgument;
}
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t, ncclWindow_t* window, int) {
  return query("ncclCommWindowRegister", comm, window, [&](ncclComm&) { return static_cast<ncclWindow_t>(buffer); });
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t) {
  return valid(comm, "ncclCommWindowDeregister") ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t handle) {
  const CommRef comm = valid(handle, "ncclRedOpCreatePreMulSum");
  if (!comm) return ncclInvalidArgument;
  if (const ncclResult_t error = need(op && scalar, "ncclRedOpCreatePreMulSum", "op or scalar")) return error;
  if (bytes_of(type) == 0) return refuse(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: unknown data type");
  OwnOperation own;
  own.type = type;
  if (residence == ncclScalarHostImmediate)
    std::memcpy(&own.bits, scalar, bytes_of(type));
  else
    own.at = scalar;
  const std::lock_guard lock(comm->mutex);
  comm->own_operations[comm->next_operation] = own;
  *op = static_cast<ncclRedOp_t>(comm->next_operation++);
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t handle) {
  const CommRef comm = valid(handle, "ncclRedOpDestroy");
  if (!comm) return ncclInvalidArgument;
  const std::lock_guard lock(comm->mutex);
  if (comm->own_operations.erase(op) == 0)
    return refuse(ncclInvalidArgument, "ncclRedOpDestroy: not an operation of this communicator");
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  return begin_group();
}
ncclResult_t ncclGroupEnd() {
  return end_group(nullptr);
}
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* info) {
  if (const ncclResult_t error = need(info, "ncclGroupSimulateEnd", "simInfo")) return error;
  return end_group(&info->estimatedTime);
}

}  // extern "C"
