// What is different among the lanes of a request, for many requests at once: the inner loops of gpu/request_costs.h.
// Each request is a column of vectors (one element of a vector for each request), which a sorting network of 191
// comparisons puts in order without a branch; neighbours say the rest. A request takes 40 cycles so, where comparing
// its lanes with each other (gpu/distinct.h) takes 1,000.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

// Requests whose costs are not known yet, in the order in which they were made.
inline constexpr unsigned kKeptRequests = 16;
inline constexpr std::uint32_t kLaneOff = ~0u;
struct KeptRequests {
  alignas(64) LaneMask masks[kKeptRequests];
  // Bytes from a common origin, kLaneOff for lanes off. Those on are below kOffsetLimit.
  alignas(64) std::uint32_t offsets[kKeptRequests][kWarpSize];
};
inline constexpr std::uint64_t kOffsetLimit = (std::uint64_t{1} << 32) - 512;

struct DistinctOfEach {
  std::uint32_t parts[kKeptRequests], wholes[kKeptRequests];
};
// Where lanes on one address go one after the other, each in a round of its own: over all rounds, and of the first.
struct RoundsOfEach {
  std::uint32_t sectors[kKeptRequests], lines[kKeptRequests];
  DistinctOfEach distinct;  // sectors, lines
};
inline constexpr std::uint64_t kFewLocalBytes = 256;
struct BankUnits {
  unsigned shift, bits;  // 1 << shift bytes go to one of 1 << bits units
};

// One for each kind of vectors. `skew`, below 256: from the last multiple of 256 to the origin of the offsets. Entries
// of requests that are not there mean nothing.
struct RequestCounting {
  // Units of 1 << shift bytes (parts), and of four times as many (wholes): sectors and lines.
  void (*units)(const KeptRequests&, std::uint32_t skew, unsigned shift, DistinctOfEach&);
  // Words of local memory (wholes) and those of each group of 8 lanes, added up (parts), of what begins at the last
  // multiple of 1 << shift (at least 2).
  void (*local_words)(const KeptRequests&, std::uint32_t skew, unsigned shift, DistinctOfEach&);
  // The same where all of them lie below kFewLocalBytes, skew and all.
  void (*few_local_words)(const KeptRequests&, std::uint32_t skew, unsigned shift, DistinctOfEach&);
  // The fullest unit of shared memory: by different rows, or by lanes. Offsets are below 2^31 - 256.
  void (*bank_rows)(const KeptRequests&, std::uint32_t skew, BankUnits, std::uint32_t* most);
  void (*bank_lanes)(const KeptRequests&, std::uint32_t skew, BankUnits, std::uint32_t* most);
  // Atomics of 1 << shift bytes (at least 1).
  void (*rounds)(const KeptRequests&, std::uint32_t skew, unsigned shift, RoundsOfEach&);
};
const RequestCounting& request_counting_avx2();
const RequestCounting& request_counting_avx512();  // where kHaveAvx512
const RequestCounting& request_counting();         // the best of this machine

}  // namespace warpgrind
