// Cost rules of memory accesses. Sources:
//  - CUDA C Programming Guide 3.2, F.3.2 "Global Memory" and F.3.3 "Shared Memory" (1.x), F.4 (2.x); guide 8.0, G.4.3
//  (3.x): segments, half-warps, lines, broadcast, 8-byte banks.
//  - Hardware counters of an H200 (tests/data/h200/): formulas for sectors, tag accesses, atomic rounds, and the groups
//  of 8- and 16-byte shared accesses. They are fitted on every lane pattern measured there and exact for all of them.
#include "gpu/access_rules.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "gpu/distinct.h"
#include "gpu/sectors.h"

namespace warpgrind {
namespace {

struct Touched {
  unsigned sectors = 0, lines = 0;
};

// For addresses more than 2^32 sectors apart, which no program's own arrays are.
Touched touched_far_apart(const std::int64_t* addresses, unsigned n) {
  std::int64_t sectors[kWarpSize];
  for (unsigned i = 0; i < n; ++i) sectors[i] = addresses[i] >> kSectorShift;
  std::sort(sectors, sectors + n);
  Touched t{1, 1};
  for (unsigned i = 1; i < n; ++i) {
    t.sectors += sectors[i] != sectors[i - 1];
    t.lines += (sectors[i] >> 2) != (sectors[i - 1] >> 2);
  }
  return t;
}

// Distinct sectors and lines of n addresses; each access lies within one sector (it is naturally aligned).
Touched touched(const std::int64_t* addresses, unsigned n) {
  WG_DEBUG_ASSERT(n <= kWarpSize);
  if (n == 0) return {};
  std::int64_t low = addresses[0], high = addresses[0];
  for (unsigned i = 1; i < n; ++i) {
    low = addresses[i] < low ? addresses[i] : low;
    high = addresses[i] > high ? addresses[i] : high;
  }
  low = (low >> kLineShift) << (kLineShift - kSectorShift);  // the line's first sector
  if ((high >> kSectorShift) - low < 64) {                   // close together: one bit a sector
    std::uint64_t used = 0;
    for (unsigned i = 0; i < n; ++i) used |= 1ull << ((addresses[i] >> kSectorShift) - low);
    const std::uint64_t lines = (used | used >> 1 | used >> 2 | used >> 3) & 0x1111111111111111ull;
    return {static_cast<unsigned>(std::popcount(used)), static_cast<unsigned>(std::popcount(lines))};
  }
  if ((high >> kSectorShift) - low > std::int64_t{UINT32_MAX}) return touched_far_apart(addresses, n);
  const LaneMask all = n == kWarpSize ? kFullMask : (LaneMask{1} << n) - 1;
  const Distinct d = distinct(addresses, all, low << kSectorShift, kSectorShift, kLineShift - kSectorShift);
  return {d.parts, d.wholes};
}

// Packs the active lanes' offsets. Returns their number.
unsigned pack(const std::int64_t offsets[kWarpSize], LaneMask mask, std::int64_t* out) {
  unsigned n = 0;
  for (; mask != 0; mask &= mask - 1) out[n++] = offsets[std::countr_zero(mask)];
  return n;
}

bool strictly_monotonic(const std::int64_t* a, unsigned n) {
  bool up = true, down = true;
  for (unsigned i = 1; i < n; ++i) {
    up &= a[i] > a[i - 1];
    down &= a[i] < a[i - 1];
  }
  return up || down;
}

// round[i]: number of lanes before lane i with the same address, which is the atomic round that serves lane i.
unsigned rounds_of(const std::int64_t* a, unsigned n, unsigned* round) {
  WG_DEBUG_ASSERT(n > 0 && n <= kWarpSize);
  std::uint64_t used = 0;
  std::int64_t keys[64];
  unsigned seen[64], rounds = 1;
  for (unsigned i = 0; i < n; ++i) {
    std::uint64_t h = (static_cast<std::uint64_t>(a[i]) * 0x9e3779b97f4a7c15ull) >> 58;
    while (((used >> h) & 1) != 0 && keys[h] != a[i]) h = (h + 1) & 63;
    if (((used >> h) & 1) == 0) {
      used |= 1ull << h;
      keys[h] = a[i];
      seen[h] = 0;
    }
    round[i] = seen[h]++;
    if (seen[h] > rounds) rounds = seen[h];
  }
  return rounds;
}

// Global atomics: the n-th lane on one address goes into round n. Sectors and lines add up over the rounds. The first
// round contains every distinct address.
Touched atomic_rounds(const std::int64_t* a, unsigned n, const Touched& distinct) {
  if (strictly_monotonic(a, n)) return distinct;
  unsigned round[kWarpSize];
  const unsigned rounds = rounds_of(a, n, round);
  Touched sum = distinct;
  for (unsigned r = 1; r < rounds; ++r) {
    std::int64_t subset[kWarpSize];
    unsigned m = 0;
    for (unsigned i = 0; i < n; ++i)
      if (round[i] == r) subset[m++] = a[i];
    const Touched t = touched(subset, m);
    sum.sectors += t.sectors;
    sum.lines += t.lines;
  }
  return sum;
}

using TransactionList = std::vector<MemoryTransaction>;

struct Transactions {
  std::uint64_t count = 0, bytes = 0;
};

// Distinct sectors or lines of n addresses, in ascending order.
void list_units(const std::int64_t* addresses, unsigned n, std::uint32_t unit, TransactionList& list) {
  std::int64_t starts[kWarpSize];
  for (unsigned i = 0; i < n; ++i) starts[i] = addresses[i] & ~std::int64_t{unit - 1};
  std::sort(starts, starts + n);
  for (unsigned i = 0; i < n; ++i)
    if (i == 0 || starts[i] != starts[i - 1]) list.push_back({starts[i], unit});
}

// cc 1.0/1.1, one half-warp: lane k must access word k of an aligned segment of 16 words (64 or 128 bytes; 16-byte
// words: two 128-byte segments, one after the other). Else each lane makes a 32-byte transaction of its own.
Transactions half_warp_strict(const std::int64_t* offsets, LaneMask mask, unsigned bytes, TransactionList* list) {
  if (mask == 0) return {};
  const auto lanes_apart = [&] {
    for (LaneMask m = mask; list != nullptr && m != 0; m &= m - 1)
      list->push_back({offsets[std::countr_zero(m)] & ~std::int64_t{kSectorBytes - 1}, kSectorBytes});
    const auto lanes = static_cast<std::uint64_t>(std::popcount(mask));
    return Transactions{lanes, lanes * kSectorBytes};
  };
  if (bytes < 4 || bytes > 16) return lanes_apart();
  const int first = std::countr_zero(mask);
  const std::int64_t base = offsets[first] - static_cast<std::int64_t>(first) * bytes;
  const std::int64_t segment = bytes == 4 ? 64 : 128;
  if (base % segment != 0) return lanes_apart();
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (offsets[lane] != base + static_cast<std::int64_t>(lane) * bytes) return lanes_apart();
  }
  if (bytes < 16) {
    if (list != nullptr) list->push_back({base, static_cast<std::uint32_t>(segment)});
    return {1, static_cast<std::uint64_t>(segment)};
  }
  if (list != nullptr && (mask & 0x00ffu) != 0) list->push_back({base, 128});
  if (list != nullptr && (mask & 0xff00u) != 0) list->push_back({base + 128, 128});
  const std::uint64_t halves = std::uint64_t{(mask & 0x00ffu) != 0} + std::uint64_t{(mask & 0xff00u) != 0};
  return {halves, halves * 128};
}

// cc 1.2/1.3, one half-warp: the lowest lane left selects a segment (32 bytes for 1-byte words, 64 for 2-byte words,
// else 128), which serves all lanes in it. While only one half of the segment is used, it shrinks, to 64 and to 32
// bytes.
Transactions half_warp_segments(const std::int64_t* offsets, LaneMask mask, unsigned bytes, TransactionList* list) {
  Transactions sum;
  const std::int64_t largest = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
  while (mask != 0) {
    std::int64_t size = largest, start = 0;
    const std::int64_t segment = offsets[std::countr_zero(mask)] & ~(size - 1);
    LaneMask served = 0;
    std::int64_t low = size, high = 0;
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const std::int64_t at = offsets[lane] - segment;
      if (at < 0 || at >= size) continue;
      served |= 1u << lane;
      if (at < low) low = at;
      if (at + bytes > high) high = at + bytes;
    }
    while (size > 32 && (high <= size / 2 || low >= size / 2)) {
      size /= 2;
      if (low >= size) {
        low -= size;
        high -= size;
        start += size;
      }
    }
    if (list != nullptr) list->push_back({segment + start, static_cast<std::uint32_t>(size)});
    sum.count += 1;
    sum.bytes += static_cast<std::uint64_t>(size);
    mask &= ~served;
  }
  return sum;
}

