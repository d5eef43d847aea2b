// Requests counted together against the plain rule for each, with each vector width of the machine.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "gpu/gpu_model.h"
#include "gpu/request_costs.h"

namespace warpgrind {
namespace {

using Random = std::mt19937_64;

// Offsets of lanes, before rounding to multiples of the access size.
struct Pattern {
  const char* name;
  std::function<std::uint64_t(Random&, std::uint64_t limit, unsigned lane, std::uint64_t once)> offset;
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {
      {"random", [](Random& r, std::uint64_t limit, unsigned, std::uint64_t) { return r() % limit; }},
      {"near",
       [](Random& r, std::uint64_t limit, unsigned, std::uint64_t once) { return (once + r() % 2048) % limit; }},
      {"few",
       [](Random& r, std::uint64_t limit, unsigned, std::uint64_t once) { return (once + r() % 5 * 36) % limit; }},
      {"one", [](Random&, std::uint64_t limit, unsigned, std::uint64_t once) { return once % limit; }},
      {"pairs",
       [](Random&, std::uint64_t limit, unsigned l, std::uint64_t once) { return (once + l / 2 * 8) % limit; }},
      {"dense", [](Random&, std::uint64_t limit, unsigned l, std::uint64_t once) { return (once + l * 4) % limit; }},
      {"strided", [](Random&, std::uint64_t limit, unsigned l,
                     std::uint64_t once) { return (once + l * (once >> 40) % 4096) % limit; }},
      {"one_bank", [](Random& r, std::uint64_t limit, unsigned, std::uint64_t) { return r() % 64 * 128 % limit; }},
      {"ends", [](Random& r, std::uint64_t limit, unsigned,
                  std::uint64_t) { return (r() % 2 ? limit - 1 - r() % 64 : r() % 300) % limit; }},
  };
  return all;
}

LaneMask some_mask(Random& random) {
  switch (random() % 5) {
    case 0:
      return kFullMask;
    case 1:
      return LaneMask{1} << random() % kWarpSize;
    case 2:
      return (LaneMask{2} << random() % 31) - 1;
    default:
      return std::max(LaneMask{1}, static_cast<LaneMask>(random()));
  }
}

KeptRequests make_requests(Random& random, unsigned count, std::uint64_t limit, std::uint32_t skew, unsigned bytes) {
  KeptRequests out;
  const LaneMask there = random() % 3 == 0 ? kFullMask >> kWarpSize / 2 : kFullMask;  // blocks of at most 16 threads
  for (unsigned r = 0; r < kKeptRequests; ++r) {
    const Pattern& pattern = patterns()[random() % patterns().size()];
    const std::uint64_t once = random();
    out.masks[r] = std::max(LaneMask{1}, some_mask(random) & there);
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const bool on = r < count && (out.masks[r] >> l & 1) != 0;
      const std::uint64_t at = (pattern.offset(random, limit, l, once) + skew) / bytes * bytes;
      out.offsets[r][l] =
          on ? static_cast<std::uint32_t>(at < skew ? (skew + bytes - 1) / bytes * bytes - skew : at - skew) : kLaneOff;
    }
  }
  return out;
}

AccessCost plain(const AccessRules& rules, const AccessForm& form, const KeptRequests& requests, unsigned count,
                 std::uint32_t skew, unsigned begins) {
  AccessCost sum;
  for (unsigned r = 0; r < count; ++r) {
    std::int64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l)
      offsets[l] = (std::int64_t{requests.offsets[r][l]} + skew) & -std::int64_t{begins};
    sum.add(access_cost(rules, form, offsets, requests.masks[r]));
  }
  return sum;
}

std::string text(const AccessCost& c) {
  std::string out;
  for (const std::uint64_t n :
       {c.sectors, c.lines, c.transactions, c.bytes_moved, c.bytes_asked, c.ideal_sectors, c.distinct_sectors,
        c.distinct_lines, c.wavefronts, c.bank_conflicts, c.ideal_wavefronts})
    out += std::to_string(n) + " ";
  return out;
}

void compare(const char* gpu, StateSpace space, AccessType type, SharedAtomic how, const RequestCounting& counting) {
  const AccessRules& rules = (*find_gpu_model(gpu))->rules;
  Random random(7);
  const std::uint64_t limits[] = {space == StateSpace::local ? kFewLocalBytes : 4096, 227 << 10, std::uint64_t{1} << 26,
                                  kOffsetLimit};
  const bool atomic = type == AccessType::atomic || type == AccessType::reduction;
  for (unsigned turn = 0; turn < 400; ++turn) {
    const unsigned bytes = atomic ? 2u << random() % 4 : 1u << random() % 6;
    const AccessForm form{space, type, static_cast<std::uint8_t>(bytes), how};
    const std::uint64_t limit =
        limits[random() % (space == StateSpace::global || space == StateSpace::constant ? 4 : 2)];
    const auto count = static_cast<unsigned>(1 + random() % kKeptRequests);
    const std::uint32_t skew = random() % 2 ? 0 : static_cast<std::uint32_t>(random() % 256 / bytes * bytes);
    const unsigned begins = random() % 4 ? 1 : bytes;  // parts of a merged access are narrower than the whole
    const KeptRequests requests =
        make_requests(random, count, limit, skew, begins == 1 ? bytes : std::max(1u, bytes / 2));
    ASSERT_EQ(text(requests_cost(rules, form, requests, count, limit, skew, begins, counting)),
              text(plain(rules, form, requests, count, skew, begins)))
        << gpu << ", " << bytes << " bytes, " << count << " requests, skew " << skew << ", begins " << begins
        << ", below " << limit;
  }
}

void compare_all(const RequestCounting& counting) {
  for (const char* gpu : {"h200", "v100", "k40c", "m2090", "gtx280", "8800gtx"}) {
    for (const AccessType type : {AccessType::load, AccessType::store, AccessType::atomic, AccessType::reduction}) {
      compare(gpu, StateSpace::global, type, SharedAtomic::native, counting);
      if (type == AccessType::load || type == AccessType::store) {
        compare(gpu, StateSpace::constant, type, SharedAtomic::native, counting);
        compare(gpu, StateSpace::local, type, SharedAtomic::native, counting);
        compare(gpu, StateSpace::shared, type, SharedAtomic::native, counting);
        continue;
      }
      for (const SharedAtomic how : {SharedAtomic::native, SharedAtomic::count, SharedAtomic::swap, SharedAtomic::loop})
        compare(gpu, StateSpace::shared, type, how, counting);
    }
  }
}

TEST(RequestCosts, AreThePlainRulesWithAvx2) {
  compare_all(request_counting_avx2());
}

TEST(RequestCosts, AreThePlainRulesWithAvx512) {
  if (!kHaveAvx512) GTEST_SKIP() << "this CPU has no AVX-512";
  compare_all(request_counting_avx512());
}

}  // namespace
}  // namespace warpgrind
