// Sizes, texts and data movement of NCCL's operations.
#include "libraries/nccl/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace warpgrind::libraries::nccl {

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

const char* name_of(ncclDataType_t type) {
  static constexpr const char* kNames[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                           "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
  return type >= 0 && type < ncclNumTypes ? kNames[type] : "an unknown type";
}

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {"ncclAllReduce",     "ncclReduce",   "ncclBroadcast", "ncclAllGather",
                                           "ncclReduceScatter", "ncclAlltoAll", "ncclGather",    "ncclScatter",
                                           "ncclSend",          "ncclCommSplit"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool reduces(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce || kind == Kind::reduce_scatter;
}

namespace {

bool has_root(Kind kind) {
  return kind == Kind::reduce || kind == Kind::broadcast || kind == Kind::gather || kind == Kind::scatter;
}

}  // namespace

std::uint64_t send_bytes(const Call& call, int participants, int participant) {
  const std::uint64_t one = call.count * bytes_of(call.type), all = one * static_cast<std::uint64_t>(participants);
  switch (call.kind) {
    case Kind::reduce_scatter:
    case Kind::all_to_all:
      return all;
    case Kind::broadcast:
      return participant == call.root ? one : 0;
    case Kind::scatter:
      return participant == call.root ? all : 0;
    case Kind::transfer:
      return participant == 0 ? one : 0;
    default:
      return one;
  }
}

std::uint64_t recv_bytes(const Call& call, int participants, int participant) {
  const std::uint64_t one = call.count * bytes_of(call.type), all = one * static_cast<std::uint64_t>(participants);
  switch (call.kind) {
    case Kind::all_gather:
    case Kind::all_to_all:
    case Kind::exchange:
      return all;
    case Kind::reduce:
      return participant == call.root ? one : 0;
    case Kind::gather:
      return participant == call.root ? all : 0;
    case Kind::transfer:
      return participant == 1 ? one : 0;
    default:
      return one;
  }
}

std::string describe(const Call& call) {
  static constexpr const char* kOps[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};
  std::string out = fmt::format("{} of {} x {}", name_of(call.kind), call.count, name_of(call.type));
  if (reduces(call.kind))
    out += fmt::format(", {}", call.op == kMultiplied ? "an operation of its own" : kOps[call.op]);
  if (has_root(call.kind)) out += fmt::format(", root {}", call.root);
  return out;
}

std::string difference(const Call& a, int rank_a, const Call& b, int rank_b) {
  const bool same = a.kind == b.kind && a.type == b.type && a.count == b.count && (!reduces(a.kind) || a.op == b.op) &&
                    (!has_root(a.kind) || a.root == b.root);
  if (same) return "";
  if (a.kind == Kind::transfer && b.kind == Kind::transfer)
    return fmt::format("the send has {} x {} and its receive {} x {}", (rank_a == 0 ? a : b).count,
                       name_of((rank_a == 0 ? a : b).type), (rank_a == 0 ? b : a).count,
                       name_of((rank_a == 0 ? b : a).type));
  return fmt::format("rank {} calls {}, and rank {} calls {}", rank_a, describe(a), rank_b, describe(b));
}

namespace {

char* at(void* base, std::uint64_t bytes) {
  return static_cast<char*>(base) + bytes;
}
const char* at(const void* base, std::uint64_t bytes) {
  return static_cast<const char*>(base) + bytes;
}
void move(void* to, const void* from, std::uint64_t bytes) {
  if (bytes && to != from) std::memmove(to, from, bytes);
}

// Reduces `count` elements that begin at `offset` bytes of each send buffer, into each of `outs`. It goes in pieces,
// because the outs may be the send buffers.
void reduce_into(const Call& call, const std::vector<Part>& parts, std::uint64_t offset,
                 const std::vector<char*>& outs) {
  constexpr std::uint64_t kPiece = 4096;
  const std::uint64_t each = bytes_of(call.type);
  std::vector<char> piece(kPiece * each);
  std::vector<const char*> sends(parts.size());
  for (std::uint64_t i = 0; i < call.count; i += kPiece) {
    const std::uint64_t n = std::min(kPiece, call.count - i);
    for (std::size_t r = 0; r < parts.size(); ++r) sends[r] = at(parts[r].send, offset + i * each);
    reduce_elements(call, parts, sends, n, piece.data());
    for (char* out : outs) std::memcpy(out + i * each, piece.data(), n * each);
  }
}

void exchange_all(const std::vector<Part>& parts, std::uint64_t one) {
  const std::uint64_t all = one * parts.size();
  std::vector<char> sent(all * parts.size());  // a rank may receive where it sends
  for (std::size_t r = 0; r < parts.size(); ++r) move(sent.data() + r * all, parts[r].send, all);
  for (std::size_t to = 0; to < parts.size(); ++to)
    for (std::size_t from = 0; from < parts.size(); ++from)
      move(at(parts[to].recv, from * one), sent.data() + from * all + to * one, one);
}

}  // namespace

void compute(const Call& call, const std::vector<Part>& parts) {
  const std::uint64_t one = call.count * bytes_of(call.type);
  if (one == 0) return;
  const auto root = static_cast<std::size_t>(call.root);
  std::vector<char*> outs;
  switch (call.kind) {
    case Kind::all_reduce:
      for (const Part& p : parts) outs.push_back(at(p.recv, 0));
      return reduce_into(call, parts, 0, outs);
    case Kind::reduce:
      return reduce_into(call, parts, 0, {at(parts[root].recv, 0)});
    case Kind::reduce_scatter:
      for (std::size_t r = 0; r < parts.size(); ++r) reduce_into(call, parts, r * one, {at(parts[r].recv, 0)});
      return;
    case Kind::broadcast:
      for (const Part& p : parts) move(p.recv, parts[root].send, one);
      return;
    case Kind::all_gather:
    case Kind::exchange:
      for (const Part& to : parts)
        for (std::size_t r = 0; r < parts.size(); ++r) move(at(to.recv, r * one), parts[r].send, one);
      return;
    case Kind::all_to_all:
      return exchange_all(parts, one);
    case Kind::gather:
      for (std::size_t r = 0; r < parts.size(); ++r) move(at(parts[root].recv, r * one), parts[r].send, one);
      return;
    case Kind::scatter:
      for (std::size_t r = 0; r < parts.size(); ++r) move(parts[r].recv, at(parts[root].send, r * one), one);
      return;
    case Kind::transfer:
      return move(parts[1].recv, parts[0].send, one);
  }
}

}  // namespace warpgrind::libraries::nccl