// cc 2.x: a request of 8-byte words is split into half-warps, of 16-byte words into quarter-warps.
Transactions lines_of_groups(const std::int64_t* offsets, LaneMask mask, unsigned bytes, bool load,
                             TransactionList* list) {
  const unsigned group = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  Transactions sum;
  for (unsigned first = 0; first < kWarpSize; first += group) {
    const LaneMask lanes = mask & (group == 32 ? kFullMask : ((1u << group) - 1) << first);
    std::int64_t packed[kWarpSize];
    const unsigned n = pack(offsets, lanes, packed);
    const Touched t = touched(packed, n);
    if (list != nullptr) list_units(packed, n, load ? 128 : kSectorBytes, *list);
    sum.count += load ? t.lines : t.sectors;
    sum.bytes += load ? std::uint64_t{t.lines} * 128 : std::uint64_t{t.sectors} * kSectorBytes;
  }
  return sum;
}

Transactions transactions(CoalescingRule rule, AccessType type, const std::int64_t* offsets, LaneMask mask,
                          unsigned bytes, const Touched& t, TransactionList* list = nullptr) {
  switch (rule) {
    case CoalescingRule::half_warp_strict:
    case CoalescingRule::half_warp_segments: {
      Transactions sum;
      for (unsigned half = 0; half < 2; ++half) {
        const std::int64_t* o = offsets + half * 16;
        const LaneMask m = (mask >> (half * 16)) & 0xffffu;
        const Transactions one = rule == CoalescingRule::half_warp_strict ? half_warp_strict(o, m, bytes, list)
                                                                          : half_warp_segments(o, m, bytes, list);
        sum.count += one.count;
        sum.bytes += one.bytes;
      }
      return sum;
    }
    case CoalescingRule::lines_128:
      if (type == AccessType::load || type == AccessType::store)
        return lines_of_groups(offsets, mask, bytes, type == AccessType::load, list);
      break;
    case CoalescingRule::sectors_32:
      break;
  }
  if (list != nullptr) {
    std::int64_t packed[kWarpSize];
    const unsigned n = pack(offsets, mask, packed);
    list_units(packed, n, kSectorBytes, *list);
  }
  return {t.sectors, std::uint64_t{t.sectors} * kSectorBytes};
}

