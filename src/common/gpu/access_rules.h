// Cost of one warp-wide memory access, by the rules of a compute capability. Exact: it depends on addresses and masks
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/types.h"

namespace warpgrind {

// Division of global accesses into transactions. A GPU model's JSON file names its rule (`rules.coalescing`).
// A rule decides transactions only: sectors are the same for all rules. No code asks for the compute capability.
// access_rules.cpp has all rules, for one request. request_costs.cpp repeats `sectors_32` for many requests at once.
enum class CoalescingRule : std::uint8_t {
  half_warp_strict,  // cc 1.0/1.1: lane k must access word k of an aligned segment, else one 32-byte transaction a lane
  half_warp_segments,  // cc 1.2/1.3: distinct 32/64/128-byte segments of a half-warp, then each shrunk to the half that
                       // is used
  lines_128,           // cc 2.x: loads by 128-byte L1 lines (stores by 32-byte sectors)
  sectors_32,          // cc 3.x and later: 32-byte sectors of 128-byte lines
};

struct BankRule {
  std::uint8_t banks = 32;      // 16 on 1.x
  std::uint8_t bank_bytes = 4;  // 8 in the 8-byte mode of 3.x
  std::uint8_t lanes = 32;      // lanes served together for 4-byte accesses: 16 on 1.x
  // 4-byte mode of 3.x: a bank is 8 bytes wide, so words i and i + 32 of a 64-word segment are served together.
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
  std::uint64_t bytes_asked = 0;    // active lanes x bytes a lane
  std::uint64_t ideal_sectors = 0;  // sectors that the same lanes need when packed (never more than they touch)
  // Global: distinct sectors of the access. Equals `sectors` except for atomics: lanes on one address are served in
  // separate rounds, and `sectors` counts each round.
  std::uint64_t distinct_sectors = 0;
  std::uint64_t distinct_lines = 0;    // likewise for lines
  std::uint64_t wavefronts = 0;        // shared: passes through the banks; constant: distinct addresses
  std::uint64_t bank_conflicts = 0;    // shared: wavefronts beyond one per group of lanes
  std::uint64_t ideal_wavefronts = 0;  // passes that the same lanes need when packed (never more than they take)
  void add(const AccessCost& other, std::uint64_t times = 1);
  bool operator==(const AccessCost&) const = default;
};

enum class AccessType : std::uint8_t { load, store, atomic, reduction };

// Implementation of a shared-memory atomic in hardware; it decides the cost (measured on an H200:
// tests/data/h200/shared_atomics.csv).
enum class SharedAtomic : std::uint8_t {
  native,  // add, min, max, inc, dec, and, or, xor, exch: lanes on one word are served one after the other
  count,   // addition of the constant 1 whose result is unused: lanes on one word are served together
  swap,    // cas: two passes instead of each one
  // Loop around cas: floating-point, and 64-bit operations except exch and cas. The loop ends early if the operation
  // does not change the value. That depends on the data and is not modelled.
  loop
};

// Properties that decide the cost of an access, besides its addresses.
struct AccessForm {
  StateSpace space = StateSpace::global;  // global, constant, shared, local, texture
  AccessType type = AccessType::load;
  std::uint8_t bytes = 4;  // per lane
  SharedAtomic shared_atomic = SharedAtomic::native;
};

// offsets[i]: byte address of lane i relative to any 256-byte aligned origin (may be negative or large); only lanes in
// `mask` count. `bytes`: size of one lane's access (1, 2, 4, 8, 16; 32 counts as two of 16). Sources: CUDA C++
// Programming Guide, appendix "Compute Capabilities" (1.x: guide 3.2, section F.3.2), and the H200 measurements cited
// in access_rules.cpp.
// access_cost() selects the rule by form.space.
AccessCost access_cost(const AccessRules& rules, const AccessForm& form, const std::int64_t offsets[kWarpSize],
                       LaneMask mask);
AccessCost global_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                       unsigned bytes);
// ld.const: cost as for global memory. `wavefronts` counts distinct addresses, since the constant cache serves one at a
// time (programming guide, "Device Memory Accesses", constant memory).
AccessCost constant_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize],
                         LaneMask mask, unsigned bytes);
AccessCost shared_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                       unsigned bytes);
AccessCost shared_atomic_cost(const AccessRules& rules, SharedAtomic how, const std::int64_t offsets[kWarpSize],
                              LaneMask mask, unsigned bytes);
// `bytes` consecutive bytes from `offset` on, moved at once (bulk copies): all sectors, lines and bank rows in that
// range.
AccessCost stretch_cost(const AccessRules& rules, StateSpace space, AccessType type, std::int64_t offset,
                        std::uint64_t bytes);
// The transactions of one global access, in lane order. AccessCost counts the same ones in `transactions` and
// `bytes_moved`, but those of atomics once a round.
struct MemoryTransaction {
  std::int64_t offset = 0;  // relative to the lanes' origin
  std::uint32_t bytes = 0;
};
std::vector<MemoryTransaction> global_transactions(const AccessRules& rules, AccessType type,
                                                   const std::int64_t offsets[kWarpSize], LaneMask mask,
                                                   unsigned bytes);
// Local memory is interleaved by 4-byte words over the lanes, as on the hardware: 32 consecutive words hold the same
// word of all lanes. offsets: from the start of each thread's local memory.
AccessCost local_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                      unsigned bytes);

}  // namespace warpgrind
