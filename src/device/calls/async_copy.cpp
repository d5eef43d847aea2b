// Asynchronous copies (done at once) and mbarriers. An mbarrier is one 64-bit word in shared memory that only these
// functions read, so its layout is ours: pending arrivals (16 bits), expected arrivals (16), phase (1), transaction
// bytes still to come (31, signed).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/calls/memory_access.h"
#include "device/calls/symbols.h"
#include "device/fault.h"

namespace warpgrind::device {

namespace {

struct MBarrier {
  std::uint16_t pending, expected;
  std::uint32_t phase : 1;
  std::int32_t transactions : 31;
};
static_assert(sizeof(MBarrier) == 8);

void settle(MBarrier& b) {
  if (b.pending != 0 || b.transactions != 0) return;
  b.phase = b.phase + 1u;
  b.pending = b.expected;
}

enum : std::uint32_t {
  kInit,
  kInvalidate,
  kArrive,
  kArriveDrop,
  kExpect,
  kComplete,
  kTest,
  kTestParity,
  kPending,
  kCopyArrive,
  kCopyArriveNoinc,
  kTry,
  kTryParity
};

std::uint64_t apply(MBarrier& b, std::uint32_t op, std::uint64_t number, std::uint64_t expect) {
  const std::uint64_t state = b.phase | std::uint64_t{b.pending} << 1;
  switch (op) {
    case kInit:
      b = {static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(number), 0, 0};
      break;
    case kInvalidate:
      b = {};
      break;
    case kExpect:
      b.transactions = b.transactions + static_cast<std::int32_t>(expect);
      break;
    case kComplete:
      b.transactions = b.transactions - static_cast<std::int32_t>(expect);
      settle(b);
      break;
    case kArrive:
    case kArriveDrop:
      b.transactions = b.transactions + static_cast<std::int32_t>(expect);
      b.pending = static_cast<std::uint16_t>(b.pending - number);
      if (op == kArriveDrop) b.expected = static_cast<std::uint16_t>(b.expected - number);
      settle(b);
      break;
    case kTest:
    case kTry:
    case kTestParity:
    case kTryParity:
      return b.phase != (number & 1);
    case kCopyArriveNoinc:
      --b.pending;
      settle(b);
      break;
    case kCopyArrive:
      break;  // one more is expected and arrives at once
    default:
      break;
  }
  return state;
}

std::uint8_t* shared_bytes(jit::WarpContext& w, std::uint32_t site, unsigned lane, std::uint64_t address,
                           std::uint64_t bytes) {
  const std::uint64_t offset = shared_offset(w, address);
  if (in_cluster(w, offset, bytes)) return w.shared + offset;
  if (offset > w.shared_size || bytes > w.shared_size - offset)
    raise(w, site, lane, FaultKind::shared_out_of_bounds, "an asynchronous operation outside the block's shared memory",
          "check the offset against the size of shared memory", address, static_cast<std::uint32_t>(bytes));
  return w.shared + offset;
}

MBarrier& mbarrier_at(jit::WarpContext& w, std::uint32_t site, unsigned lane, std::uint64_t address) {
  if (address & (sizeof(MBarrier) - 1))
    raise(w, site, lane, FaultKind::misaligned_address, "an mbarrier whose address is not a multiple of 8",
          "declare it as a 64-bit variable in shared memory", address, sizeof(MBarrier));
  return *reinterpret_cast<MBarrier*>(shared_bytes(w, site, lane, address, sizeof(MBarrier)));
}

void check_alignment(jit::WarpContext& w, std::uint32_t site, unsigned lane, std::uint64_t to, std::uint64_t from,
                     std::uint32_t alignment) {
  if (((to | from) & (alignment - 1)) == 0) return;
  raise(
      w, site, lane, FaultKind::misaligned_address,
      fmt::format("asynchronous copy from {:#x} to {:#x}: both addresses must be multiples of {}", from, to, alignment),
      "align source and destination to the size of the copy (16 bytes for bulk copies)",
      (from & (alignment - 1)) != 0 ? from : to, alignment);
}

std::uint8_t* global_bytes(jit::WarpContext& w, std::uint32_t site, unsigned lane, std::uint64_t address,
                           std::uint64_t bytes, bool write) {
  std::uint8_t* p = bytes ? checked_pointer(w, address, bytes, write) : nullptr;
  if (!p && bytes)
    raise(w, site, lane, FaultKind::illegal_address,
          describe_address(write ? "asynchronous write" : "asynchronous read", address, bytes),
          "check the address and the size of the copy", address, static_cast<std::uint32_t>(bytes));
  return p;
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// bytes[l] come from memory, the rest of the site's size is zero.
static void wg_cp_async(void* context, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* from,
                        const std::uint32_t* bytes, std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  const SiteFacts& facts = launch_of(w).kernel->sites[site];
  LaneMask reading = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1)
    if (bytes[std::countr_zero(m)] != 0) reading |= m & (~m + 1);
  if (reading) count_access(w, site, StateSpace::global, from, reading, facts.bytes, AccessType::load);
  std::uint64_t offsets[kWarpSize] = {};
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    offsets[l] = shared_offset(w, to[l]);
  }
  if (mask) count_access(w, site, StateSpace::shared, offsets, mask, facts.bytes, AccessType::store);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    check_alignment(w, site, l, to[l], bytes[l] ? from[l] : 0, facts.bytes);
    const std::uint32_t take = std::min<std::uint32_t>(bytes[l], facts.bytes);
    std::uint8_t* target = shared_bytes(w, site, l, to[l], facts.bytes);
    if (take) std::memcpy(target, global_bytes(w, site, l, from[l], take, false), take);
    std::memset(target + take, 0, facts.bytes - take);
  }
}

// spaces: bit 0: to shared memory (with an mbarrier), bit 1: from shared memory
static void wg_bulk_copy(void* context, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* from,
                         const std::uint32_t* bytes, const std::uint64_t* barrier, std::uint32_t spaces,
                         std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    check_alignment(w, site, l, to[l] | bytes[l], from[l], 16);
    std::uint8_t* target =
        spaces & 1 ? shared_bytes(w, site, l, to[l], bytes[l]) : global_bytes(w, site, l, to[l], bytes[l], true);
    const std::uint8_t* source =
        spaces & 2 ? shared_bytes(w, site, l, from[l], bytes[l]) : global_bytes(w, site, l, from[l], bytes[l], false);
    if (bytes[l]) std::memmove(target, source, bytes[l]);
    if (barrier) apply(mbarrier_at(w, site, l, barrier[l]), kComplete, 0, bytes[l]);
  }
}

static void wg_mbarrier(void* context, std::uint32_t site, std::uint32_t op, const std::uint64_t* barrier,
                        const std::uint64_t* number, const std::uint64_t* expect, std::uint32_t mask,
                        std::uint64_t* out) {
  jit::WarpContext& w = warp(context);
  bool waits = false;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    out[l] = apply(mbarrier_at(w, site, l, barrier[l]), op, number[l], expect[l]);
    waits |= out[l] == 0;
  }
  if (waits && (op == kTry || op == kTryParity)) wg_yield(context, mask);
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> async_copy_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_cp_async", reinterpret_cast<void*>(&wg_cp_async)},
                                            {"wg_bulk_copy", reinterpret_cast<void*>(&wg_bulk_copy)},
                                            {"wg_mbarrier", reinterpret_cast<void*>(&wg_mbarrier)}};
  return symbols;
}

}  // namespace warpgrind::device