// Sectors that n lanes need when packed side by side.
std::uint64_t packed_sectors(std::uint64_t lanes, unsigned bytes) {
  return (lanes * bytes + kSectorBytes - 1) / kSectorBytes;
}

// ---- Shared memory

// Passes of one group: the largest number of distinct rows over the banks. A bank unit holds 1 << unit_shift
// consecutive bytes; there are 1 << unit_bits units.
unsigned passes(const std::int64_t* offsets, LaneMask mask, unsigned unit_shift, unsigned unit_bits,
                unsigned row_shift) {
  return most_rows(offsets, mask, unit_shift, unit_bits, row_shift);
}

// cc 1.x, one half-warp of reads of at most 32 bits: each step serves one broadcast word and one address of every other
// bank. The broadcast word is not specified; this model takes the word that most lanes wait for.
unsigned broadcast_steps(const std::int64_t* offsets, LaneMask mask, std::int64_t extra, unsigned banks) {
  unsigned steps = 0;
  while (mask != 0) {
    std::int64_t broadcast = 0;
    int waiting = 0;
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const std::int64_t word = (offsets[std::countr_zero(m)] + extra) >> 2;
      int same = 0;
      for (LaneMask k = mask; k != 0; k &= k - 1) same += ((offsets[std::countr_zero(k)] + extra) >> 2) == word;
      if (same > waiting) {
        waiting = same;
        broadcast = word;
      }
    }
    std::uint32_t busy = 1u << (static_cast<unsigned>(broadcast) & (banks - 1));
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const std::int64_t word = (offsets[lane] + extra) >> 2;
      const std::uint32_t bank = 1u << (static_cast<unsigned>(word) & (banks - 1));
      if (word != broadcast && (busy & bank) != 0) continue;
      busy |= bank;
      mask &= ~(1u << lane);
    }
    ++steps;
  }
  return steps;
}

