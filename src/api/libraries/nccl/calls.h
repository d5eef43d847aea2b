// Description of one NCCL operation, as its ranks have to agree on it, and its execution on the host.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpgrind::libraries::nccl {

enum class Kind : std::uint8_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  transfer,  // a send and its receive: participant 0 sends, participant 1 receives
  exchange   // bytes of the host: each participant gets those of all
};

// Plain data: it travels between processes.
struct Call {
  Kind kind = Kind::all_reduce;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;  // kMultiplied for all operations that the program created
  std::uint64_t count = 0;   // elements, as the program passes them
  std::int32_t root = 0;
};
inline constexpr ncclRedOp_t kMultiplied = ncclNumOps;

// Operands of one rank. For kMultiplied, `scalar` has the bits of the factor, in the type of the call.
struct Part {
  const void* send = nullptr;
  void* recv = nullptr;
  std::uint64_t scalar = 0;
  bool failed = false;  // the rank cannot take part
};

std::size_t bytes_of(ncclDataType_t type);  // 0: no such type
// Bytes of the buffers of a participant; 0: it has none.
std::uint64_t send_bytes(const Call& call, int participants, int participant);
std::uint64_t recv_bytes(const Call& call, int participants, int participant);
bool reduces(Kind kind);

// "ncclAllReduce of 1024 x float32, ncclSum"
std::string describe(const Call& call);
const char* name_of(Kind kind);
const char* name_of(ncclDataType_t type);
// Empty if the calls fit together, else how they differ.
std::string difference(const Call& a, int rank_a, const Call& b, int rank_b);

// Carries out the operation. Buffers are host addresses, and may be the same where NCCL allows calls in place.
void compute(const Call& call, const std::vector<Part>& parts);

// out[i] = the values of all parts at i, reduced in the order of the ranks and rounded to the type after each step
// (reduction.cpp). sends: begin of the `count` elements of each rank. out may be one of them.
void reduce_elements(const Call& call, const std::vector<Part>& parts, const std::vector<const char*>& sends,
                     std::uint64_t count, char* out);

}  // namespace warpgrind::libraries::nccl
