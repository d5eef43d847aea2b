// Cache model: scales the replayed blocks to the whole launch, and adds L2 and DRAM.
#include "counters/cache_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "base/as_double.h"
#include "base/assert.h"
#include "counters/cache_replay.h"
#include "counters/footprint.h"

namespace warpgrind::counters {

namespace {

using events::AccessLog;
using events::BlockLog;
using events::CacheCounts;
using events::LoggedAccess;
using events::SiteKind;

// ---- Memory that the whole launch touches

// All sites of one allocation and use whose blocks are not shifted copies of each other. Their footprint is
// extrapolated from the overlap of their blocks.
struct Irregular {
  double seen = 0;
  Stretches together;
  double counts[5] = {};  // distinct(together)
  double ones[5] = {};
  double longer = 1;  // accesses of such a block / logged accesses
  // Sectors that hold the different words of the whole launch, if each was read whole. Less cannot be moved.
  double least = 0;
  double all[5] = {};  // of the whole launch
};

void put_counts(const events::DistinctStretches& d, double counts[5]) {
  counts[0] = d.sectors;
  counts[1] = d.pieces;
  counts[2] = d.lines;
  counts[3] = d.pairs;
  counts[4] = d.quads;
}

events::DistinctStretches times(events::DistinctStretches d, double k) {
  return {d.sectors * k, d.pieces * k, d.lines * k, d.pairs * k, d.quads * k};
}

class WholeGrid {
  using Key = std::pair<std::uint64_t, unsigned>;  // allocation, use

 public:
  // counts: of the launch. longer: by site, accesses of a block / logged accesses.
  WholeGrid(const AccessLog& log, std::uint64_t blocks, const std::vector<SiteSeen>& sites,
            const events::LaunchCounts& counts, const std::vector<double>& longer)
      : log_(log), blocks_(blocks), all_seen_(log.blocks.size() >= blocks) {
    std::map<std::pair<std::uint64_t, unsigned>, std::map<std::uint64_t, Stretches>> irregular;
    struct Share {
      double sectors = 0, times = 0, least = 0;
    };
    std::map<Key, Share> shares;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const SiteSeen& site = sites[s];
      if (site.blocks.empty()) continue;
      const auto use = static_cast<unsigned>(site.use);
      WG_ASSERT(use < kUses && s < log.ranges.size() && s < longer.size());
      const auto range = log.ranges[s];
      const Key key{range.second != 0 ? range.first : array_of(site.blocks), use};
      ranges_[key] = range;
      const auto know = [&](const Stretches& what) { known_[use].insert(known_[use].end(), what.begin(), what.end()); };
      const auto seen = [&] {
        Stretches own;
        for (const BlockStretches& b : site.blocks) own.insert(own.end(), b.stretches.begin(), b.stretches.end());
        own = merged(std::move(own));
        know(own);
        return own;
      };
      if (all_seen_) {
        add_unlogged(key, seen(), longer[s]);
        continue;
      }
      std::optional<Moved> moved = find_steps(site.blocks, log.grid);
      std::optional<Stretches> all = moved ? moved_over(*moved, log.grid, blocks, range) : std::nullopt;
      if (all) {
        know(*all);
        for (const BlockStretches* b : moved->others) know(b->stretches);
        add_unlogged(key, *all, longer[s]);
        moved->others.clear();
        moved_.push_back({std::move(*moved), range, use});
        continue;
      }
      const Stretches own = seen();
      const auto sectors = static_cast<double>(sectors_in(own));
      Share& share = shares[key];
      if (s < counts.sites.size())
        share.least = std::max(share.least, least_sectors(site, as_double(counts.sites[s].global.bytes_asked)));
      share.sectors += sectors;
      share.times += longer[s] * sectors;
      auto& group = irregular[key];
      for (const BlockStretches& b : site.blocks) {
        Stretches& to = group[(b.index.z * std::uint64_t{log.grid.y} + b.index.y) * log.grid.x + b.index.x];
        to.insert(to.end(), b.stretches.begin(), b.stretches.end());
      }
    }
    for (Stretches& k : known_) k = merged(std::move(k));
    for (auto& [key, by_block] : irregular) {
      Irregular& i = irregular_[key];
      i = gather(by_block);
      const Share& share = shares[key];
      if (share.sectors > 0) i.longer = std::max(1.0, share.times / share.sectors);
      i.least = share.least;
      for (unsigned g = 0; g < 5; ++g) i.all[g] = touched_by(key, i, static_cast<double>(blocks_), g);
    }
    brought_ = united(known_[static_cast<unsigned>(Use::read)], known_[static_cast<unsigned>(Use::atomic)]);
    touched_ = united(brought_, known_[static_cast<unsigned>(Use::written)]);
    extend_unlogged();
  }