// cc 1.x: split into half-warps; a wider access is several requests, one for each 32-bit word.
AccessCost shared_half_warps(const BankRule& rule, AccessType type, const std::int64_t* offsets, LaneMask mask,
                             unsigned bytes) {
  AccessCost cost;
  std::uint64_t groups = 0;
  const unsigned words = bytes <= 4 ? 1 : bytes / 4;
  const auto bank_bits = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(rule.banks)));
  for (unsigned half = 0; half < 2; ++half) {
    const LaneMask lanes = (mask >> (half * 16)) & 0xffffu;
    if (lanes == 0) continue;
    for (unsigned word = 0; word < words; ++word) {
      if (type == AccessType::load) {
        cost.wavefronts += broadcast_steps(offsets + half * 16, lanes, std::int64_t{word} * 4, rule.banks);
      } else {
        std::int64_t shifted[16];
        for (unsigned l = 0; l < 16; ++l) shifted[l] = offsets[half * 16 + l] + std::int64_t{word} * 4;
        cost.wavefronts += passes(shifted, lanes, 2, bank_bits, bank_bits);
      }
      ++groups;
    }
  }
  cost.bank_conflicts = cost.wavefronts - groups;
  return cost;
}

// All lanes l and l^distance have the same address; an inactive lane matches any.
bool pairs_match(const std::int64_t* offsets, LaneMask mask, unsigned distance) {
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((l & distance) != 0) continue;
    const bool both = ((mask >> l) & (mask >> (l ^ distance)) & 1) != 0;
    if (both && offsets[l] != offsets[l ^ distance]) return false;
  }
  return true;
}

AccessCost shared_groups(const BankRule& rule, AccessType type, const std::int64_t* offsets, LaneMask mask,
                         unsigned bytes) {
  const bool wide = rule.bank_bytes == 8 || rule.paired_words;  // cc 3.x: 8 bytes per bank and pass
  unsigned group = kWarpSize;
  if (bytes > (wide ? 8u : 4u)) {
    group = (wide ? 256u : 128u) / bytes;
    if (!wide && type == AccessType::load && (pairs_match(offsets, mask, 1) || pairs_match(offsets, mask, 2)))
      group *= 2;
  }
  // A naturally aligned access wider than a bank covers the same aligned group of banks in every row. So the banks can
  // be counted in units of the access size.
  const unsigned unit = bytes > rule.bank_bytes ? bytes : rule.bank_bytes;
  const auto unit_shift = static_cast<unsigned>(std::countr_zero(unit));
  const auto bank_bits = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(rule.banks)));
  const unsigned unit_bits =
      bank_bits - (unit_shift - static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(rule.bank_bytes))));
  const unsigned row_shift = unit_bits + (rule.paired_words ? 1 : 0);
  AccessCost cost;
  std::uint64_t groups = 0;
  for (unsigned first = 0; first < kWarpSize; first += group) {
    const LaneMask lanes = mask & (group == 32 ? kFullMask : ((1u << group) - 1) << first);
    if (lanes == 0) continue;
    cost.wavefronts += passes(offsets, lanes, unit_shift, unit_bits, row_shift);
    ++groups;
  }
  cost.bank_conflicts = cost.wavefronts - groups;
  return cost;
}

}  // namespace

