#include "counters/cache_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "counters/footprint.h"
#include "counters/request_lines.h"
#include "counters/sectored_cache.h"

namespace warpgrind::counters {

namespace {

using events::AccessLog;
using events::BlockLog;
using events::CacheCounts;
using events::LoggedAccess;
using events::SiteKind;

// What a warp has touched lately.
struct WarpFilter {
  static constexpr unsigned kEntries = 64;
  std::uint64_t line[kEntries];
  std::uint8_t sectors[kEntries];
  WarpFilter() { std::fill(std::begin(line), std::end(line), ~std::uint64_t{0}); }
  bool touch(std::uint64_t of, std::uint8_t mask) {  // true: some of it is new
    const auto at = static_cast<unsigned>(of * 0x9e3779b97f4a7c15u >> 58);
    if (line[at] != of) {
      line[at] = of;
      sectors[at] = mask;
      return true;
    }
    const bool fresh = (mask & ~sectors[at]) != 0;
    sectors[at] |= mask;
    return fresh;
  }
};

// Of a site, in the blocks that were looked at.
struct Tally {
  double requests = 0, fresh = 0, passes = 0;
  // Sectors looked up in L1, found, passed on to L2; lines of these.
  double sectors = 0, hits = 0, below = 0, below_lines = 0;
  void add(const Tally& o) {
    requests += o.requests;
    fresh += o.fresh;
    passes += o.passes;
    sectors += o.sectors;
    hits += o.hits;
    below += o.below;
    below_lines += o.below_lines;
  }
};

enum class Use : std::uint8_t { read, written, atomic };
constexpr unsigned kUses = 3;
Use use_of(AccessType type) {
  return type == AccessType::load ? Use::read : type == AccessType::store ? Use::written : Use::atomic;
}

struct SiteSeen {
  Tally global, local, texture;
  std::vector<BlockStretches> blocks;
  Use use = Use::read;
  // The same lanes elsewhere take as many passes.
  LoggedAccess last;
  unsigned last_passes = 0;
};

struct RunningBlock {
  const BlockLog* log = nullptr;
  std::vector<std::uint32_t> order, next, end;  // accesses, warp by warp; of each warp: the next one, behind the last
  std::vector<std::uint32_t> turns;             // warps, in the order in which they take turns
  std::vector<WarpFilter> filters;
  std::vector<SectorSet> sets;  // by site
  std::vector<std::uint32_t> used_sites;
  SectorSet all[2];                               // read, written
  std::map<std::uint64_t, std::uint32_t> partly;  // sectors written in part: their bytes
  std::size_t left = 0;
};

constexpr std::uint64_t kLocalBase = std::uint64_t{1} << 48;

class Replay {
 public:
  Replay(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts, const AccessLog& log)
      : model_(model),
        sizes_(sizes),
        facts_(facts),
        log_(log),
        l1_(sizes.l1_bytes),
        texture_(sizes.texture_bytes),
        stored_(sizes.l1_bytes),
        whole_lines_(model.rules.coalescing == CoalescingRule::lines_128) {
    sites.resize(facts.sites.size());
  }

  void run() {
    const std::uint64_t sms = std::max(1u, model_.sm_count);
    std::map<std::uint64_t, std::vector<const BlockLog*>> by_sm;
    for (const BlockLog& b : log_.blocks) by_sm[events::sm_of_block(b.block, sms)].push_back(&b);
    for (const auto& [sm, blocks] : by_sm) run_sm(blocks);
  }

  std::vector<SiteSeen> sites;
  double blocks = 0, requests = 0;
  events::DistinctStretches read_by_block, written_by_block;
  double partly_written = 0;
  SectorSet constants;  // of 64 bytes