  // of(): memory with one use. brought(): memory read or updated by atomics, which DRAM must deliver.
  events::DistinctStretches of(Use use) const { return with_irregular(known_[static_cast<unsigned>(use)], {use}); }
  events::DistinctStretches brought() const { return with_irregular(brought_, {Use::read, Use::atomic}); }
  events::DistinctStretches touched() const { return with_irregular(touched_, {Use::read, Use::written, Use::atomic}); }
  // As a list for the contents of L2 between launches.
  std::vector<events::TouchedSpan> spans() const {
    constexpr std::size_t kMost = 64;
    std::vector<events::TouchedSpan> out = joined(touched_, kMost);
    const auto add = [&](const Key& key, const Stretches& seen, double sectors) {
      const auto range = ranges_.find(key)->second;
      if (range.second != 0) out.push_back({range.first, range.second, 32 * sectors});
      if (range.second == 0 && !seen.empty())
        out.push_back({seen.front().begin * 32, seen.back().end * 32, 32 * sectors});
    };
    for (const auto& [key, i] : irregular_) add(key, i.together, i.all[0]);
    for (const auto& [key, more] : more_) add(key, {}, more[0]);
    return out;
  }
  // Sectors that the first `blocks` blocks touch. Call only if !all_seen().
  double touched_by(std::uint64_t blocks) const {
    Stretches all;
    for (const auto& m : moved_)
      if (const auto some = moved_over(m.moved, log_.grid, blocks, m.range))
        all.insert(all.end(), some->begin(), some->end());
    double n = static_cast<double>(sectors_in(merged(std::move(all))));
    for (const auto& [key, i] : irregular_) {
      // Neighbours share sectors whose words each of them reads once. L2 keeps such sectors until all have read them.
      const bool once = i.least > 0 && i.all[0] <= 1.001 * i.least;
      n += once ? i.least * static_cast<double>(blocks) / static_cast<double>(blocks_)
                : touched_by(key, i, static_cast<double>(blocks), 0);
    }
    return n;
  }
  bool all_seen() const { return all_seen_; }
  // Sectors that the launch reads at least.
  double least_read() const {
    double sectors = 0;
    for (const auto& [key, i] : irregular_)
      if (key.second == static_cast<unsigned>(Use::read))
        sectors = std::max(sectors, std::min(i.least, most_of(key, 0, i.together)));
    return sectors;
  }

 private:
  struct MovedSite {
    Moved moved;
    std::pair<std::uint64_t, std::uint64_t> range;
    unsigned use;
  };

  // Address that stands for an array, whose start is unknown here. Overlapping spans count as one array.
  std::uint64_t array_of(const std::vector<BlockStretches>& blocks) {
    Stretch span{~std::uint64_t{0}, 0};
    for (const BlockStretches& b : blocks)
      span = {std::min(span.begin, b.stretches.front().begin), std::max(span.end, b.stretches.back().end)};
    for (Stretch& known : arrays_)
      if (span.begin < known.end && known.begin < span.end) {
        known.end = std::max(known.end, span.end);
        return known.begin * 32;
      }
    arrays_.push_back(span);
    return span.begin * 32;
  }

