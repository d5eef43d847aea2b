// What one warp-wide memory access costs, by the rules of a compute capability. Exact: addresses and masks alone
// decide.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/types.h"

namespace warpgrind {

// How global accesses are split into transactions.
enum class CoalescingRule : std::uint8_t {
  half_warp_strict,    // cc 1.0/1.1: lane k must take word k of an aligned segment, else one 32-byte transaction a lane
  half_warp_segments,  // cc 1.2/1.3: distinct 32/64/128-byte segments of a half-warp, then each shrunk to the half that
                       // is used
  lines_128,           // cc 2.x: loads by 128-byte L1 lines (stores by 32-byte sectors)
  sectors_32,          // cc 3.x and later: 32-byte sectors of 128-byte lines
};

struct BankRule {
  std::uint8_t banks = 32;      // 16 on 1.x
  std::uint8_t bank_bytes = 4;  // 8 in the 8-byte mode of 3.x
  std::uint8_t lanes = 32;      // lanes handled together for 4-byte accesses: 16 on 1.x
  // 4-byte mode of 3.x: a bank is 8 bytes wide, so words i and i + 32 of one 64-word segment go together.
  bool paired_words = false;
};

struct AccessRules {
  CoalescingRule coalescing = CoalescingRule::sectors_32;
  BankRule banks;
};

// Sums over accesses; every field is a count except the byte fields.
struct AccessCost {
  std::uint64_t sectors = 0;        // 32-byte sectors touched
  std::uint64_t lines = 0;          // 128-byte lines touched (L1 tag lookups)
  std::uint64_t transactions = 0;   // by the coalescing rule: 1.x segments, 2.x lines, else sectors
  std::uint64_t bytes_moved = 0;    // bytes of these transactions
  std::uint64_t bytes_asked = 0;    // lanes on x bytes a lane
  std::uint64_t ideal_sectors = 0;  // sectors that the same lanes need when packed (never more than they touch)
  // Global: distinct sectors of the access. The same as `sectors`, but for atomics, where lanes on one address go one
  // after the other and `sectors` counts each round.
  std::uint64_t distinct_sectors = 0;
  std::uint64_t distinct_lines = 0;    // likewise
  std::uint64_t wavefronts = 0;        // shared: passes through the banks; constant: different addresses
  std::uint64_t bank_conflicts = 0;    // shared: wavefronts beyond one a group of lanes
  std::uint64_t ideal_wavefronts = 0;  // passes that the same lanes need when packed (never more than they take)
  void add(const AccessCost& other, std::uint64_t times = 1);
  bool operator==(const AccessCost&) const = default;
};

enum class AccessType : std::uint8_t { load, store, atomic, reduction };

// How the hardware does an atomic on shared memory, which decides what it costs (measured on an H200:
// tests/data/h200/shared_atomics.csv).
enum class SharedAtomic : std::uint8_t {
  native,  // add, min, max, inc, dec, and, or, xor, exch: lanes on one word go one after the other
  count,   // adding the constant 1 where nobody reads the result: lanes on one word go together
  swap,    // cas: each pass twice
  loop  // a loop around cas: floating-point, and 64 bits but for exch and cas. Where the operation leaves the value as
        // it is the loop ends early: that depends on the data and is not modelled
};

// What decides the cost of an access besides its addresses.
struct AccessForm {
  StateSpace space = StateSpace::global;  // global, constant, shared, local, texture
  AccessType type = AccessType::load;
  std::uint8_t bytes = 4;  // a lane
  SharedAtomic shared_atomic = SharedAtomic::native;
};

// offsets[i]: byte address of lane i relative to any 256-byte aligned origin (may be negative or large); only lanes in
// `mask` count. `bytes`: what one lane accesses (1, 2, 4, 8, 16; 32 counts as two of 16). Sources: CUDA C++ Programming
// Guide, appendix "Compute Capabilities" (1.x: guide 3.2, section F.3.2), and the H200 measurements cited in
// access_rules.cpp.
// access_cost(): by the rule of the space.
AccessCost access_cost(const AccessRules& rules, const AccessForm& form, const std::int64_t offsets[kWarpSize],
                       LaneMask mask);
AccessCost global_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                       unsigned bytes);
// ld.const: as global memory, and `wavefronts` = different words: the constant cache serves one address at a time
// (programming guide, "Device Memory Accesses", constant memory).
AccessCost constant_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize],
                         LaneMask mask, unsigned bytes);
AccessCost shared_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                       unsigned bytes);
AccessCost shared_atomic_cost(const AccessRules& rules, SharedAtomic how, const std::int64_t offsets[kWarpSize],
                              LaneMask mask, unsigned bytes);
// `bytes` consecutive bytes from `offset` on, moved at once (bulk copies): whole sectors, lines and rows of banks.
AccessCost stretch_cost(const AccessRules& rules, StateSpace space, AccessType type, std::int64_t offset,
                        std::uint64_t bytes);
// The transactions of one global access, in the order of their lanes: what `transactions` and `bytes_moved` of its cost
// count (atomics: without rounds).
struct MemoryTransaction {
  std::int64_t offset = 0;  // from the same origin as the offsets of the lanes
  std::uint32_t bytes = 0;
};
std::vector<MemoryTransaction> global_transactions(const AccessRules& rules, AccessType type,
                                                   const std::int64_t offsets[kWarpSize], LaneMask mask,
                                                   unsigned bytes);
// Local memory is interleaved by 4-byte words over the lanes (32 consecutive words hold the same word of all lanes), as
// on the hardware: offsets are thread-relative.
AccessCost local_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                      unsigned bytes);

}  // namespace warpgrind
