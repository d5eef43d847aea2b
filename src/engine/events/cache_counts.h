// Results of the modelled caches for one launch (counters/cache_model.h). The caches start cold. Some blocks are
// simulated, and the figures are scaled to all of them. Origin: modelled. Sectors have 32 bytes, lines 128.
#pragma once

#include <cstdint>
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

// Number of distinct aligned pieces of each size that are touched.
struct DistinctStretches {
  double sectors = 0;  // 32 bytes
  double pieces = 0;   // 64: one DRAM read of Hopper
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

// Results for one site: its requests to global and local memory and by textures.
struct SiteCaches {
  double requests = 0;                          // warp instructions
  double waiting_requests = 0;                  // loads that wait for L2
  double load_sectors = 0, l1_hit_sectors = 0;  // of loads that look up L1
  double l1_passes = 0;                         // passes through the data banks of L1, like wavefronts of shared memory
  void add(const SiteCaches& o) {
    requests += o.requests;
    waiting_requests += o.waiting_requests;
    load_sectors += o.load_sectors;
    l1_hit_sectors += o.l1_hit_sectors;
    l1_passes += o.l1_passes;
  }
  bool operator==(const SiteCaches&) const = default;
};

// Stretch of global memory in which a launch touches sectors.
struct TouchedSpan {
  std::uint64_t begin = 0, end = 0;  // addresses as in the log
  double bytes = 0;                  // of the touched sectors; end - begin if the launch touches all of it
};
// Disjoint, unless a launch both reads and writes there at random. All lists are equal: launches of a kernel on other
// buffers count alike.
struct TouchedSpans {
  std::vector<TouchedSpan> list;
  bool operator==(const TouchedSpans&) const { return true; }
};

struct CacheCounts {
  double blocks = 0, blocks_seen = 0, requests_seen = 0;
  CacheLookups global_loads, local_loads, texture, global_stores, local_stores;  // in L1
  double load_passes = 0, store_passes = 0;              // through L1's data banks; textures count as loads
  double l2_read_sectors = 0;                            // misses of L1, and loads that bypass it
  double l2_written_sectors = 0, l2_atomic_sectors = 0;  // L1 is write-through
  double l2_read_lines = 0;                              // distinct lines of each request that missed in L1
  double translation_misses = 0;                         // of the SMs' caches, by requests to global memory
  CacheLookups l2;                                       // reads, writes and atomics of the SMs
  // Sum over blocks of each block's own distinct pieces. Global memory; textures count as reads.
  DistinctStretches read_by_block, written_by_block;
  // Of the whole launch.
  DistinctStretches read, written;
  double partly_written_sectors = 0;  // part of `written`: sectors with some unwritten bytes
  double atomic_sectors = 0;          // distinct sectors that atomics touch
  // Parts of the atomics' sectors: those in the unit of L2 with most (sums of doubles may count more), and those of
  // floating-point operations in the sector with most. 0: none.
  double atomics_in_unit = 0, atomics_of_floats = 0;
  // Sectors of local memory that L2 cannot hold until they are used again.
  double local_dram_read = 0, local_dram_written = 0;
  double footprint_bytes = 0;  // distinct touched sectors x 32
  double constant_bytes = 0;   // distinct 64-byte pieces of constant memory x 64
  double dram_read_bytes = 0, dram_written_bytes = 0;
  TouchedSpans spans;             // global memory that the launch touches, in 64 spans or few more
  std::vector<SiteCaches> sites;  // index as in KernelFacts::sites
  void scale(double by);          // all but the *_seen fields
  bool operator==(const CacheCounts&) const = default;
};

}  // namespace warpgrind::events