  // All sites of one allocation and use whose blocks were too long to be logged completely.
  struct Unlogged {
    Stretches together;
    double sectors = 0, times = 0;
  };
  void add_unlogged(const Key& key, const Stretches& own, double longer) {
    if (longer < 1.05 || own.empty()) return;
    Unlogged& u = unlogged_[key];
    u.together.insert(u.together.end(), own.begin(), own.end());
    u.sectors += static_cast<double>(sectors_in(own));
    u.times += longer * static_cast<double>(sectors_in(own));
  }
  // Extrapolation: the unlogged rest continues through the allocation like the logged beginning.
  void extend_unlogged() {
    for (auto& [key, u] : unlogged_) {
      u.together = merged(std::move(u.together));
      const events::DistinctStretches d = distinct(u.together);
      double counts[5];
      put_counts(d, counts);
      for (unsigned g = 0; g < 5; ++g)
        more_[key][g] =
            std::max(0.0, std::min(most_of(key, g, u.together), counts[g] * u.times / u.sectors) - counts[g]);
    }
  }
  // Upper bound: the whole allocation, or for an array of unknown extent 1.25 times the span of the blocks seen.
  double most_of(const Key& key, unsigned granularity, const Stretches& seen) const {
    WG_ASSERT(ranges_.contains(key));
    const auto range = ranges_.find(key)->second;
    const double bytes = range.second != 0 ? static_cast<double>(range.second - range.first)
                                           : 1.25 * 32 * static_cast<double>(seen.back().end - seen.front().begin);
    return bytes / (32u << granularity) + 1;
  }

  // Blocks near each other may share sectors that others do not, as those that read a matrix by columns. Their words
  // overlap only if they are read again.
  double least_sectors(const SiteSeen& site, double bytes_asked) const {
    constexpr double kWordsOfSector = 8, kSector = 32;
    const auto seen = static_cast<double>(log_.blocks.size()), blocks = static_cast<double>(blocks_);
    const double words = extrapolated(site.words_asked / seen, site.words, seen, blocks, 1e30);
    return std::min(words / kWordsOfSector, bytes_asked / kSector);
  }

  Irregular gather(std::map<std::uint64_t, Stretches>& by_block) const {
    Irregular out;
    out.seen = static_cast<double>(log_.blocks.size());
    for (auto& [block, stretches] : by_block) {
      stretches = merged(std::move(stretches));
      const events::DistinctStretches d = distinct(stretches);
      double counts[5];
      put_counts(d, counts);
      for (unsigned g = 0; g < 5; ++g) out.ones[g] += counts[g] / out.seen;
      out.together.insert(out.together.end(), stretches.begin(), stretches.end());
    }
    out.together = merged(std::move(out.together));
    put_counts(distinct(out.together), out.counts);
    return out;
  }

  // Estimated number of stretches of 32 << granularity bytes that the first `blocks` blocks touch.
  double touched_by(const Key& key, const Irregular& i, double blocks, unsigned granularity) const {
    const double most = most_of(key, granularity, i.together);
    const double logged = extrapolated(i.ones[granularity], i.counts[granularity], i.seen, blocks, most);
    const double least = i.least * blocks / static_cast<double>(blocks_) / (1u << granularity);
    return std::max(logged, std::min(most, std::max(logged * i.longer, least)));
  }

  // Estimated number of stretches of that size in the whole launch that are not in `known` (empty: all of them).
  double extra(const Key& key, const Irregular& i, unsigned granularity, const Stretches& known) const {
    const double all = i.all[granularity];
    if (known.empty()) return all;
    const auto range = ranges_.find(key)->second;
    const double most = most_of(key, granularity, i.together);
    // Assumption: the accesses of other sites are spread evenly over the allocation.
    double there = 0;
    for (const Stretch& s : known)
      if (s.begin * 32 < range.second && s.end * 32 > range.first) there += static_cast<double>(s.end - s.begin);
    const double seen = i.counts[granularity];
    there = std::max(0.0, there / (1u << granularity) - seen);
    return std::max(0.0, all - seen) * std::clamp(1 - there / std::max(1.0, most - seen), 0.0, 1.0);
  }

