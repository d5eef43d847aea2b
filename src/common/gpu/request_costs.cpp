// Cost rules of access_rules.cpp for many requests at once, for the common cases. Rare cases go through access_cost()
// one by one.
#include "gpu/request_costs.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "gpu/sectors.h"

namespace warpgrind {

namespace {

struct Requests {
  const AccessRules& rules;
  const AccessForm& form;
  const KeptRequests& kept;
  unsigned count;
  std::uint64_t limit;
  std::uint32_t skew;
  unsigned begins;
  const RequestCounting& counting;

  std::uint64_t bytes_asked(unsigned r) const {
    return static_cast<std::uint64_t>(std::popcount(kept.masks[r])) * form.bytes;
  }
  bool atomic() const { return form.type == AccessType::atomic || form.type == AccessType::reduction; }
};

std::uint64_t units_of(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit;
}

AccessCost one_by_one(const Requests& q) {
  AccessCost sum;
  for (unsigned r = 0; r < q.count; ++r) {
    std::int64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l)
      offsets[l] = (std::int64_t{q.kept.offsets[r][l]} + q.skew) & -std::int64_t{q.begins};
    sum.add(access_cost(q.rules, q.form, offsets, q.kept.masks[r]));
  }
  return sum;
}

AccessCost global_requests(const Requests& q) {
  RoundsOfEach rounds;
  DistinctOfEach& distinct = rounds.distinct;
  if (q.atomic())
    q.counting.rounds(q.kept, q.skew, static_cast<unsigned>(std::countr_zero(q.form.bytes)), rounds);
  else
    q.counting.units(q.kept, q.skew, kSectorShift, distinct);
  const std::uint32_t* sectors = q.atomic() ? rounds.sectors : distinct.parts;
  const std::uint32_t* lines = q.atomic() ? rounds.lines : distinct.wholes;
  AccessCost sum;
  for (unsigned r = 0; r < q.count; ++r) {
    const std::uint64_t asked = q.bytes_asked(r);
    sum.sectors += sectors[r];
    sum.lines += lines[r];
    sum.bytes_asked += asked;
    sum.distinct_sectors += distinct.parts[r];
    sum.distinct_lines += distinct.wholes[r];
    sum.ideal_sectors += std::min<std::uint64_t>(units_of(asked, kSectorBytes), distinct.parts[r]);
  }
  sum.transactions = sum.sectors;
  sum.bytes_moved = sum.sectors * kSectorBytes;
  return sum;
}

// constant_cost(): as global memory, plus one wavefront per distinct address.
AccessCost constant_requests(const Requests& q) {
  AccessCost sum = global_requests(q);
  DistinctOfEach addresses;
  const unsigned size = std::max<unsigned>(q.begins, q.form.bytes);
  q.counting.units(q.kept, q.skew, static_cast<unsigned>(std::countr_zero(size)), addresses);
  for (unsigned r = 0; r < q.count; ++r) sum.wavefronts += addresses.parts[r];
  sum.ideal_wavefronts = q.count;
  return sum;
}

// local_cost()
AccessCost local_requests(const Requests& q) {
  constexpr unsigned kWord = 4;
  const unsigned words = q.form.bytes <= kWord ? 1 : q.form.bytes / kWord;
  DistinctOfEach distinct;
  const bool few = q.limit + q.skew <= kFewLocalBytes;
  (few ? q.counting.few_local_words : q.counting.local_words)(
      q.kept, q.skew, static_cast<unsigned>(std::countr_zero(std::max(q.begins, kWord))), distinct);
  AccessCost sum;
  for (unsigned r = 0; r < q.count; ++r) {
    const auto lanes = static_cast<std::uint64_t>(std::popcount(q.kept.masks[r]));
    sum.sectors += distinct.parts[r];
    sum.lines += distinct.wholes[r];
    sum.bytes_asked += lanes * q.form.bytes;
    sum.ideal_sectors += std::min<std::uint64_t>(units_of(lanes * kWord, kSectorBytes), distinct.parts[r]);
  }
  sum.sectors *= words;
  sum.lines *= words;
  sum.ideal_sectors *= words;
  sum.distinct_sectors = sum.transactions = sum.sectors;
  sum.distinct_lines = sum.lines;
  sum.bytes_moved = sum.sectors * kSectorBytes;
  return sum;
}

// 4-byte words, all lanes together: shared_groups() and shared_atomic_cost() for up to 4 bytes.
AccessCost shared_words(const Requests& q) {
  const auto banks = static_cast<unsigned>(q.rules.banks.banks);
  const BankUnits units{2, static_cast<unsigned>(std::countr_zero(banks))};
  const bool by_lanes = q.atomic() && q.form.shared_atomic != SharedAtomic::count;
  std::uint32_t most[kKeptRequests];
  (by_lanes ? q.counting.bank_lanes : q.counting.bank_rows)(q.kept, q.skew, units, most);
  // cas takes two passes. Each iteration of a loop around cas serves one lane of each bank, by a load and a store.
  const SharedAtomic how = q.form.shared_atomic;
  const bool loop = q.atomic() && how == SharedAtomic::loop;
  const unsigned times = loop || (q.atomic() && how == SharedAtomic::swap) ? 2 : 1;
  AccessCost sum;
  for (unsigned r = 0; r < q.count; ++r) {
    const std::uint64_t asked = q.bytes_asked(r), wavefronts = std::uint64_t{most[r]} * times;
    sum.wavefronts += wavefronts;
    sum.bank_conflicts += loop ? 0 : most[r] - 1;
    sum.bytes_asked += asked;
    sum.ideal_wavefronts += std::min(units_of(asked, std::uint64_t{banks} * 4), wavefronts);
  }
  return sum;
}

}  // namespace

AccessCost requests_cost(const AccessRules& rules, const AccessForm& form, const KeptRequests& requests, unsigned count,
                         std::uint64_t limit, std::uint32_t skew, unsigned begins, const RequestCounting& counting) {
  WG_DEBUG_ASSERT(count <= kKeptRequests && std::has_single_bit(begins) &&
                  std::has_single_bit(std::uint32_t{form.bytes}));
  const Requests q{rules, form, requests, count, limit, skew, begins, counting};
  const bool sectors = rules.coalescing == CoalescingRule::sectors_32;
  const BankRule& banks = rules.banks;
  const bool by_words = banks.banks == 32 && banks.bank_bytes == 4 && !banks.paired_words && banks.lanes == kWarpSize;
  switch (form.space) {
    case StateSpace::global:
      // A lane's merged access must lie within one sector, even if it begins before the lane's offset.
      if (sectors && form.bytes <= kSectorBytes && begins <= kSectorBytes && !(q.atomic() && form.bytes == 1))
        return global_requests(q);
      break;
    case StateSpace::constant:
      if (sectors && form.bytes <= kSectorBytes && begins <= kSectorBytes && !q.atomic()) return constant_requests(q);
      break;
    case StateSpace::local:
      if (sectors) return local_requests(q);
      break;
    case StateSpace::shared:
      if (by_words && form.bytes <= 4 && begins <= 4) return shared_words(q);
      break;
    default:
      break;
  }
  return one_by_one(q);
}

}  // namespace warpgrind
