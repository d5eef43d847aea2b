#include "events/cache_counts.h"

namespace warpgrind::events {

void CacheCounts::scale(double by) {
  for (CacheLookups* l : {&global_loads, &local_loads, &texture, &global_stores, &local_stores, &l2}) {
    l->sectors *= by;
    l->hits *= by;
  }
  for (DistinctStretches* s : {&read_by_block, &written_by_block, &read, &written})
    for (double* n : {&s->sectors, &s->pieces, &s->lines, &s->pairs, &s->quads}) *n *= by;
  for (double* n : {&load_requests, &load_requests_new_to_warp, &store_requests, &load_passes, &store_passes,
                    &l2_read_sectors, &l2_written_sectors, &l2_atomic_sectors, &l2_read_lines, &partly_written_sectors,
                    &atomic_sectors, &footprint_bytes, &dram_read_bytes, &dram_written_bytes})
    *n *= by;
  for (SiteCaches& s : sites)
    for (double* n :
         {&s.requests, &s.requests_new_to_warp, &s.load_sectors, &s.l1_hit_sectors, &s.l2_hit_sectors, &s.l1_passes})
      *n *= by;
}

void CacheCounts::add(const CacheCounts& o) {
  launches += o.launches;
  blocks += o.blocks;
  blocks_seen += o.blocks_seen;
  requests_seen += o.requests_seen;
  global_loads.add(o.global_loads);
  local_loads.add(o.local_loads);
  texture.add(o.texture);
  global_stores.add(o.global_stores);
  local_stores.add(o.local_stores);
  load_requests += o.load_requests;
  load_requests_new_to_warp += o.load_requests_new_to_warp;
  store_requests += o.store_requests;
  load_passes += o.load_passes;
  store_passes += o.store_passes;
  l2_read_sectors += o.l2_read_sectors;
  l2_written_sectors += o.l2_written_sectors;
  l2_atomic_sectors += o.l2_atomic_sectors;
  l2_read_lines += o.l2_read_lines;
  l2.add(o.l2);
  read_by_block.add(o.read_by_block);
  written_by_block.add(o.written_by_block);
  read.add(o.read);
  written.add(o.written);
  partly_written_sectors += o.partly_written_sectors;
  atomic_sectors += o.atomic_sectors;
  footprint_bytes += o.footprint_bytes;
  constant_bytes += o.constant_bytes;
  dram_read_bytes += o.dram_read_bytes;
  dram_written_bytes += o.dram_written_bytes;
  for (std::size_t s = 0; sites.size() == o.sites.size() && s < sites.size(); ++s) sites[s].add(o.sites[s]);
}

}  // namespace warpgrind::events