  events::DistinctStretches with_irregular(const Stretches& known, std::initializer_list<Use> uses) const {
    events::DistinctStretches d = distinct(known);
    double* const counts[5] = {&d.sectors, &d.pieces, &d.lines, &d.pairs, &d.quads};
    for (const auto& [key, i] : irregular_)
      for (const Use use : uses)
        if (key.second == static_cast<unsigned>(use))
          for (unsigned g = 0; g < 5; ++g) *counts[g] += extra(key, i, g, known.empty() ? i.together : known);
    for (const auto& [key, more] : more_)
      for (const Use use : uses)
        if (key.second == static_cast<unsigned>(use))
          for (unsigned g = 0; g < 5; ++g) *counts[g] += more[g];
    if (std::find(uses.begin(), uses.end(), Use::read) != uses.end())
      for (unsigned g = 0; g < 5; ++g) *counts[g] = std::max(*counts[g], least_read() / (1u << g));
    // Each size was extrapolated by itself. A stretch holds two of the next smaller ones at most.
    for (unsigned g = 1; g < 5; ++g) *counts[g] = std::max(*counts[g], *counts[g - 1] / 2);
    return d;
  }

  const AccessLog& log_;
  const std::uint64_t blocks_;
  const bool all_seen_;
  Stretches known_[kUses];
  Stretches brought_, touched_;  // of `known_`
  std::vector<Stretch> arrays_;
  std::vector<MovedSite> moved_;
  std::map<Key, Irregular> irregular_;
  std::map<Key, Unlogged> unlogged_;
  std::map<Key, std::array<double, 5>> more_;
  std::map<Key, std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

// ---- The launch

// How a launch's counts follow from those of the logged blocks: a factor of all, and one of the late ones.
struct Scale {
  double all = 0, late = 0;
  double operator()(const Tally& seen, const Tally& of_late, double Tally::*member) const {
    return seen.*member * all + of_late.*member * late;
  }
};

// member: what is known exactly of the launch, `exact`. blocks: of the launch, for each logged one. What warps did
// after their log was full is like the second half of it: at first, everything is new.
Scale scale_of(const Tally& seen, const Tally& late, double Tally::*member, double exact, double blocks) {
  constexpr double kMore = 1.1;
  if (seen.*member == 0) return {};
  const double logged = seen.*member * blocks;
  if (late.*member <= 0 || exact < kMore * logged) return {exact / (seen.*member), 0};
  return {blocks, (exact - logged) / (late.*member)};
}

// Adds a site's loads or stores of one space. `sectors` is exact; `seen` gives the shares (`average` if it is empty).
void add_lookups(const Tally& seen, const Tally& late, double blocks, const Tally& average, double sectors,
                 events::CacheLookups* to, events::SiteCaches* site, double* below, double* below_lines) {
  if (sectors == 0) return;
  const Tally& t = seen.sectors != 0 ? seen : average;
  const Scale k = scale_of(t, late, &Tally::sectors, sectors, blocks);
  const double hits = k(t, late, &Tally::hits);
  to->sectors += sectors;
  to->hits += hits;
  *below += t.sectors != 0 ? k(t, late, &Tally::below) : sectors;
  *below_lines += k(t, late, &Tally::below_lines);
  if (site == nullptr) return;
  site->load_sectors += sectors;
  site->l1_hit_sectors += hits;
}

class Scaling {
 public:
  Scaling(const events::KernelFacts& facts, const events::LaunchCounts& counts, const Replayed& replay,
          CacheCounts& out)
      : facts_(facts), counts_(counts), replay_(replay), out_(out) {
    for (std::size_t s = 0; s < replay.sites.size(); ++s) {
      const SiteSeen& seen = replay.sites[s];
      if (seen.use != Use::atomic) (seen.use == Use::read ? loads_ : stores_).add(seen);
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
    WG_ASSERT(s < replay_.sites.size() && s < out_.sites.size());
    const SiteSeen& seen = replay_.sites[s];
    add_translations(seen.global, as_double(c.global.sectors));
    if (type == AccessType::atomic || type == AccessType::reduction) {
      out_.l2_atomic_sectors += as_double(c.global.sectors);
      out_.sites[s].requests = as_double(c.global_requests);
      return;
    }
    const bool load = seen.use == Use::read && type == AccessType::load;
    const bool texture = site.kind == SiteKind::texture;
    const StateSpace space = texture ? StateSpace::texture : StateSpace::global;
    const TallyBySpace& average = load ? loads_ : stores_;
    double* below = load ? &out_.l2_read_sectors : &out_.l2_written_sectors;
    double lines = 0;
    events::SiteCaches* of_site = load ? &out_.sites[s] : nullptr;
    const double blocks = replay_.blocks > 0 ? out_.blocks / replay_.blocks : 1;
    add_lookups(seen.of(space), seen.late.of(space), blocks, average.of(space), as_double(c.global.sectors),
                texture ? &out_.texture
                : load  ? &out_.global_loads
                        : &out_.global_stores,
                of_site, below, &lines);
    add_lookups(seen.local, seen.late.local, blocks, average.local, as_double(c.local.sectors),
                load ? &out_.local_loads : &out_.local_stores, of_site, below, &lines);
    if (load) out_.l2_read_lines += lines;
    add_requests(s, c, load, texture, blocks);
  }

  // A region's first translation among the replayed blocks is neither a hit nor a miss: the blocks between them are not
  // known. The share of misses among the others holds for all.
  void add_translations(const Tally& t, double sectors) {
    const double known = t.translations - t.first_translations;
    if (t.sectors == 0 || known <= 0) return;
    out_.translation_misses += sectors / t.sectors * t.translations * t.translation_misses / known;
  }

  // Part of the loads that wait for L2: also for a site that no logged block reached.
  double average_wait() const {
    const Tally average = loads_.total();
    return average.requests != 0 ? average.fresh / average.requests : 1;
  }

  void add_requests(std::size_t s, const events::SiteCounts& c, bool load, bool texture, double blocks) {
    const Tally t = replay_.sites[s].total(), late = replay_.sites[s].late.total();
    // A texture instruction makes several requests.
    const double requests = texture ? as_double(c.requests) : as_double(c.global_requests + c.local_requests);
    const Scale k = scale_of(t, late, &Tally::requests, requests, blocks);
    events::SiteCaches& to = out_.sites[s];
    to.requests = requests;
    to.waiting_requests = t.requests != 0 ? k(t, late, &Tally::fresh) : load ? average_wait() * requests : 0;
    to.l1_passes = t.requests != 0 ? k(t, late, &Tally::passes) : texture ? 0 : requests;
    if (load) {
      out_.load_passes += to.l1_passes;
    } else {
      out_.store_passes += to.l1_passes;
    }
  }

  const events::KernelFacts& facts_;
  const events::LaunchCounts& counts_;
  const Replayed& replay_;
  CacheCounts& out_;
  TallyBySpace loads_, stores_;
};

// Without L2, each transaction goes to DRAM.
void without_l2(const events::KernelFacts& facts, const events::LaunchCounts& counts, CacheCounts& out) {
  out.dram_read_bytes = out.texture.sectors == 0 ? 0 : 32 * (out.texture.sectors - out.texture.hits);
  for (std::size_t s = 0; s < facts.sites.size() && s < counts.sites.size(); ++s) {
    if (facts.sites[s].space == StateSpace::constant || facts.sites[s].kind == SiteKind::texture) continue;
    const double bytes = as_double(counts.sites[s].global.bytes_moved) + 32 * as_double(counts.sites[s].local.sectors);
    const AccessType type = events::access_type(facts.sites[s]);
    if (type != AccessType::store) out.dram_read_bytes += bytes;
    if (type != AccessType::load) out.dram_written_bytes += bytes;
  }
}

// L2 and DRAM. L2 holds all that the launch touches, if that fits. Otherwise it holds the memory of the blocks that run
// at a time, and each such wave finds little of the memory of the one before. Written data stays in L2 until it is
// evicted.
void below_l1(const GpuModel& model, const CacheSizes& sizes, const WholeGrid& grid, CacheCounts& out) {
  const events::DistinctStretches brought = grid.brought();
  const double piece = std::max(32u, model.dram_piece_bytes);
  const double pieces = piece == 64 ? brought.pieces : piece == 128 ? brought.lines : brought.sectors;
  const double capacity = as_double(sizes.l2_bytes);
  out.footprint_bytes = 32 * grid.touched().sectors;
  double read_again = 0;
  if (out.footprint_bytes > capacity && !grid.all_seen()) {
    const auto wave = static_cast<std::uint64_t>(sizes.resident_blocks) * model.sm_count;
    const double waves = out.blocks / as_double(wave), of_wave = 32 * grid.touched_by(wave);
    const double of_reads = of_wave * brought.sectors * 32 / out.footprint_bytes;
    const double spills = std::min(1.0, (out.footprint_bytes - capacity) / capacity);
    read_again = spills * std::clamp(of_reads * waves - 32 * brought.sectors, 0.0,
                                     std::max(0.0, 32 * (out.l2_read_sectors - brought.sectors)));
  }
  out.dram_read_bytes = piece * pieces + read_again + out.constant_bytes;
  // DRAM delivers whole pieces, and each byte that the launch reads at least once: the caches are cold.
  constexpr double kRounding = 1 - 1e-9;
  WG_ASSERT(out.dram_read_bytes >= kRounding * 32 * brought.sectors);
  WG_ASSERT(out.dram_read_bytes >= kRounding * 32 * grid.least_read());
  out.dram_written_bytes = std::max(0.0, 32 * (out.written.sectors + out.atomic_sectors) - capacity);
  const double cold = std::min(out.l2_read_sectors + out.l2_atomic_sectors, brought.sectors + read_again / 32);
  out.l2.sectors = out.l2_read_sectors + out.l2_written_sectors + out.l2_atomic_sectors;
  out.l2.hits = out.l2.sectors - cold;
}

// Local memory that L2 cannot hold until it is used again goes to DRAM.
void local_below_l2(const GpuModel& model, const CacheSizes& sizes, const AccessLog& log, const Replayed& replay,
                    CacheCounts& out) {
  if (sizes.l2_bytes == 0) return;
  const double at_once = std::min(out.blocks, as_double(sizes.resident_blocks) * model.sm_count);
  const double of_word = at_once * log.warps_per_block * kWarpSize * 4, l2 = as_double(sizes.l2_bytes);
  const double loads = replay.local_reuse.loads.mean([&](double words) { return lost_loads(words * of_word, l2); });
  const double stores = replay.local_reuse.stores.mean([&](double words) { return lost_stores(words * of_word, l2); });
  out.local_dram_read = std::min(loads * out.local_loads.sectors, out.local_loads.sectors - out.local_loads.hits);
  out.local_dram_written = stores * out.local_stores.sectors;
  out.dram_read_bytes += 32 * out.local_dram_read;
  out.dram_written_bytes += 32 * out.local_dram_written;
  out.l2.hits -= std::min(out.l2.hits, out.local_dram_read);
}

// Upper bound of L1 misses: memory that fits into L1 as a whole is missed only once on each SM. Needed if blocks were
// too long to be logged: then the log has mostly their cold beginning.
void bound_misses(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts, CacheCounts& out) {
  const double most = out.read.sectors * std::min(out.blocks, as_double(model.sm_count));
  const double misses = out.global_loads.sectors - out.global_loads.hits;
  const bool around = std::any_of(facts.sites.begin(), facts.sites.end(), [](const events::Site& s) {
    return s.at_l2 || s.is_volatile || s.order != events::MemoryOrder::weak;
  });
  if (around || !model.l1_caches_global || 32 * out.read.sectors > as_double(sizes.l1_bytes) || misses <= most) return;
  const double by = most / misses;
  out.global_loads.hits = out.global_loads.sectors - most;
  out.l2_read_sectors -= std::min(out.l2_read_sectors, misses - most);
  out.l2_read_lines *= by;
  for (events::SiteCaches& s : out.sites) {
    s.l1_hit_sectors = s.load_sectors - by * (s.load_sectors - s.l1_hit_sectors);
    s.waiting_requests *= by;
  }
}

// By site: sectors that the logged blocks access / logged sectors. Above 1 only if some blocks were too long.
std::vector<double> unlogged_shares(const events::KernelFacts& facts, const events::LaunchCounts& counts,
                                    const AccessLog& log, const std::vector<SiteSeen>& sites) {
  std::vector<double> out(sites.size(), 1);
  const bool all = std::all_of(log.blocks.begin(), log.blocks.end(), [](const BlockLog& b) { return b.left_out == 0; });
  if (all || log.blocks.empty()) return out;
  const auto besides = std::count_if(log.blocks.begin(), log.blocks.end(), [](const BlockLog& b) { return b.beside; });
  const double part =
      static_cast<double>(static_cast<std::ptrdiff_t>(log.blocks.size()) - besides) / as_double(log.grid.count());
  for (std::size_t s = 0; s < sites.size() && s < facts.sites.size() && s < counts.sites.size(); ++s) {
    const double logged = sites[s].global.sectors + sites[s].texture.sectors;
    if (logged > 0) out[s] = std::max(1.0, as_double(counts.sites[s].global.sectors) * part / logged);
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
  const Replayed replay = counters::replay(model, sizes, facts, log);
  out.blocks = as_double(blocks);
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
  out.constant_bytes = 64 * as_double(sectors_in(replay.constants.stretches()));

  const bool all_logged =
      std::all_of(log.blocks.begin(), log.blocks.end(), [](const BlockLog& b) { return b.left_out == 0; });
  const WholeGrid grid(log, blocks, replay.sites, counts, unlogged_shares(facts, counts, log, replay.sites));
  out.read = grid.of(Use::read);
  out.written = grid.of(Use::written);
  out.atomic_sectors = grid.of(Use::atomic).sectors;
  out.atomics_in_unit = replay.atomics_in_unit;
  out.atomics_of_floats = replay.atomics_of_floats;
  out.spans.list = grid.spans();
  // Two adjacent blocks each write a part of the sector at their border; together they write all of it.
  const double met = std::max(0.0, out.written_by_block.sectors - out.written.sectors);
  out.partly_written_sectors = std::clamp(replay.partly_written * store_scale - 2 * met, 0.0, out.written.sectors);
  if (!all_logged) bound_misses(model, sizes, facts, out);
  if (sizes.l2_bytes == 0)
    without_l2(facts, counts, out);
  else
    below_l1(model, sizes, grid, out);
  local_below_l2(model, sizes, log, replay, out);
  return out;
}

std::optional<CacheCounts> caches_of(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                                     const events::LaunchCounts& counts, const AccessLog& log) {
  std::call_once(log.modelled, [&] {
    if (log.blocks.empty()) return;
    log.caches = model_caches(model, sizes, facts, counts, log);
    events::keep_memory(std::move(log.blocks));
  });
  if (log.caches.blocks == 0) return std::nullopt;
  CacheCounts out = log.caches;
  std::uint64_t sectors = 0;
  for (const events::SiteCounts& c : counts.sites) sectors += c.global.sectors + c.local.sectors;
  if (log.sectors != 0 && sectors != log.sectors) out.scale(as_double(sectors) / as_double(log.sectors));
  return out;
}

}  // namespace warpgrind::counters
