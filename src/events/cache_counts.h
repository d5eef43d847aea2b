// What the modelled caches made of one launch (counters/cache_model.h): cold at its start, with some of its blocks
// looked at and the figures scaled to all of them. Origin: modelled. Sectors are of 32 bytes, lines of 128.
#pragma once

#include <vector>

namespace warpgrind::events {

struct CacheLookups {
  double sectors = 0, hits = 0;
  void add(const CacheLookups& o) {
    sectors += o.sectors;
    hits += o.hits;
  }
  bool operator==(const CacheLookups&) const = default;
};

// How many different aligned stretches of each size something touches.
struct DistinctStretches {
  double sectors = 0;  // 32 bytes
  double pieces = 0;   // 64: what Hopper's DRAM reads at once
  double lines = 0;    // 128
  double pairs = 0;    // 256
  double quads = 0;    // 512
  void add(const DistinctStretches& o) {
    sectors += o.sectors;
    pieces += o.pieces;
    lines += o.lines;
    pairs += o.pairs;
    quads += o.quads;
  }
  bool operator==(const DistinctStretches&) const = default;
};

// Of a site's requests to global and local memory and by textures.
struct SiteCaches {
  double requests = 0;                          // warp instructions
  double requests_new_to_warp = 0;              // loads that touch a sector which their warp has not touched lately
  double load_sectors = 0, l1_hit_sectors = 0;  // of loads: looked up in L1
  double l1_passes = 0;                         // through the data banks of L1, as wavefronts of shared memory
  void add(const SiteCaches& o) {
    requests += o.requests;
    requests_new_to_warp += o.requests_new_to_warp;
    load_sectors += o.load_sectors;
    l1_hit_sectors += o.l1_hit_sectors;
    l1_passes += o.l1_passes;
  }
  bool operator==(const SiteCaches&) const = default;
};

struct CacheCounts {
  double blocks = 0, blocks_seen = 0, requests_seen = 0;
  CacheLookups global_loads, local_loads, texture, global_stores, local_stores;  // in L1
  double load_passes = 0, store_passes = 0;              // through L1's data banks; textures are loads
  double l2_read_sectors = 0;                            // misses of L1, and loads that leave it out
  double l2_written_sectors = 0, l2_atomic_sectors = 0;  // stores go through
  double l2_read_lines = 0;                              // different lines of each request that missed in L1
  CacheLookups l2;                                       // reads, writes and atomics of the SMs
  // Summed over blocks: each block's own different stretches. Global memory; textures are read.
  DistinctStretches read_by_block, written_by_block;
  // Of the whole launch.
  DistinctStretches read, written;
  double partly_written_sectors = 0;  // in `written`: some of their bytes are written by nobody
  double atomic_sectors = 0;          // different ones that atomics touch
  double footprint_bytes = 0;         // different sectors that are touched at all x 32
  double constant_bytes = 0;          // different 64-byte stretches of constant memory x 64
  double dram_read_bytes = 0, dram_written_bytes = 0;
  std::vector<SiteCaches> sites;  // index as in KernelFacts::sites
  void scale(double by);          // but for what was seen
  bool operator==(const CacheCounts&) const = default;
};

}  // namespace warpgrind::events
