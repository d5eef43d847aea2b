// Groups of NCCL operations, and their issue. The operations of a group become one piece of work for each device if
// they share a stream or a communicator. It ends when all of them have.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "base/per_thread.h"
#include "libraries/common/issue.h"
#include "libraries/nccl/communicator.h"

namespace warpgrind::libraries::nccl {
namespace {

struct Group {
  int depth = 0;
  std::vector<Pending> operations;
  std::vector<CommRef> incomplete;
  ncclResult_t error = ncclSuccess;
};
Group& group_of_thread() {
  return per_thread<Group>();
}

// Works with the communicator's device as the current one.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    if (before_ != device)
      cudaSetDevice(device);
    else
      before_ = -1;
  }
  ~OnDevice() {
    if (before_ >= 0) cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

std::string name_of(const Pending& p) {
  return p.call.kind == Kind::transfer && !p.is_send ? "ncclRecv" : nccl::name_of(p.call.kind);
}

// The operation of one rank, from its issue on.
struct Taking {
  Pending operation;
  Key key;
  int participants = 0, participant = 0;
  OperationRef meeting;
};

void take_index(Pending& p) {
  const std::lock_guard lock(p.comm->mutex);
  if (p.call.kind == Kind::transfer)
    p.index = (p.is_send ? p.comm->sends : p.comm->receives)[static_cast<std::size_t>(p.peer)]++;
  else
    p.index = p.comm->collectives++;
  p.has_index = true;
}

Taking issue_one(Pending p, std::string& error) {
  if (!p.has_index) take_index(p);
  Taking out;
  const bool transfer = p.call.kind == Kind::transfer;
  out.key = {p.comm->clique.number, -1, -1, p.index};
  if (transfer) {
    out.key.from = p.is_send ? p.comm->rank : p.peer;
    out.key.to = p.is_send ? p.peer : p.comm->rank;
  }
  out.participants = transfer ? 2 : p.comm->clique.ranks();
  out.participant = transfer ? (p.is_send ? 0 : 1) : p.comm->rank;
  std::string why;
  out.meeting = issue(p.comm->clique, out.key, out.participants, out.participant, p.call, why);
  if (error.empty()) error = why;
  out.operation = std::move(p);
  return out;
}

Part part_of(LibraryRun& run, const Taking& t) {
  const Pending& p = t.operation;
  Part part{p.send, p.recv, p.own.bits, false};
  part.failed = run.broken() || !run.reads("sendbuff", p.send, send_bytes(p.call, t.participants, t.participant)) ||
                !run.writes("recvbuff", p.recv, recv_bytes(p.call, t.participants, t.participant));
  if (!part.failed && p.own.at) {
    part.failed = !run.reads("scalar", p.own.at, bytes_of(p.own.type));
    if (!part.failed) std::memcpy(&part.scalar, p.own.at, bytes_of(p.own.type));
  }
  return part;
}

std::string list_of(const Taking& t) {
  if (t.operation.call.kind == Kind::transfer) return fmt::format("rank {}", t.operation.peer);
  const std::vector<int> missing = t.meeting->missing();
  return fmt::format("{} {}", missing.size() == 1 ? "rank" : "ranks", fmt::join(missing, ", "));
}

// Names the ranks that the operation waits for, if they have not called it.
void say_missing(const Taking& t, const char* when) {
  if (t.meeting->ended()) return;
  const Pending& p = t.operation;
  if (t.meeting->missing().empty()) return;
  const bool here = p.comm->clique.here || p.comm->clique.root;
  std::string text = fmt::format("{} {} of rank {} (call {} of its communicator) waits for ", when, name_of(p),
                                 p.comm->rank, p.index + 1);
  text += here ? list_of(t) + ", which did not call it" : "ranks of other processes";
  warpgrind_library_say(text.c_str());
}

void execute(LibraryRun& run, const std::vector<Taking>& all) {
  for (const Taking& t : all) arrive(t.operation.comm->clique, t.key, t.meeting, t.participant, part_of(run, t));
  constexpr auto kLong = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  bool said = false;
  const bool ended = run.wait([&] {
    if (std::all_of(all.begin(), all.end(), [](const Taking& t) { return t.meeting->ended(); })) return true;
    if (!said && std::chrono::steady_clock::now() - begin > kLong) {
      said = true;
      for (const Taking& t : all) say_missing(t, "for 10 s,");
    }
    return false;
  });
  for (const Taking& t : all) {
    if (!ended) {
      if (!said) say_missing(t, "at the end of the program,");
      const std::lock_guard lock(t.meeting->mutex);
      t.meeting->abandoned = true;
    }
    if (!t.meeting->ended() || t.meeting->result == ncclSuccess) continue;
    t.operation.comm->asynchronous = t.meeting->result;
    if (!run.broken())
      run.misused(fmt::format("{} of rank {} (call {} of its communicator) cannot take place: {}", name_of(t.operation),
                              t.operation.comm->rank, t.operation.index + 1, t.meeting->error),
                  "all ranks have to call the operations of a communicator in the same order, with the same arguments");
  }
}

timing::Collective work_of(const Pending& p) {
  using Of = timing::Collective::Kind;
  static constexpr Of kKinds[] = {Of::all_reduce,     Of::reduce,     Of::broadcast, Of::all_gather,
                                  Of::reduce_scatter, Of::all_to_all, Of::gather,    Of::scatter};
  timing::Collective out;
  out.kind = p.call.kind != Kind::transfer ? kKinds[static_cast<std::size_t>(p.call.kind)]
             : p.is_send                   ? Of::send
                                           : Of::receive;
  out.ranks = p.comm->clique.ranks();
  const bool all = p.call.kind >= Kind::all_gather && p.call.kind <= Kind::scatter;
  out.bytes = static_cast<double>(p.call.count * bytes_of(p.call.type)) * (all ? out.ranks : 1);
  return out;
}

LibraryWork work_of(const std::vector<Pending>& operations) {
  LibraryWork work;
  work.family = LibraryFamily::collective;
  for (const Pending& p : operations) work.collectives.push_back(work_of(p));
  return work;
}

// Name of the work's row: the calls, each named once.
void name_row(semantics::LibraryCall& row, const std::vector<Pending>& operations) {
  std::vector<std::string> names;
  for (const Pending& p : operations)
    if (std::find(names.begin(), names.end(), name_of(p)) == names.end()) names.push_back(name_of(p));
  row.function = fmt::format("{}", fmt::join(names, " + "));
  const Call& first = operations.front().call;
  row.arguments = operations.size() == 1 ? fmt::format("{} x {}", first.count, nccl::name_of(first.type))
                                         : fmt::format("{} calls of a group", operations.size());
}

ncclResult_t check_stream(const Pending& p) {
  const OnDevice on(p.comm->device);
  const int device = warpgrind_library_stream_device(p.stream);
  if (device < 0) return refuse(ncclUnhandledCudaError, fmt::format("{}: the stream is not valid", name_of(p)));
  if (device == p.comm->device) return ncclSuccess;
  return refuse(ncclInvalidUsage,
                fmt::format("{}: the stream belongs to device {}, rank {} of the communicator to device {}", name_of(p),
                            device, p.comm->rank, p.comm->device));
}

// Operations that are one piece of work, and their streams, each once.
struct Joined {
  std::vector<Pending> operations;
  std::vector<cudaStream_t> streams;
};

// The work is issued to the first stream. It begins when all its streams have come to it, and all wait for its end.
ncclResult_t issue_joined(Joined joined) {
  const cudaStream_t stream = joined.streams.front();
  const OnDevice on(joined.operations.front().comm->device);
  auto call = std::make_shared<semantics::LibraryCall>();
  name_row(*call, joined.operations);
  call->by = "warpgrind";
  call->work = work_of(joined.operations);
  auto error = std::make_shared<std::string>();
  call->prepare = [operations = std::move(joined.operations), error] {
    std::vector<Taking> all;
    error->clear();
    for (const Pending& p : operations) all.push_back(issue_one(p, *error));
    semantics::LibraryExecution execution;
    for (const Taking& t : all) execution.starts.push_back(t.meeting->start);
    execution.run = [all = std::move(all)](LibraryRun& run) { execute(run, all); };
    return execution;
  };
  const semantics::LibraryCallRef reference = std::move(call);
  warpgrind_library_begin("NCCL", "warpgrind's own code");
  bool good = true;
  for (const cudaStream_t other : joined.streams)
    if (other != stream) good = good && warpgrind_library_order(other, stream);
  good = good && warpgrind_library_issue(&reference, stream, false) == LibraryIssue::done;
  for (const cudaStream_t other : joined.streams)
    if (other != stream) good = good && warpgrind_library_order(stream, other);
  if (!good)
    return refuse(ncclUnhandledCudaError,
                  fmt::format("{}: {}", reference->function, cudaGetErrorString(cudaPeekAtLastError())));
  return error->empty() ? ncclSuccess : refuse(ncclInvalidUsage, *error);
}

// Number of the capture that the stream is in; 0: none.
unsigned long long capture_of(const Pending& p) {
  const OnDevice on(p.comm->device);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  cudaStreamGetCaptureInfo(p.stream, &status, &number, nullptr, nullptr, nullptr, nullptr);
  return status == cudaStreamCaptureStatusNone ? 0 : number;
}

// Joins the operations of one stream, so that sends and receives cannot block each other, and those of one
// communicator: NCCL carries them out by one kernel, for which all streams of the communicator wait.
std::vector<Joined> join(std::vector<Pending> operations) {
  std::vector<std::size_t> parent(operations.size());
  const auto root_of = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::map<std::pair<int, cudaStream_t>, std::size_t> by_stream;
  std::map<const ncclComm*, std::size_t> by_comm;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Pending& p = operations[i];
    parent[i] = i;
    for (const std::size_t other : {by_stream.try_emplace({p.comm->device, p.stream}, i).first->second,
                                    by_comm.try_emplace(p.comm.get(), i).first->second}) {
      const std::size_t a = root_of(i), b = root_of(other);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<Joined> out;
  std::map<std::size_t, std::size_t> place;  // in `out`, by root
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto [at, is_new] = place.try_emplace(root_of(i), out.size());
    if (is_new) out.emplace_back();
    Joined& joined = out[at->second];
    if (std::find(joined.streams.begin(), joined.streams.end(), operations[i].stream) == joined.streams.end())
      joined.streams.push_back(operations[i].stream);
    joined.operations.push_back(std::move(operations[i]));
  }
  return out;
}

ncclResult_t issue_all(std::vector<Pending> operations) {
  for (const Pending& p : operations)  // before the first is issued: the other ranks would wait for a part of them
    if (const ncclResult_t error = check_stream(p); error != ncclSuccess) return error;
  std::map<const ncclComm*, unsigned long long> captures;
  for (Pending& p : operations) {
    const unsigned long long capture = capture_of(p);
    if (captures.try_emplace(p.comm.get(), capture).first->second != capture)
      return refuse(ncclInvalidUsage,
                    fmt::format("{}: the group has captured and other streams of one communicator, or streams of two "
                                "captures",
                                name_of(p)));
    if (!capture) take_index(p);  // in the order of the calls
  }
  ncclResult_t result = ncclSuccess;
  for (Joined& joined : join(std::move(operations)))
    if (const ncclResult_t error = issue_joined(std::move(joined)); result == ncclSuccess) result = error;
  return result;
}

}  // namespace

ncclResult_t submit(Pending operation) {
  if (in_group()) {
    group_of_thread().operations.push_back(std::move(operation));
    return ncclSuccess;
  }
  std::vector<Pending> one;
  one.push_back(std::move(operation));
  return issue_all(std::move(one));
}

bool in_group() {
  return group_of_thread().depth > 0;
}

void complete_at_group_end(CommRef comm) {
  group_of_thread().incomplete.push_back(std::move(comm));
}

ncclResult_t begin_group() {
  group_of_thread().depth++;
  return ncclSuccess;
}

ncclResult_t end_group(float* simulated) {
  if (group_of_thread().depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call");
  if (group_of_thread().depth > 1) {
    --group_of_thread().depth;
    return ncclSuccess;
  }
  const Group group = std::exchange(group_of_thread(), {});
  ncclResult_t result = ncclSuccess;
  for (const CommRef& comm : group.incomplete)
    if (const ncclResult_t error = complete(*comm); error != ncclSuccess) result = error;
  if (simulated) {
    const LibraryWork work = work_of(group.operations);
    *simulated = group.operations.empty() ? 0 : static_cast<float>(warpgrind_library_estimate(&work) / 1000);
    return result;
  }
  if (result != ncclSuccess || group.operations.empty()) return result;
  return issue_all(group.operations);
}

}  // namespace warpgrind::libraries::nccl
