// Counts of distinct values among the lanes of an access: the inner loops of the cost rules. Every lane is compared
// with all lanes before it, eight at a time, without branches on the data. The addresses differ from access to access,
// and one mispredicted branch a lane would cost more than everything else.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

// Counts over the active lanes' units, (offset - low) >> shift, which must be below 2^32. parts: distinct units.
// wholes: distinct units without their low `part_bits`. A whole consists of parts, as a line of sectors.
struct Distinct {
  unsigned wholes = 0, parts = 0;
};
Distinct distinct(const std::int64_t offsets[kWarpSize], LaneMask mask, std::int64_t low, unsigned shift,
                  unsigned part_bits);

// Passes of one access through the banks: the largest number of distinct rows over all bank units, since a unit serves
// one row a pass. Of offset >> unit_shift, the low `unit_bits` (at most 5) are the unit, and the bits from `row_shift`
// on are the row. Active lanes' offsets must differ by less than 4 GiB. Inactive lanes may be missing at the end of the
// array.
unsigned most_rows(const std::int64_t* offsets, LaneMask mask, unsigned unit_shift, unsigned unit_bits,
                   unsigned row_shift);

// Words of local memory. `words`: distinct words over all lanes. `in_groups`: sum of the distinct words of each group
// of 8 lanes. offsets: bytes.
struct LocalWords {
  unsigned words = 0, in_groups = 0;
};
LocalWords local_words(const std::int64_t offsets[kWarpSize], LaneMask mask);

}  // namespace warpgrind
