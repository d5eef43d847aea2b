// Replay of the logged blocks through the caches of the SMs. The blocks of an SM run side by side and their warps take
// turns. SMs that merge their requests to L2 are replayed together.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "counters/cache_model.h"
#include "counters/footprint.h"
#include "counters/local_reuse.h"

namespace warpgrind::counters {

// Sums of a site over the replayed blocks.
struct Tally {
  // fresh: requests for something new to their warp. passes: through the banks of L1.
  double requests = 0, fresh = 0, passes = 0;
  // sectors: looked up in L1. hits: found there. below: passed on to L2; below_lines: lines of these.
  double sectors = 0, hits = 0, below = 0, below_lines = 0;
  // Address translations, one for each region that a request touches (translation_cache.h). first: of a region that
  // no request before has touched. misses: of one that has been replaced since.
  double translations = 0, first_translations = 0, translation_misses = 0;
  void add(const Tally& o) {
    requests += o.requests;
    fresh += o.fresh;
    passes += o.passes;
    sectors += o.sectors;
    hits += o.hits;
    below += o.below;
    below_lines += o.below_lines;
    translations += o.translations;
    first_translations += o.first_translations;
    translation_misses += o.translation_misses;
  }
};

enum class Use : std::uint8_t { read, written, atomic };
constexpr unsigned kUses = 3;
inline Use use_of(AccessType type) {
  return type == AccessType::load ? Use::read : type == AccessType::store ? Use::written : Use::atomic;
}

struct TallyBySpace {
  Tally global, local, texture;
  const Tally& of(StateSpace space) const {
    return space == StateSpace::local ? local : space == StateSpace::texture ? texture : global;
  }
  Tally& of(StateSpace space) { return const_cast<Tally&>(std::as_const(*this).of(space)); }
  void add(const TallyBySpace& o) {
    global.add(o.global);
    local.add(o.local);
    texture.add(o.texture);
  }
  Tally total() const {
    Tally t = global;
    t.add(local);
    t.add(texture);
    return t;
  }
};

// late: of the second half of what the warps logged whose log is not complete. Their other requests follow it.
struct SiteSeen : TallyBySpace {
  TallyBySpace late;
  std::vector<BlockStretches> blocks;
  Use use = Use::read;
  // Loads that use only a part of their sectors: 32-bit words that they ask for, and the different ones. 0: all blocks
  // were logged, or there are too many words.
  double words_asked = 0, words = 0;
  // Last access and its passes: an access with the same lanes and steps takes as many.
  events::LoggedAccess last;
  unsigned last_passes = 0;
};

struct Replayed {
  std::vector<SiteSeen> sites;
  double blocks = 0, requests = 0;
  events::DistinctStretches read_by_block, written_by_block;
  double partly_written = 0;  // sectors that a block writes only in part, summed over blocks
  SectorSet constants;        // in units of 64 bytes
  LocalReuse local_reuse;
  double atomics_in_unit = 0, atomics_of_floats = 0;  // HotAtomics
};
Replayed replay(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                const events::AccessLog& log);

}  // namespace warpgrind::counters