void AccessCost::add(const AccessCost& o, std::uint64_t times) {
  sectors += o.sectors * times;
  lines += o.lines * times;
  transactions += o.transactions * times;
  bytes_moved += o.bytes_moved * times;
  bytes_asked += o.bytes_asked * times;
  ideal_sectors += o.ideal_sectors * times;
  distinct_sectors += o.distinct_sectors * times;
  distinct_lines += o.distinct_lines * times;
  wavefronts += o.wavefronts * times;
  bank_conflicts += o.bank_conflicts * times;
  ideal_wavefronts += o.ideal_wavefronts * times;
}

AccessCost global_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                       unsigned bytes) {
  AccessCost cost;
  if (mask == 0) return cost;
  std::int64_t packed[kWarpSize];
  const std::int64_t* addresses = offsets;
  unsigned n = kWarpSize;
  if (mask != kFullMask) {
    n = pack(offsets, mask, packed);
    addresses = packed;
  }
  const bool atomic = type == AccessType::atomic || type == AccessType::reduction;
  const Touched distinct = touched(addresses, n);
  const Touched t = atomic ? atomic_rounds(addresses, n, distinct) : distinct;
  const Transactions moved = transactions(rules.coalescing, type, offsets, mask, bytes, t);
  cost.sectors = t.sectors;
  cost.lines = t.lines;
  cost.transactions = moved.count;
  cost.bytes_moved = moved.bytes;
  cost.bytes_asked = std::uint64_t{n} * bytes;
  cost.distinct_sectors = distinct.sectors;
  cost.distinct_lines = distinct.lines;
  const std::uint64_t packed_need = packed_sectors(n, bytes);
  cost.ideal_sectors = packed_need < distinct.sectors ? packed_need : distinct.sectors;
  return cost;
}

std::vector<MemoryTransaction> global_transactions(const AccessRules& rules, AccessType type,
                                                   const std::int64_t offsets[kWarpSize], LaneMask mask,
                                                   unsigned bytes) {
  TransactionList list;
  transactions(rules.coalescing, type, offsets, mask, bytes, Touched{}, &list);
  return list;
}

AccessCost constant_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize],
                         LaneMask mask, unsigned bytes) {
  AccessCost cost = global_cost(rules, type, offsets, mask, bytes);
  LaneMask left = mask;
  while (left != 0) {
    const std::int64_t address = offsets[std::countr_zero(left)];
    for (LaneMask m = left; m != 0; m &= m - 1)
      if (offsets[std::countr_zero(m)] == address) left &= ~(m & (~m + 1));
    ++cost.wavefronts;
  }
  cost.ideal_wavefronts = mask != 0;
  return cost;
}

AccessCost access_cost(const AccessRules& rules, const AccessForm& form, const std::int64_t offsets[kWarpSize],
                       LaneMask mask) {
  const bool atomic = form.type == AccessType::atomic || form.type == AccessType::reduction;
  switch (form.space) {
    case StateSpace::shared:
      return atomic ? shared_atomic_cost(rules, form.shared_atomic, offsets, mask, form.bytes)
                    : shared_cost(rules, form.type, offsets, mask, form.bytes);
    case StateSpace::local:
      return local_cost(rules, form.type, offsets, mask, form.bytes);
    case StateSpace::constant:
      return constant_cost(rules, form.type, offsets, mask, form.bytes);
    default:
      return global_cost(rules, form.type, offsets, mask, form.bytes);
  }
}

