// Counting what is different among the lanes of an access: the inner loops of the cost rules. Written without branches
// on the data, because addresses that differ from access to access are what these are called for (a mispredicted branch
// a lane costs more than all the rest): every lane is compared with all before it, eight at a time.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

// Of (offset - low) >> shift, which must be below 2^32, over the lanes on: different ones (parts), and different ones
// without their low `part_bits` (the wholes that they are parts of).
struct Distinct {
  unsigned wholes = 0, parts = 0;
};
Distinct distinct(const std::int64_t offsets[kWarpSize], LaneMask mask, std::int64_t low, unsigned shift,
                  unsigned part_bits);

// Over the units of banks, the largest number of different rows: in each round, every unit serves one row. Of
// offset >> unit_shift, the low `unit_bits` (at most 5) are the unit, what is above the low `row_shift` is the row.
// Offsets of lanes on, which may be fewer than 32, differ by less than 4 GiB.
unsigned most_rows(const std::int64_t* offsets, LaneMask mask, unsigned unit_shift, unsigned unit_bits,
                   unsigned row_shift);

// Words of local memory: `words` = different ones over all lanes, `in_groups` = those of each group of 8 lanes, added
// up. offsets: bytes.
struct LocalWords {
  unsigned words = 0, in_groups = 0;
};
LocalWords local_words(const std::int64_t offsets[kWarpSize], LaneMask mask);

}  // namespace warpgrind
