// Counts of distinct sectors, words and banks of many requests at once: the inner loops of gpu/request_costs.h. Each
// request is one element of 32 vectors, one vector a lane. A sorting network of 191 comparisons sorts each request's
// lanes without a branch; then only neighbours are compared. A request takes 40 cycles; comparing its lanes pairwise
// (gpu/distinct.h) takes 1,000.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

// Requests whose costs are not yet computed, in program order.
inline constexpr unsigned kKeptRequests = 16;
inline constexpr std::uint32_t kLaneOff = ~0u;
struct KeptRequests {
  alignas(64) LaneMask masks[kKeptRequests];
  // Bytes from a common origin: below kOffsetLimit for active lanes, kLaneOff for inactive ones.
  alignas(64) std::uint32_t offsets[kKeptRequests][kWarpSize];
};
inline constexpr std::uint64_t kOffsetLimit = (std::uint64_t{1} << 32) - 512;

struct DistinctOfEach {
  std::uint32_t parts[kKeptRequests], wholes[kKeptRequests];
};
// Atomics: lanes on one address are served one after the other, each in its own round. sectors, lines: summed over all
// rounds. distinct: those of the first round.
struct RoundsOfEach {
  std::uint32_t sectors[kKeptRequests], lines[kKeptRequests];
  DistinctOfEach distinct;  // sectors, lines
};
inline constexpr std::uint64_t kFewLocalBytes = 256;
struct BankUnits {
  unsigned shift, bits;  // 1 << shift consecutive bytes belong to one of 1 << bits units
};

// Counting functions, with one instance for each kind of vectors. `skew`, below 256: distance of the offsets' origin
// from the multiple of 256 before it. Result entries of missing requests are undefined.
struct RequestCounting {
  // Distinct units of 1 << shift bytes (parts), and of units four times as large (wholes): sectors and lines.
  void (*units)(const KeptRequests&, std::uint32_t skew, unsigned shift, DistinctOfEach&);
  // Distinct words of local memory (wholes), and the sum over the groups of 8 lanes (parts). Each access begins at its
  // offset rounded down to a multiple of 1 << shift (shift >= 2).
  void (*local_words)(const KeptRequests&, std::uint32_t skew, unsigned shift, DistinctOfEach&);
  // The same, if all addresses including `skew` are below kFewLocalBytes.
  void (*few_local_words)(const KeptRequests&, std::uint32_t skew, unsigned shift, DistinctOfEach&);
  // The maximum over the units of shared memory, of distinct rows or of lanes. Offsets must be below 2^31 - 256.
  void (*bank_rows)(const KeptRequests&, std::uint32_t skew, BankUnits, std::uint32_t* most);
  void (*bank_lanes)(const KeptRequests&, std::uint32_t skew, BankUnits, std::uint32_t* most);
  // Atomics of 1 << shift bytes (shift >= 1).
  void (*rounds)(const KeptRequests&, std::uint32_t skew, unsigned shift, RoundsOfEach&);
};
const RequestCounting& request_counting_avx2();
const RequestCounting& request_counting_avx512();  // only if kHaveAvx512
const RequestCounting& request_counting();         // the best one for this machine

}  // namespace warpgrind