 private:
  void run_sm(const std::vector<const BlockLog*>& blocks_of_sm) {
    l1_.clear();
    texture_.clear();
    stored_.clear();
    std::size_t begun = 0;
    const std::size_t slots = std::min<std::size_t>(std::max(1u, sizes_.resident_blocks), blocks_of_sm.size());
    if (running_.size() < slots) running_.resize(slots);
    for (std::size_t s = 0; s < slots; ++s) begin(running_[s], *blocks_of_sm[begun++]);
    for (std::size_t live = slots; live != 0;)
      for (std::size_t s = 0; s < slots; ++s) {
        RunningBlock& b = running_[s];
        if (b.log == nullptr) continue;
        turn(b, s);
        if (b.left != 0) continue;
        finish(b);
        if (begun < blocks_of_sm.size())
          begin(b, *blocks_of_sm[begun++]);
        else
          --live;
      }
  }

  void begin(RunningBlock& b, const BlockLog& log) {
    b.log = &log;
    const std::size_t warps = log.taken.size();
    b.next.assign(warps, 0);
    b.end.assign(warps, 0);
    std::uint32_t at = 0;
    for (std::size_t w = 0; w < warps; ++w) {
      b.next[w] = b.end[w] = at;
      at += log.taken[w];
    }
    b.order.resize(at);
    for (std::size_t i = 0; i < log.accesses.size(); ++i)
      b.order[b.end[log.accesses[i].warp]++] = static_cast<std::uint32_t>(i);
    b.filters.assign(warps, WarpFilter());
    shuffle(b.turns, warps, log.block);
    if (b.sets.size() < sites.size()) b.sets.resize(sites.size());
    b.left = log.accesses.size();
  }

  // Neighbours come in either order: of the stores of an H200's warps to one line 57 % rose with the warp's number
  // (tests/data/h200, offset_copy).
  static void shuffle(std::vector<std::uint32_t>& turns, std::size_t warps, std::uint64_t block) {
    turns.resize(warps);
    for (std::uint32_t w = 0; w < warps; ++w) turns[w] = w;
    for (std::size_t w = warps; w > 1; --w) std::swap(turns[w - 1], turns[events::mixed(block * 64 + w) % w]);
  }

  // Each warp makes its next request.
  void turn(RunningBlock& b, std::size_t slot) {
    for (const std::uint32_t w : b.turns) {
      if (b.next[w] == b.end[w]) continue;
      do {
        access(b, b.log->accesses[b.order[b.next[w]++]], slot);
        --b.left;
      } while (b.next[w] != b.end[w] && !b.log->accesses[b.order[b.next[w]]].first);  // groups of a texture
    }
  }

  void finish(RunningBlock& b) {
    ++blocks;
    for (const std::uint32_t s : b.used_sites) {
      sites[s].blocks.push_back({b.log->index, b.sets[s].stretches()});
      b.sets[s] = {};
    }
    b.used_sites.clear();
    read_by_block.add(distinct(b.all[0].stretches()));
    written_by_block.add(distinct(b.all[1].stretches()));
    b.all[0] = b.all[1] = {};
    for (const auto& [sector, bytes] : b.partly) partly_written += bytes != ~0u ? 1 : 0;
    b.partly.clear();
    b.log = nullptr;
  }

  void access(RunningBlock& b, const LoggedAccess& e, std::size_t slot) {
    const events::Site& site = facts_.sites[e.site];
    SiteSeen& seen = sites[e.site];
    ++requests;
    RequestLines lines;
    const std::uint64_t local = kLocalBase + (slot * log_.warps_per_block + e.warp) * log_.local_bytes * kWarpSize;
    find_lines(log_, *b.log, e, e.bytes, local, &lines);
    if (e.space == StateSpace::constant) {
      for (unsigned i = 0; i < lines.count; ++i)
        for (unsigned half = 0; half < 2; ++half)
          if ((lines.sectors[i] >> 2 * half & 3) != 0)
            constants.add(lines.line[i] * 2 + half, lines.line[i] * 2 + half + 1);
      return;
    }
    seen.use = use_of(e.type);
    Tally& tally = e.space == StateSpace::local     ? seen.local
                   : e.space == StateSpace::texture ? seen.texture
                                                    : seen.global;
    if (e.first) ++tally.requests;
    look_up(b, e, site, lines, tally);
    tally.passes += passes(b, e, seen);
    note(b, e, lines);
  }

