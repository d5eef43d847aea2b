#include "events/cache_counts.h"

namespace warpgrind::events {

void CacheCounts::scale(double by) {
  for (CacheLookups* l : {&global_loads, &local_loads, &texture, &global_stores, &local_stores, &l2}) {
    l->sectors *= by;
    l->hits *= by;
  }
  for (DistinctStretches* s : {&read_by_block, &written_by_block, &read, &written})
    for (double* n : {&s->sectors, &s->pieces, &s->lines, &s->pairs, &s->quads}) *n *= by;
  for (double* n : {&load_passes, &store_passes, &l2_read_sectors, &l2_written_sectors, &l2_atomic_sectors,
                    &l2_read_lines, &translation_misses, &partly_written_sectors, &atomic_sectors, &footprint_bytes,
                    &dram_read_bytes, &dram_written_bytes, &local_dram_read, &local_dram_written})
    *n *= by;
  for (SiteCaches& s : sites)
    for (double* n : {&s.requests, &s.waiting_requests, &s.load_sectors, &s.l1_hit_sectors, &s.l1_passes}) *n *= by;
}

}  // namespace warpgrind::events
