#include "counters/cache_counters.h"

namespace warpgrind::counters {

bool of_caches(MetricId id) {
  return id >= MetricId::caches_blocks && id <= MetricId::dram_write;
}

void add_caches(Values& v, const events::CacheCounts& c) {
  v.add(MetricId::caches_blocks, c.blocks_seen);
  const auto add = [&](MetricId hit, MetricId miss, const events::CacheLookups& l) {
    v.add(hit, l.hits);
    v.add(miss, l.sectors - l.hits);
  };
  add(MetricId::l1_ld_hit, MetricId::l1_ld_miss, c.global_loads);
  add(MetricId::l1_local_hit, MetricId::l1_local_miss, c.local_loads);
  add(MetricId::l1_tex_hit, MetricId::l1_tex_miss, c.texture);
  for (const events::CacheLookups* l :
       {&c.global_loads, &c.local_loads, &c.texture, &c.global_stores, &c.local_stores}) {
    v.add(MetricId::l1_hits, l->hits);
    v.add(MetricId::l1_lookups, l->sectors);
  }
  v.add(MetricId::l1_lookups, c.l2_atomic_sectors);
  v.add(MetricId::dram_read, c.dram_read_bytes);
  v.add(MetricId::dram_write, c.dram_written_bytes);
  if (c.l2.sectors == 0 && c.dram_read_bytes + c.dram_written_bytes != 0) return;
  v.add(MetricId::l2_read, c.l2_read_sectors);
  v.add(MetricId::l2_write, c.l2_written_sectors);
  v.add(MetricId::l2_hit, c.l2.hits);
  v.add(MetricId::l2_miss, c.l2.sectors - c.l2.hits);
  v.add(MetricId::l2_lookups, c.l2.sectors);
}

void add_caches(Values& v, const events::SiteCaches& c) {
  if (c.load_sectors == 0) return;
  v.add(MetricId::l1_hits, c.l1_hit_sectors);
  v.add(MetricId::l1_lookups, c.load_sectors);
  v.set(MetricId::l1_hit_rate, 100 * c.l1_hit_sectors / c.load_sectors);
}

}  // namespace warpgrind::counters