  void look_up(RunningBlock& b, const LoggedAccess& e, const events::Site& site, const RequestLines& lines,
               Tally& tally) {
    const bool load = e.type == AccessType::load, local = e.space == StateSpace::local;
    const bool texture = e.space == StateSpace::texture || (site.non_coherent && sizes_.texture_bytes != 0);
    const bool own = texture && sizes_.texture_bytes != 0;
    // Atomics happen in L2; so does what must see other SMs' stores.
    const bool around = !load && e.type != AccessType::store ? true
                        : local || texture
                            ? false
                            : site.at_l2 || site.is_volatile || site.order != events::MemoryOrder::weak ||
                                  site.kind == SiteKind::bulk_copy ||
                                  (site.kind == SiteKind::async_copy && e.bytes == 16) || !model_.l1_caches_global;
    bool fresh = false;
    for (unsigned i = 0; i < lines.count; ++i) {
      std::uint8_t mask = lines.sectors[i];
      if (load) fresh |= b.filters[e.warp].touch(lines.line[i], mask);
      tally.sectors += std::popcount(mask);
      std::uint8_t found = 0;
      if (!around) {
        if (whole_lines_ && load && !own) mask = 0xf;  // Fermi fetches lines
        found = (own ? texture_ : l1_).look_up(lines.line[i], mask, load || local);
        if (!load && !local && find_stored(lines.line[i])) found = mask;
      }
      tally.hits += std::popcount(static_cast<std::uint8_t>(found & lines.sectors[i]));
      const int below = load ? std::popcount(static_cast<std::uint8_t>(mask & ~found)) : std::popcount(mask);
      tally.below += below;
      tally.below_lines += below != 0 ? 1 : 0;
    }
    if (fresh && e.first) ++tally.fresh;
  }

  // Stores are looked up by lines: what another warp stored to a line lets a store to the rest of it hit.
  bool find_stored(std::uint64_t line) { return stored_.look_up(line, 0xf, true) != 0; }

  double passes(const RunningBlock& b, const LoggedAccess& e, SiteSeen& seen) {
    if (e.space == StateSpace::texture) return 0;
    if (e.space == StateSpace::local) return std::max(1, e.bytes / 4);
    const LoggedAccess& l = seen.last;
    if (!e.lanes && !l.lanes && l.mask == e.mask && l.kx == e.kx && l.ky == e.ky && l.mask != 0 &&
        (l.base & 127) == (e.base & 127))
      return seen.last_passes;
    seen.last = e;
    seen.last_passes = bank_passes(log_, *b.log, e, e.bytes);
    return seen.last_passes;
  }

  // Which memory it touches.
  void note(RunningBlock& b, const LoggedAccess& e, const RequestLines& lines) {
    const bool local = e.space == StateSpace::local;
    SectorSet& of_site = b.sets[e.site];
    if (!local && of_site.empty()) b.used_sites.push_back(e.site);
    for (unsigned i = 0; i < lines.count; ++i)
      for (unsigned m = lines.sectors[i], at = 0; m != 0;) {
        const auto skip = static_cast<unsigned>(std::countr_zero(m)),
                   run = static_cast<unsigned>(std::countr_one(m >> skip));
        at += skip;
        const std::uint64_t first = lines.line[i] * 4 + at;
        if (!local) of_site.add(first, first + run);
        if (use_of(e.type) != Use::atomic) b.all[use_of(e.type) == Use::written ? 1 : 0].add(first, first + run);
        at += run;
        m >>= skip + run;
      }
    if (e.type == AccessType::store && !local) note_partly(b, e);
  }