AccessCost shared_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                       unsigned bytes) {
  if (mask == 0) return {};
  if (bytes == 32) {  // two accesses of 16
    std::int64_t upper[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) upper[l] = offsets[l] + 16;
    AccessCost cost = shared_cost(rules, type, offsets, mask, 16);
    cost.add(shared_cost(rules, type, upper, mask, 16));
    return cost;
  }
  AccessCost cost = rules.banks.lanes == 16 ? shared_half_warps(rules.banks, type, offsets, mask, bytes)
                                            : shared_groups(rules.banks, type, offsets, mask, bytes);
  cost.bytes_asked = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
  const bool wide = rules.banks.bank_bytes == 8 || rules.banks.paired_words;
  const std::uint64_t row_bytes = std::uint64_t{rules.banks.banks} * (wide ? 8 : 4);
  const std::uint64_t packed = (cost.bytes_asked + row_bytes - 1) / row_bytes;
  cost.ideal_wavefronts = packed < cost.wavefronts ? packed : cost.wavefronts;
  return cost;
}

namespace {

// Lanes that are served together, and their bank units. 4-byte words: 32 banks, all lanes at once. 8-byte words: 16
// pairs of banks, by half-warps. 16-byte words: 8 groups of four banks, by quarter-warps.
struct AtomicGroups {
  unsigned shift, lanes;
  unsigned units() const { return 128u >> shift; }
};
AtomicGroups atomic_groups(unsigned bytes) {
  if (bytes <= 4) return {2, 32};
  return bytes == 8 ? AtomicGroups{3, 16} : AtomicGroups{4, 8};
}

// The maximum over the bank units: of lanes, or of distinct words.
unsigned fullest(const std::int64_t* offsets, LaneMask mask, const AtomicGroups& g, bool distinct) {
  const auto bits = static_cast<unsigned>(std::countr_zero(g.units()));
  if (distinct) return passes(offsets, mask, g.shift, bits, bits);
  unsigned count[kWarpSize] = {}, most = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    unsigned& n = count[static_cast<unsigned>(offsets[std::countr_zero(m)] >> g.shift) & (g.units() - 1)];
    if (++n > most) most = n;
  }
  return most;
}

// Wavefronts of a loop around cas, as ptxas writes it. In each iteration, the lowest lane of every bank unit stores. A
// group with lanes left takes two wavefronts. If lanes of two groups want the same word, the earlier group's lane
// stores.
std::uint64_t loop_wavefronts(const std::int64_t* offsets, LaneMask mask, const AtomicGroups& g) {
  WG_DEBUG_ASSERT(std::has_single_bit(g.lanes));
  std::uint64_t wavefronts = 0;
  while (mask != 0) {
    std::int64_t stored[kWarpSize];
    unsigned stores = 0;
    LaneMask done = 0;
    for (unsigned first = 0; first < kWarpSize; first += g.lanes) {
      const LaneMask group = mask & (g.lanes == 32 ? kFullMask : ((1u << g.lanes) - 1) << first);
      if (group == 0) continue;
      wavefronts += 2;
      std::uint32_t busy = 0;
      const unsigned before = stores;
      for (LaneMask m = group; m != 0; m &= m - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(m));
        const std::int64_t word = offsets[lane] >> g.shift;
        const std::uint32_t unit = 1u << (static_cast<unsigned>(word) & (g.units() - 1));
        if ((busy & unit) != 0) continue;
        busy |= unit;
        if (std::find(stored, stored + before, word) != stored + before) continue;
        stored[stores++] = word;
        done |= 1u << lane;
      }
    }
    mask &= ~done;
  }
  return wavefronts;
}

}  // namespace

