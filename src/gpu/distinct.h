// Counting what is different among the lanes of an access: the inner loops of the cost rules. Written without branches
// on the data, because addresses that differ from access to access are what these are called for (a mispredicted branch
// a lane costs more than all the rest).
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

// Different keys, and different pairs of key and part. parts[i] has one bit set, of 8.
struct Distinct {
  unsigned keys = 0, parts = 0;
};
Distinct distinct(const std::uint64_t* keys, const std::uint8_t* parts, unsigned n);

// Over the units of banks, the largest number of different rows: in each round, every unit serves one row. A unit is
// the low `unit_bits` (at most 5) of an entry, its row the entry without the low `row_shift` bits.
unsigned most_rows(const std::uint64_t* entries, unsigned n, unsigned unit_bits, unsigned row_shift);

// Words of local memory: `words` = different ones over all lanes, `in_groups` = those of each group of 8 lanes, added
// up. offsets: bytes.
struct LocalWords {
  unsigned words = 0, in_groups = 0;
};
LocalWords local_words(const std::int64_t offsets[kWarpSize], LaneMask mask);

}  // namespace warpgrind