  // Bytes of sectors that a store does not cover as a whole.
  void note_partly(RunningBlock& b, const LoggedAccess& e) {
    const std::uint32_t bytes = e.bytes;
    const bool side_by_side = !e.lanes && e.mask == kFullMask && e.kx == bytes &&
                              (log_.row == kWarpSize || e.ky == std::int64_t{bytes} * log_.row);
    if (side_by_side && e.base % 32 == 0) return;
    std::uint64_t addresses[kWarpSize];
    std::uint8_t lanes[kWarpSize];
    const unsigned n = lane_addresses(log_, *b.log, e, addresses, lanes);
    std::uint64_t sector = ~std::uint64_t{0};
    std::uint32_t mask = 0;
    const auto put = [&] {
      if (mask != 0 && mask != ~0u) b.partly[sector] |= mask;
      if (mask == ~0u)
        if (const auto it = b.partly.find(sector); it != b.partly.end()) it->second = ~0u;
    };
    for (unsigned i = 0; i < n; ++i) {
      if (addresses[i] / 32 != sector) {
        put();
        sector = addresses[i] / 32;
        mask = 0;
      }
      mask |= bytes >= 32 ? ~0u : ((1u << bytes) - 1) << addresses[i] % 32;
    }
    put();
  }

  const GpuModel& model_;
  const CacheSizes& sizes_;
  const events::KernelFacts& facts_;
  const AccessLog& log_;
  SectoredCache l1_, texture_;
  SectoredCache stored_;  // lines that were stored to lately: a store finds them, a load does not
  const bool whole_lines_;
  std::vector<RunningBlock> running_;
};

// ---- Which memory the whole launch touches

// Sites whose blocks are no copies of each other, of one allocation and use: by how their blocks overlap.
struct Irregular {
  double one = 0, seen = 0;
  Stretches together;
  double ones[5] = {};
};

events::DistinctStretches times(events::DistinctStretches d, double k) {
  return {d.sectors * k, d.pieces * k, d.lines * k, d.pairs * k, d.quads * k};
}

class WholeGrid {
  using Key = std::pair<std::uint64_t, unsigned>;  // allocation, use

 public:
  // longer: by site, how much more a block accesses than was logged of it.
  WholeGrid(const AccessLog& log, std::uint64_t blocks, const std::vector<SiteSeen>& sites,
            const std::vector<double>& longer)
      : log_(log), blocks_(blocks), all_seen_(log.blocks.size() >= blocks) {
    std::map<std::pair<std::uint64_t, unsigned>, std::map<std::uint64_t, Stretches>> irregular;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const SiteSeen& site = sites[s];
      if (site.blocks.empty()) continue;
      const auto use = static_cast<unsigned>(site.use);
      const auto range = log.ranges[s];
      const Key key{range.second != 0 ? range.first : s, use};
      ranges_[key] = range;
      Stretches own;
      for (const BlockStretches& b : site.blocks) own.insert(own.end(), b.stretches.begin(), b.stretches.end());
      known_[use].insert(known_[use].end(), own.begin(), own.end());
      if (all_seen_) {
        add_unlogged(key, merged(std::move(own)), longer[s]);
        continue;
      }
      std::optional<Moved> moved = find_steps(site.blocks, log.grid);
      std::optional<Stretches> all = moved ? moved_over(*moved, log.grid, blocks, range) : std::nullopt;
      if (all) {
        known_[use].insert(known_[use].end(), all->begin(), all->end());
        moved_.push_back({*moved, range, use});
        add_unlogged(key, *all, longer[s]);
        continue;
      }
      add_unlogged(key, merged(std::move(own)), longer[s]);
      auto& group = irregular[key];
      for (const BlockStretches& b : site.blocks) {
        Stretches& to = group[(b.index.z * std::uint64_t{log.grid.y} + b.index.y) * log.grid.x + b.index.x];
        to.insert(to.end(), b.stretches.begin(), b.stretches.end());
      }
    }
    for (Stretches& k : known_) k = merged(std::move(k));
    for (auto& [key, by_block] : irregular) irregular_[key] = gather(by_block);
  }