AccessCost shared_atomic_cost(const AccessRules& rules, SharedAtomic how, const std::int64_t offsets[kWarpSize],
                              LaneMask mask, unsigned bytes) {
  if (mask == 0) return {};
  AccessCost cost;
  WG_DEBUG_ASSERT(bytes <= 16);
  const AtomicGroups g = atomic_groups(bytes);
  std::uint64_t passes_taken = 0, groups = 0;
  for (unsigned first = 0; first < kWarpSize; first += g.lanes) {
    const LaneMask lanes = mask & (g.lanes == 32 ? kFullMask : ((1u << g.lanes) - 1) << first);
    if (lanes == 0) continue;
    passes_taken += fullest(offsets, lanes, g, how == SharedAtomic::count);
    ++groups;
  }
  cost.wavefronts = passes_taken * (how == SharedAtomic::swap ? 2 : 1);
  cost.bank_conflicts = passes_taken - groups;
  if (how == SharedAtomic::loop) {
    cost.wavefronts = loop_wavefronts(offsets, mask, g);
    cost.bank_conflicts = 0;  // each iteration is an instruction without a conflict
  }
  cost.bytes_asked = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
  const std::uint64_t row_bytes = std::uint64_t{rules.banks.banks} * 4;
  cost.ideal_wavefronts = std::min((cost.bytes_asked + row_bytes - 1) / row_bytes, cost.wavefronts);
  return cost;
}

AccessCost stretch_cost(const AccessRules& rules, StateSpace space, AccessType type, std::int64_t offset,
                        std::uint64_t bytes) {
  AccessCost cost;
  if (bytes == 0) return cost;
  const auto units = [&](unsigned shift) {
    const std::int64_t last = offset + static_cast<std::int64_t>(bytes) - 1;
    return static_cast<std::uint64_t>((last >> shift) - (offset >> shift)) + 1;
  };
  cost.bytes_asked = bytes;
  if (space == StateSpace::shared) {
    const auto row_shift = static_cast<unsigned>(std::countr_zero(std::uint32_t{rules.banks.banks} * 4));
    cost.wavefronts = units(row_shift);
    cost.ideal_wavefronts = (bytes + (std::uint64_t{1} << row_shift) - 1) >> row_shift;
    return cost;
  }
  cost.sectors = cost.distinct_sectors = units(kSectorShift);
  cost.lines = cost.distinct_lines = units(kLineShift);
  cost.ideal_sectors = (bytes + kSectorBytes - 1) / kSectorBytes;
  const bool by_lines = rules.coalescing == CoalescingRule::lines_128 && type == AccessType::load;
  cost.transactions = by_lines ? cost.lines : cost.sectors;
  cost.bytes_moved = by_lines ? cost.lines * 128 : cost.sectors * kSectorBytes;
  return cost;
}

AccessCost local_cost(const AccessRules& rules, AccessType type, const std::int64_t offsets[kWarpSize], LaneMask mask,
                      unsigned bytes) {
  AccessCost cost;
  if (mask == 0) return cost;
  const unsigned words = bytes <= 4 ? 1 : bytes / 4;
  // Each 32-bit word is a separate access: word w of all lanes is one 128-byte line, and 8 lanes share a sector of it.
  if (rules.coalescing == CoalescingRule::sectors_32) {
    const LocalWords touched_words = local_words(offsets, mask);  // the same for every word of the access
    const auto lanes = static_cast<unsigned>(std::popcount(mask));
    cost.sectors = cost.distinct_sectors = cost.transactions = std::uint64_t{words} * touched_words.in_groups;
    cost.lines = cost.distinct_lines = std::uint64_t{words} * touched_words.words;
    cost.bytes_moved = cost.sectors * kSectorBytes;
    cost.ideal_sectors = words * std::min<std::uint64_t>(packed_sectors(lanes, 4), touched_words.in_groups);
    cost.bytes_asked = std::uint64_t{lanes} * bytes;
    return cost;
  }
  for (unsigned word = 0; word < words; ++word) {
    std::int64_t interleaved[kWarpSize] = {};
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      interleaved[lane] = ((offsets[lane] >> 2) + word) * 128 + lane * 4;
    }
    cost.add(global_cost(rules, type, interleaved, mask, 4));
  }
  cost.bytes_asked = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
  return cost;
}

}  // namespace warpgrind