  // Of one use, or of what is read and of atomics together (what DRAM has to bring).
  events::DistinctStretches of(Use use) const { return with_irregular(known_[static_cast<unsigned>(use)], {use}); }
  events::DistinctStretches brought() const {
    return with_irregular(together({Use::read, Use::atomic}), {Use::read, Use::atomic});
  }
  events::DistinctStretches touched() const {
    return with_irregular(together({Use::read, Use::written, Use::atomic}), {Use::read, Use::written, Use::atomic});
  }
  // What the first `blocks` blocks touch, in sectors; all blocks were not seen.
  double touched_by(std::uint64_t blocks) const {
    Stretches all;
    for (const auto& m : moved_)
      if (const auto some = moved_over(m.moved, log_.grid, blocks, m.range))
        all.insert(all.end(), some->begin(), some->end());
    double n = static_cast<double>(sectors_in(merged(std::move(all))));
    for (const auto& [key, i] : irregular_) n += extra(key, i, static_cast<double>(blocks), 0, {});
    return n;
  }
  bool all_seen() const { return all_seen_; }

 private:
  struct MovedSite {
    Moved moved;
    std::pair<std::uint64_t, std::uint64_t> range;
    unsigned use;
  };

  // The rest of a block that is too long to be logged goes on through its allocation as it began.
  void add_unlogged(const Key& key, const Stretches& own, double longer) {
    if (longer < 1.05) return;
    const events::DistinctStretches d = distinct(own);
    const double counts[5] = {d.sectors, d.pieces, d.lines, d.pairs, d.quads};
    std::array<double, 5>& more = unlogged_[key];
    for (unsigned g = 0; g < 5; ++g)
      more[g] = std::max(more[g], std::max(0.0, std::min(most_of(key, g), counts[g] * longer) - counts[g]));
  }
  double most_of(const Key& key, unsigned granularity) const {
    const auto range = ranges_.find(key)->second;
    return range.second == 0 ? 1e30 : static_cast<double>(range.second - range.first) / (32u << granularity) + 1;
  }

  Irregular gather(std::map<std::uint64_t, Stretches>& by_block) const {
    Irregular out;
    out.seen = static_cast<double>(log_.blocks.size());
    for (auto& [block, stretches] : by_block) {
      stretches = merged(std::move(stretches));
      const events::DistinctStretches d = distinct(stretches);
      const double counts[5] = {d.sectors, d.pieces, d.lines, d.pairs, d.quads};
      for (unsigned g = 0; g < 5; ++g) out.ones[g] += counts[g] / out.seen;
      out.together.insert(out.together.end(), stretches.begin(), stretches.end());
    }
    out.together = merged(std::move(out.together));
    return out;
  }

  // More than was seen of it, in stretches of 32 << granularity bytes.
  double extra(const Key& key, const Irregular& i, double blocks, unsigned granularity, const Stretches& known) const {
    const events::DistinctStretches d = distinct(i.together);
    const double counts[5] = {d.sectors, d.pieces, d.lines, d.pairs, d.quads};
    const auto range = ranges_.find(key)->second;
    const double most = most_of(key, granularity);
    const double all = extrapolated(i.ones[granularity], counts[granularity], i.seen, blocks, most);
    if (known.empty()) return all;
    // Where other sites have been is taken to be anywhere in the allocation.
    double there = 0;
    for (const Stretch& s : known)
      if (s.begin * 32 < range.second && s.end * 32 > range.first) there += static_cast<double>(s.end - s.begin);
    const double seen = counts[granularity];
    there = std::max(0.0, there / (1u << granularity) - seen);
    return std::max(0.0, all - seen) * std::clamp(1 - there / std::max(1.0, most - seen), 0.0, 1.0);
  }

  events::DistinctStretches with_irregular(const Stretches& known, std::initializer_list<Use> uses) const {
    events::DistinctStretches d = distinct(known);
    double* const counts[5] = {&d.sectors, &d.pieces, &d.lines, &d.pairs, &d.quads};
    for (const auto& [key, i] : irregular_)
      for (const Use use : uses)
        if (key.second == static_cast<unsigned>(use))
          for (unsigned g = 0; g < 5; ++g)
            *counts[g] += extra(key, i, static_cast<double>(blocks_), g, known.empty() ? i.together : known);
    for (const auto& [key, more] : unlogged_)
      for (const Use use : uses)
        if (key.second == static_cast<unsigned>(use))
          for (unsigned g = 0; g < 5; ++g) *counts[g] += more[g];
    return d;
  }

  Stretches together(std::initializer_list<Use> uses) const {
    Stretches all;
    for (const Use use : uses) {
      const Stretches& k = known_[static_cast<unsigned>(use)];
      all.insert(all.end(), k.begin(), k.end());
    }
    return merged(std::move(all));
  }

  const AccessLog& log_;
  const std::uint64_t blocks_;
  const bool all_seen_;
  Stretches known_[kUses];
  std::vector<MovedSite> moved_;
  std::map<Key, Irregular> irregular_;
  std::map<Key, std::array<double, 5>> unlogged_;
  std::map<Key, std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

// ---- The launch

double d(std::uint64_t n) {
  return static_cast<double>(n);
}

// Adds a site's loads or stores of one space: `sectors` and `requests` are exact.
void add_lookups(const Tally& seen, const Tally& average, double sectors, events::CacheLookups* to,
                 events::SiteCaches* site, double* below, double* below_lines) {
  if (sectors == 0) return;
  const Tally& t = seen.sectors != 0 ? seen : average;
  const double k = t.sectors != 0 ? sectors / t.sectors : 0;
  to->sectors += sectors;
  to->hits += t.hits * k;
  *below += t.sectors != 0 ? t.below * k : sectors;
  *below_lines += t.below_lines * k;
  if (site == nullptr) return;
  site->load_sectors += sectors;
  site->l1_hit_sectors += t.hits * k;
}

class Scaling {
 public:
  Scaling(const events::KernelFacts& facts, const events::LaunchCounts& counts, const Replay& replay, CacheCounts& out)
      : facts_(facts), counts_(counts), replay_(replay), out_(out) {
    for (std::size_t s = 0; s < replay.sites.size(); ++s) {
      const SiteSeen& seen = replay.sites[s];
      Tally* const to = seen.use == Use::read ? loads_ : stores_;
      if (seen.use == Use::atomic) continue;
      to[0].add(seen.global);
      to[1].add(seen.local);
      to[2].add(seen.texture);
    }
  }

  void run() {
    out_.sites.resize(facts_.sites.size());
    for (std::size_t s = 0; s < facts_.sites.size() && s < counts_.sites.size(); ++s) add(s);
  }

 private:
  void add(std::size_t s) {
    const events::Site& site = facts_.sites[s];
    const events::SiteCounts& c = counts_.sites[s];
    if (site.space == StateSpace::constant || (c.global_requests == 0 && c.local_requests == 0)) return;
    const AccessType type = events::access_type(site);
    const SiteSeen& seen = replay_.sites[s];
    if (type == AccessType::atomic || type == AccessType::reduction) {
      out_.l2_atomic_sectors += d(c.global.sectors);
      out_.sites[s].requests = d(c.global_requests);
      return;
    }
    const bool load = seen.use == Use::read && type == AccessType::load;
    const bool texture = site.kind == SiteKind::texture;
    const Tally* average = load ? loads_ : stores_;
    double* below = load ? &out_.l2_read_sectors : &out_.l2_written_sectors;
    double lines = 0;
    events::SiteCaches* of_site = load ? &out_.sites[s] : nullptr;
    add_lookups(texture ? seen.texture : seen.global, average[texture ? 2 : 0], d(c.global.sectors),
                texture ? &out_.texture
                : load  ? &out_.global_loads
                        : &out_.global_stores,
                of_site, below, &lines);
    add_lookups(seen.local, average[1], d(c.local.sectors), load ? &out_.local_loads : &out_.local_stores, of_site,
                below, &lines);
    if (load) out_.l2_read_lines += lines;
    add_requests(s, c, load, texture);
  }

  void add_requests(std::size_t s, const events::SiteCounts& c, bool load, bool texture) {
    const SiteSeen& seen = replay_.sites[s];
    Tally t = seen.global;
    t.add(seen.local);
    t.add(seen.texture);
    // A texture's instruction makes several requests.
    const double requests = texture ? d(c.requests) : d(c.global_requests + c.local_requests);
    const double k = t.requests != 0 ? requests / t.requests : 0;
    events::SiteCaches& to = out_.sites[s];
    to.requests = requests;
    to.requests_new_to_warp = t.requests != 0 ? t.fresh * k : load ? requests : 0;
    to.l1_passes = t.requests != 0 ? t.passes * k : texture ? 0 : requests;
    if (load) {
      out_.load_requests += requests;
      out_.load_requests_new_to_warp += to.requests_new_to_warp;
      out_.load_passes += to.l1_passes;
    } else {
      out_.store_requests += requests;
      out_.store_passes += to.l1_passes;
    }
  }

  const events::KernelFacts& facts_;
  const events::LaunchCounts& counts_;
  const Replay& replay_;
  CacheCounts& out_;
  Tally loads_[3], stores_[3];
};

// Without caches each transaction goes to memory.
void without_l2(const events::KernelFacts& facts, const events::LaunchCounts& counts, CacheCounts& out) {
  out.dram_read_bytes = out.texture.sectors == 0 ? 0 : 32 * (out.texture.sectors - out.texture.hits);
  for (std::size_t s = 0; s < facts.sites.size() && s < counts.sites.size(); ++s) {
    if (facts.sites[s].space == StateSpace::constant || facts.sites[s].kind == SiteKind::texture) continue;
    const double bytes = d(counts.sites[s].global.bytes_moved) + 32 * d(counts.sites[s].local.sectors);
    const AccessType type = events::access_type(facts.sites[s]);
    if (type != AccessType::store) out.dram_read_bytes += bytes;
    if (type != AccessType::load) out.dram_written_bytes += bytes;
  }
}

// L2 holds what the launch touches, or what the blocks that run at a time touch; each such wave then finds little of
// what the one before brought. Written data stays until its place is needed.
void below_l1(const GpuModel& model, const CacheSizes& sizes, const WholeGrid& grid, CacheCounts& out) {
  const events::DistinctStretches brought = grid.brought();
  const double piece = std::max(32u, model.dram_piece_bytes);
  const double pieces = piece == 64 ? brought.pieces : piece == 128 ? brought.lines : brought.sectors;
  const double capacity = d(sizes.l2_bytes);
  out.footprint_bytes = 32 * grid.touched().sectors;
  double read_again = 0;
  if (out.footprint_bytes > capacity && !grid.all_seen()) {
    const auto wave = static_cast<std::uint64_t>(sizes.resident_blocks) * model.sm_count;
    const double waves = out.blocks / d(wave), of_wave = 32 * grid.touched_by(wave);
    const double of_reads = of_wave * brought.sectors * 32 / out.footprint_bytes;
    const double spills = std::min(1.0, (out.footprint_bytes - capacity) / capacity);
    read_again = spills * std::clamp(of_reads * waves - 32 * brought.sectors, 0.0,
                                     std::max(0.0, 32 * (out.l2_read_sectors - brought.sectors)));
  }
  out.dram_read_bytes = piece * pieces + read_again;
  out.dram_written_bytes = std::max(0.0, 32 * (out.written.sectors + out.atomic_sectors) - capacity);
  const double cold = std::min(out.l2_read_sectors + out.l2_atomic_sectors, brought.sectors + read_again / 32);
  out.l2.sectors = out.l2_read_sectors + out.l2_written_sectors + out.l2_atomic_sectors;
  out.l2.hits = out.l2.sectors - cold;
  const double found = out.l2_read_sectors > 0 ? 1 - std::min(1.0, cold / out.l2_read_sectors) : 0;
  for (events::SiteCaches& s : out.sites) s.l2_hit_sectors = found * (s.load_sectors - s.l1_hit_sectors);
}

// By site: sectors that its blocks access over those that were logged, of blocks that were too long.
std::vector<double> unlogged_shares(const events::KernelFacts& facts, const events::LaunchCounts& counts,
                                    const AccessLog& log, const std::vector<SiteSeen>& sites) {
  std::vector<double> out(sites.size(), 1);
  const bool all = std::all_of(log.blocks.begin(), log.blocks.end(), [](const BlockLog& b) { return b.left_out == 0; });
  if (all || log.blocks.empty()) return out;
  const double part = d(log.blocks.size()) / d(log.grid.count());
  for (std::size_t s = 0; s < sites.size() && s < facts.sites.size() && s < counts.sites.size(); ++s) {
    const double logged = sites[s].global.sectors + sites[s].texture.sectors;
    if (logged > 0) out[s] = std::max(1.0, d(counts.sites[s].global.sectors) * part / logged);
  }
  return out;
}

}  // namespace

CacheSizes cache_sizes(const GpuModel& model, const Occupancy& occupancy) {
  CacheSizes s;
  const std::uint64_t shared = model.shared_carveouts.empty() ? 0 : occupancy.shared_config;
  s.l1_bytes = model.l1_bytes > shared ? model.l1_bytes - shared : 0;
  s.texture_bytes = model.texture_cache_bytes;
  s.l2_bytes = model.l2_bytes;
  s.resident_blocks = std::max(1u, occupancy.blocks_per_sm);
  return s;
}

CacheCounts model_caches(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                         const events::LaunchCounts& counts, const AccessLog& log) {
  CacheCounts out;
  const std::uint64_t blocks = log.grid.count();
  Replay replay(model, sizes, facts, log);
  replay.run();
  out.blocks = d(blocks);
  out.blocks_seen = replay.blocks;
  out.requests_seen = replay.requests;
  Scaling(facts, counts, replay, out).run();

  Tally loads, stores;
  for (const SiteSeen& s : replay.sites)
    for (const Tally* t : {&s.global, &s.local, &s.texture}) (s.use == Use::read ? loads : stores).add(*t);
  const double all_loads = out.global_loads.sectors + out.local_loads.sectors + out.texture.sectors;
  const double all_stores = out.global_stores.sectors + out.local_stores.sectors;
  const double load_scale = loads.sectors != 0 ? all_loads / loads.sectors : 0;
  const double store_scale = stores.sectors != 0 ? all_stores / stores.sectors : 0;
  out.read_by_block = times(replay.read_by_block, load_scale);
  out.written_by_block = times(replay.written_by_block, store_scale);
  out.constant_bytes = 64 * d(sectors_in(replay.constants.stretches()));

  const WholeGrid grid(log, blocks, replay.sites, unlogged_shares(facts, counts, log, replay.sites));
  out.read = grid.of(Use::read);
  out.written = grid.of(Use::written);
  out.atomic_sectors = grid.of(Use::atomic).sectors;
  // A sector at which two blocks meet is written by both in part, and so as a whole.
  const double met = std::max(0.0, out.written_by_block.sectors - out.written.sectors);
  out.partly_written_sectors = std::clamp(replay.partly_written * store_scale - 2 * met, 0.0, out.written.sectors);
  if (sizes.l2_bytes == 0)
    without_l2(facts, counts, out);
  else
    below_l1(model, sizes, grid, out);
  return out;
}

std::optional<CacheCounts> caches_of(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                                     const events::LaunchCounts& counts, const AccessLog& log) {
  std::call_once(log.modelled, [&] {
    if (log.blocks.empty()) return;
    log.caches = model_caches(model, sizes, facts, counts, log);
    log.blocks = {};
  });
  if (log.caches.blocks == 0) return std::nullopt;
  CacheCounts out = log.caches;
  std::uint64_t requests = 0;
  for (const events::SiteCounts& c : counts.sites) requests += c.global_requests + c.local_requests;
  if (log.requests != 0 && requests != log.requests) out.scale(d(requests) / d(log.requests));
  return out;
}

}  // namespace warpgrind::counters
