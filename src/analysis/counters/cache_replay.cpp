// Replay of logged blocks through L1, the texture cache, and the merging of requests to L2.
#include "counters/cache_replay.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "counters/hot_atomics.h"
#include "counters/request_lines.h"
#include "counters/sectored_cache.h"
#include "counters/translation_cache.h"
#include "events/barriers.h"

namespace warpgrind::counters {

namespace {

using events::AccessLog;
using events::BlockLog;
using events::LoggedAccess;
using events::SiteKind;

// The upper `bits` bits of a hash of a line's number.
std::uint64_t hashed(std::uint64_t line, unsigned bits) {
  return line * 0x9e3779b97f4a7c15u >> (64 - bits);
}

// Sectors that a warp has touched recently: a cache of 64 sets and 4 ways. Most warps touch few lines, and these lie
// together: all warps of an SM have a filter, and tables would be read from the host's outer caches.
class WarpFilter {
 public:
  bool touch(std::uint64_t line, std::uint8_t mask) {  // true: some of it is new
    if (spilled_) return table_->touch(line, mask);
    std::uint32_t equal = 0, in_set = 0;
    const std::uint8_t set = set_of(line);
    for (unsigned k = 0; k < kFew; ++k) {
      equal |= static_cast<std::uint32_t>(lines_[k] == line) << k;
      in_set |= static_cast<std::uint32_t>(set_[k] == set) << k;
    }
    const std::uint32_t there = (1u << count_) - 1;
    equal &= there;
    unsigned place = count_;
    std::uint8_t known = 0;
    if (equal != 0) {
      place = static_cast<unsigned>(std::countr_zero(equal));
      known = sectors_[place];
    } else if (count_ == kFew || std::popcount(in_set & there) == kWays) {
      spill();
      return table_->touch(line, mask);
    } else {
      ++count_;
    }
    for (; place > 0; --place) {  // the last one touched comes first
      lines_[place] = lines_[place - 1];
      sectors_[place] = sectors_[place - 1];
      set_[place] = set_[place - 1];
    }
    lines_[0] = line;
    sectors_[0] = known | mask;
    set_[0] = set;
    return (mask & ~known) != 0;
  }
  void clear() {
    count_ = 0;
    spilled_ = false;
  }

 private:
  static constexpr unsigned kSets = 64, kWays = 4;  // room for several requests with 32 different lines
  static constexpr unsigned kFew = 16;
  static std::uint8_t set_of(std::uint64_t line) { return static_cast<std::uint8_t>(hashed(line, 6)); }
  struct Table {
    std::uint64_t line[kSets][kWays];
    std::uint8_t sectors[kSets][kWays];
    bool touch(std::uint64_t of, std::uint8_t mask) {
      const std::uint8_t set = set_of(of);
      std::uint64_t* const lines = line[set];
      std::uint8_t* const there = sectors[set];
      const auto way = static_cast<unsigned>(std::find(lines, lines + kWays, of) - lines);
      const std::uint8_t known = way < kWays ? there[way] : 0;
      for (unsigned w = std::min(way, kWays - 1); w > 0; --w) lines[w] = lines[w - 1], there[w] = there[w - 1];
      lines[0] = of;
      there[0] = known | mask;
      return (mask & ~known) != 0;
    }
  };
  void spill() {
    if (!table_) table_ = std::make_unique<Table>();
    std::fill(&table_->line[0][0], &table_->line[0][0] + kSets * kWays, ~std::uint64_t{0});
    for (unsigned k = count_; k-- != 0;) table_->touch(lines_[k], sectors_[k]);
    spilled_ = true;
  }

  std::uint64_t lines_[kFew] = {};
  std::uint8_t sectors_[kFew] = {}, set_[kFew] = {};
  unsigned count_ = 0;
  bool spilled_ = false;
  std::unique_ptr<Table> table_;
};

// The line of a site's last request to one address, and those of its sectors that such requests have touched. If the
// next one touches only these, its memory is known.
struct RepeatedPlace {
  std::uint64_t line = ~std::uint64_t{0};
  std::uint8_t sectors = 0;
  std::uint8_t passes = 0;
};

// What the replay needs to know of a site at each access.
struct SiteRules {
  bool at_l2 = false;  // its accesses bypass L1, whatever they are
  bool bulk_copy = false, async_copy = false, non_coherent = false;
  bool acquires = false;  // for other SMs
};

struct RunningBlock {
  const BlockLog* log = nullptr;
  // order: accesses by warp, if there are several; next, half, end: positions in it, of each warp
  std::vector<std::uint32_t> order, next, half, end;
  std::vector<std::uint32_t> turns;  // warps in the order of their turns
  std::vector<WarpFilter> filters;
  std::vector<SectorSet> sets;  // by site, without local memory
  std::vector<RepeatedPlace> places;
  std::vector<std::uint32_t> used_sites;
  SectorSet of_local[2];  // local memory that is read, written
  LocalWords local;       // of one of its warps
  BitPages partly;        // written bytes of partly written sectors
  std::size_t left = 0;

  const LoggedAccess& access(std::uint32_t at) const { return log->accesses[log->taken.size() == 1 ? at : order[at]]; }
};

// Sectors that an SM has asked L2 for lately. Their data may be on its way. 16 bytes for each line: the table is read
// at random places, and has to stay in the host's first cache.
class RecentMisses {
 public:
  void note(std::uint64_t line, std::uint8_t sectors, std::uint64_t turn) {
    Miss& m = place(line);
    const std::uint64_t passed = turn - m.turn;
    if (m.line != line || passed >= kTurns)
      m.ages = kLongAgo;
    else if (passed != 0)
      m.ages = older(m.ages, static_cast<unsigned>(passed));
    m.line = line;
    m.turn = turn & kTurnBits;
    m.ages &= static_cast<std::uint16_t>(~kBits[sectors & 15]);
  }
  // A warp makes about so many requests while one of them waits for L2.
  static constexpr std::uint64_t kTurns = 8;
  bool on_its_way(std::uint64_t line, std::uint8_t sectors, std::uint64_t turn) {
    const Miss& m = place(line);
    const std::uint64_t passed = turn - m.turn;
    if (m.line != line || passed >= kTurns) return false;
    return (older(m.ages, static_cast<unsigned>(passed)) & kBits[sectors & 15]) != kBits[sectors & 15];
  }

 private:
  static constexpr unsigned kPlaceBits = 10;
  static constexpr std::uint64_t kTurnBits = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint16_t kLongAgo = 0xffff;
  static constexpr std::uint16_t kBits[16] = {0x0000, 0x000f, 0x00f0, 0x00ff, 0x0f00, 0x0f0f, 0x0ff0, 0x0fff,
                                              0xf000, 0xf00f, 0xf0f0, 0xf0ff, 0xff00, 0xff0f, 0xfff0, 0xffff};
  struct Miss {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t turn : 48 = 0;  // of the last request
    std::uint64_t ages : 16 =
        kLongAgo;  // of each sector, four bits: turns from its request to the last one; 15: long ago
  };
  // The ages some turns later, less than kTurns.
  static std::uint16_t older(std::uint64_t ages, unsigned turns) {
    std::uint64_t out = 0;
    for (unsigned at = 0; at < 16; at += 4) {
      const std::uint64_t age = (ages >> at & 15) + turns;
      out |= (age < kTurns ? age : 15) << at;
    }
    return static_cast<std::uint16_t>(out);
  }
  Miss& place(std::uint64_t line) { return places_[hashed(line, kPlaceBits)]; }
  std::vector<Miss> places_ = std::vector<Miss>(std::size_t{1} << kPlaceBits);
};

// An SM has blocks [begun, end) of a list still to begin.
struct Sm {
  RecentMisses recent;
  SectoredCache l1{0}, texture{0};
  SectoredCache stored{0};  // recently stored lines: a store hits them, a load does not
  TranslationCache translations{0, 0};
  std::vector<RunningBlock> running;
  std::size_t begun = 0, end = 0, slots = 0;
};

// Last SM of a group that requested a line from L2.
struct LastRequest {
  std::uint64_t line = ~std::uint64_t{0};
  std::uint64_t turn : 48 = 0;
  std::uint64_t sm : 12 = 0;
  std::uint64_t sectors : 4 = 0;
};

// A logged block and the SM that runs it.
struct PlacedBlock {
  std::uint64_t group, sm;
  const BlockLog* log;
};

// What the replay of one launch leaves for that of the next: memory and turns, no content. A small launch takes 0.1 ms,
// and allocating and filling all this takes as long.
struct ReplayMemory {
  static constexpr unsigned kRequestBits = 10;
  std::vector<PlacedBlock> blocks;
  std::vector<Sm> sms;
  std::vector<LastRequest> last_requests = std::vector<LastRequest>(std::size_t{1} << kRequestBits);
  std::uint64_t now = 0;  // turn; it only grows, so that entries of earlier launches are old
  Stretches touched[2];   // by the block that ends: read, written

  static std::unique_ptr<ReplayMemory> take();
  static void give(std::unique_ptr<ReplayMemory> memory);

 private:
  static constexpr std::size_t kMostKept = 4;
  struct Kept {
    std::mutex mutex;
    std::vector<std::unique_ptr<ReplayMemory>> memory;
  };
  static Kept& kept() {
    static Kept& all = *new Kept;  // never destroyed: launches may end while the process exits
    return all;
  }
};

std::unique_ptr<ReplayMemory> ReplayMemory::take() {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  if (all.memory.empty()) return std::make_unique<ReplayMemory>();
  std::unique_ptr<ReplayMemory> out = std::move(all.memory.back());
  all.memory.pop_back();
  return out;
}

void ReplayMemory::give(std::unique_ptr<ReplayMemory> memory) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  if (all.memory.size() < kMostKept) all.memory.push_back(std::move(memory));
}

constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint64_t kLocalBase = std::uint64_t{1} << 48;

class Replay : public Replayed {
 public:
  Replay(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts, const AccessLog& log)
      : model_(model),
        sizes_(sizes),
        facts_(facts),
        log_(log),
        whole_lines_(model.rules.coalescing == CoalescingRule::lines_128),
        groups_{model.sm_parts, model.sms_sharing_requests},
        memory_(ReplayMemory::take()),
        barriers_(events::has_barriers(facts)),
        parts_matter_(log.blocks.size() < log.grid.count()),
        hot_(log.grid.count(), std::uint64_t{sizes.resident_blocks} * model.sm_count, !parts_matter_) {
    sites.resize(facts.sites.size());
    rules_.reserve(facts.sites.size());
    for (const events::Site& s : facts.sites) rules_.push_back(rules_of(s));
  }

  void run() {
    const std::uint64_t sms = std::max(1u, model_.sm_count);
    std::vector<PlacedBlock>& placed = memory_->blocks;
    placed.clear();
    memory_->now += 2 * RecentMisses::kTurns;  // nothing of earlier launches is on its way
    for (const BlockLog& b : log_.blocks) {
      if (b.beside) {
        look_beside(b);
        continue;
      }
      const std::uint64_t sm = events::sm_of_block(b.block, sms);
      placed.push_back({groups_.of(sm), sm, &b});
    }
    std::sort(placed.begin(), placed.end(), [](const PlacedBlock& a, const PlacedBlock& b) {
      return std::tie(a.group, a.sm, a.log->block) < std::tie(b.group, b.sm, b.log->block);
    });
    std::size_t most = 1;  // logged blocks that run on an SM at one time
    for (std::size_t k = 0; k < placed.size(); k = end_of_sm(k)) most = std::max(most, end_of_sm(k) - k);
    most = std::min<std::size_t>(most, sizes_.resident_blocks);
    const std::uint64_t there = std::min<std::uint64_t>(sizes_.resident_blocks, (log_.grid.count() + sms - 1) / sms);
    part_ = std::min(1.0, static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(1, there)));
    for (std::size_t k = 0; k < placed.size();) k = run_group(k);
    atomics_in_unit = hot_.in_unit();
    atomics_of_floats = hot_.of_floats();
    for (SiteSeen& s : sites) {
      s.add(s.late);
      if (!parts_matter_ && !s.blocks.empty()) merge_from(0, s.blocks.front().stretches);
    }
    ReplayMemory::give(std::move(memory_));
  }

 private:
  // Capacity for stored lines. It is unknown how long L1 keeps them. On an H200 a store hits only what other warps
  // store at about the same time (87 % of it, tests/data/h200, offset_copy).
  static constexpr std::uint64_t kStoredBytes = 16384;
  // Empties the caches. If fewer blocks were logged than an SM runs at a time, they get only their part of its caches.
  void empty(Sm& sm) const {
    const auto part = [&](std::uint64_t bytes) {
      return static_cast<std::uint64_t>(part_ * static_cast<double>(bytes));
    };
    sm.l1.reset(part(sizes_.l1_bytes));
    sm.texture.reset(part(sizes_.texture_bytes));
    sm.stored.reset(std::min(sizes_.l1_bytes, kStoredBytes));
    sm.translations.reset(static_cast<std::size_t>(model_.timing.translation_entries),
                          static_cast<std::uint64_t>(model_.timing.translation_entry_bytes));
  }

  // The blocks of one SM, of which `first` is the first, end there.
  std::size_t end_of_sm(std::size_t first) const {
    const std::vector<PlacedBlock>& placed = memory_->blocks;
    std::size_t end = first + 1;
    while (end < placed.size() && placed[end].group == placed[first].group && placed[end].sm == placed[first].sm) ++end;
    return end;
  }

  // Replays SMs that share requests to L2, in lockstep. first: their first block. Returns the end of their blocks.
  std::size_t run_group(std::size_t first) {
    const std::vector<PlacedBlock>& placed = memory_->blocks;
    std::vector<Sm>& sms = memory_->sms;
    std::size_t n = 0, live = 0, next = first;
    for (; next < placed.size() && placed[next].group == placed[first].group; ++n) {
      if (sms.size() == n) sms.emplace_back();
      const std::size_t end = end_of_sm(next);
      live += start(sms[n], next, end);
      next = end;
    }
    while (live != 0) {
      ++memory_->now;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t ended = turn(sms[i], i);
        WG_ASSERT(ended <= live);
        live -= ended;
      }
    }
    return next;
  }

  std::size_t start(Sm& sm, std::size_t first, std::size_t end) {
    empty(sm);
    sm.slots = std::min<std::size_t>(std::max(1u, sizes_.resident_blocks), end - first);
    if (sm.running.size() < sm.slots) sm.running.resize(sm.slots);
    sm.begun = first;
    sm.end = end;
    for (std::size_t s = 0; s < sm.slots; ++s) begin(sm.running[s], *memory_->blocks[sm.begun++].log);
    return sm.slots;
  }

  // Each warp of the SM makes one request. Returns the number of slots that became empty.
  std::size_t turn(Sm& sm, std::size_t number) {
    std::size_t ended = 0;
    for (std::size_t s = 0; s < sm.slots; ++s) {
      RunningBlock& b = sm.running[s];
      if (b.log == nullptr) continue;
      turn(sm, b, number, s);
      if (b.left != 0) continue;
      finish(b);
      if (sm.begun < sm.end)
        begin(b, *memory_->blocks[sm.begun++].log);
      else
        ++ended;
    }
    return ended;
  }

  void begin(RunningBlock& b, const BlockLog& log) {
    b.log = &log;
    const std::size_t warps = log.taken.size();
    b.next.assign(warps, 0);
    b.half.assign(warps, 0);
    b.end.assign(warps, 0);
    std::uint32_t at = 0;
    for (std::size_t w = 0; w < warps; ++w) {
      b.next[w] = b.end[w] = at;
      b.half[w] = at + log.taken[w] / 2;
      at += log.taken[w];
    }
    WG_ASSERT(at == log.accesses.size());  // BlockLog::taken counts them by warp
    if (warps == 1) {
      b.end[0] = at;
    } else {
      if (b.order.size() < at) b.order.resize(at);
      for (std::size_t i = 0; i < log.accesses.size(); ++i)
        b.order[b.end[log.accesses[i].warp]++] = static_cast<std::uint32_t>(i);
    }
    if (b.filters.size() < warps) b.filters.resize(warps);
    for (std::size_t w = 0; w < warps; ++w) b.filters[w].clear();
    shuffle(b.turns, warps, log.block);
    if (b.sets.size() < sites.size()) b.sets.resize(sites.size());
    b.places.assign(sites.size(), {});
    b.left = log.accesses.size();
    if (log_.local_bytes > 0) b.local.begin(log_.local_bytes);
  }

  // Random order of the warps. Adjacent warps come in either order on hardware: of the stores to one line on an H200,
  // 57 % came in the order of warp numbers (tests/data/h200, offset_copy).
  static void shuffle(std::vector<std::uint32_t>& turns, std::size_t warps, std::uint64_t block) {
    turns.resize(warps);
    for (std::uint32_t w = 0; w < warps; ++w) turns[w] = w;
    for (std::size_t w = warps; w > 1; --w) std::swap(turns[w - 1], turns[events::mixed(block * 64 + w) % w]);
  }

  // Each warp makes its next request.
  void turn(Sm& sm, RunningBlock& b, std::size_t number, std::size_t slot) {
    for (const std::uint32_t w : b.turns) {
      if (b.next[w] == b.end[w]) continue;
      do {
        access(sm, b, b.access(b.next[w]++), number * 64 + slot);
        --b.left;
      } while (b.next[w] != b.end[w] && !b.access(b.next[w]).first);  // one texture instruction
    }
  }

  // Only records the memory that the block touches; does not use the caches.
  void look_beside(const BlockLog& log) {
    RunningBlock b;
    b.log = &log;
    b.sets.resize(sites.size());
    for (const LoggedAccess& e : log.accesses) {
      if (e.space == StateSpace::constant || e.space == StateSpace::local) continue;
      RequestLines lines;
      find_lines(log_, log, e, e.bytes, 0, &lines);
      sites[e.site].use = use_of(e.type);
      note(b, e, lines);
    }
    keep_sets(b);
  }

  // If all blocks were logged, all memory of a site is one entry; run() merges it.
  void keep_sets(RunningBlock& b) {
    for (const std::uint32_t s : b.used_sites) {
      SiteSeen& seen = sites[s];
      if (parts_matter_ || seen.blocks.empty()) seen.blocks.push_back({b.log->index, {}});
      Stretches& to = seen.blocks.back().stretches;
      const auto first = static_cast<std::ptrdiff_t>(to.size());
      b.sets[s].append_to(to);
      b.sets[s].clear();
      if (seen.use == Use::atomic) continue;
      Stretches& all = memory_->touched[seen.use == Use::written ? 1 : 0];
      all.insert(all.end(), to.begin() + first, to.end());
    }
    b.used_sites.clear();
  }

  void finish(RunningBlock& b) {
    ++blocks;
    Stretches* const touched = memory_->touched;
    for (unsigned w = 0; w < 2; ++w) {
      touched[w].clear();
      if (b.of_local[w].empty()) continue;
      b.of_local[w].append_to(touched[w]);
      b.of_local[w].clear();
    }
    keep_sets(b);
    for (unsigned w = 0; w < 2; ++w) merge_from(0, touched[w]);
    read_by_block.add(distinct(touched[0]));
    written_by_block.add(distinct(touched[1]));
    if (log_.local_bytes > 0 && b.log->left_out == 0) b.local.end(local_reuse);
    b.partly.each([&](const BitPages::Page& p) { partly_written += p.bits != ~0u ? 1 : 0; });
    b.partly.clear();
    b.log = nullptr;
  }

  void access(Sm& sm, RunningBlock& b, const LoggedAccess& e, std::size_t slot) {
    WG_DEBUG_ASSERT(e.site < facts_.sites.size() && e.warp < b.filters.size());
    const SiteRules& site = rules_[e.site];
    SiteSeen& seen = sites[e.site];
    ++requests;
    const bool one_place = e.space == StateSpace::global && !e.lanes && e.kx == 0 && e.ky == 0;
    if (one_place && repeat(sm, b, e, seen)) return;
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
    if (seen.use == Use::atomic && e.space == StateSpace::global) note_atomic(b, e);
    if (e.space == StateSpace::local && e.warp == b.log->block % log_.warps_per_block) note_local(b, e);
    Tally& tally = (is_late(b, e) ? seen.late : seen).of(e.space);
    if (e.first) ++tally.requests;
    look_up(sm, b, e, site, lines, slot / 64, tally);
    // An acquire invalidates L1, so that other SMs' writes are seen. In a waiting loop only the last one counts: the
    // next access of the warp is at another site.
    if (site.acquires && !waits_on(b, e)) sm.l1.clear();
    if (!site.bulk_copy) tally.passes += passes(b, e, seen);  // the others go around L1's banks
    note(b, e, lines);
    if (one_place) remember(b, e, site, lines);
  }

  // A request to sectors of its site's last one: as access(), without what is known. Threads that walk through arrays
  // make mostly such requests. False: it is no such request, or a load that misses; nothing has changed then.
  bool repeat(Sm& sm, RunningBlock& b, const LoggedAccess& e, SiteSeen& seen) {
    const RepeatedPlace& place = b.places[e.site];
    const std::uint8_t mask = sectors_of(e);
    if (place.line != e.base / kLineBytes || (mask & ~place.sectors) != 0) return false;
    const bool load = e.type == AccessType::load;
    Tally& tally = (is_late(b, e) ? seen.late : seen).global;
    const int count = std::popcount(mask);
    if (load) {
      if (!sm.l1.touch(place.line, mask)) return false;
      if (b.filters[e.warp].touch(place.line, mask) && e.first && waits_for_others(sm, place.line, mask)) ++tally.fresh;
      tally.hits += count;
    } else {
      const std::uint8_t found = sm.l1.look_up(place.line, mask, false);
      tally.hits += hits_stored(sm, place.line) ? count : std::popcount(found);
      std::uint64_t region = ~std::uint64_t{0};
      translate(sm, place.line * kLineBytes, &region, tally);
      tally.below += count;
      ++tally.below_lines;
      note_partly(b, e);
    }
    if (e.first) ++tally.requests;
    tally.sectors += count;
    tally.passes += place.passes;
    return true;
  }

  // The access is the last one that its warp has made.
  static bool is_late(const RunningBlock& b, const LoggedAccess& e) {
    return b.log->left_out != 0 && b.next[e.warp] > b.half[e.warp];
  }

  void remember(RunningBlock& b, const LoggedAccess& e, const SiteRules& site, const RequestLines& lines) {
    const bool simple = (e.type == AccessType::load || e.type == AccessType::store) && !goes_around(e, site, false) &&
                        !site.non_coherent && !site.acquires && !whole_lines_ && !parts_matter_ && lines.count == 1;
    if (!simple) return;
    RepeatedPlace& place = b.places[e.site];
    const std::uint8_t known = place.line == lines.line[0] ? place.sectors : 0;
    place = {lines.line[0], static_cast<std::uint8_t>(known | lines.sectors[0]),
             static_cast<std::uint8_t>(passes_of_one_place(e))};
  }

  // Sectors of the line of an access to one address.
  static std::uint8_t sectors_of(const LoggedAccess& e) {
    const auto first = static_cast<unsigned>(e.base / 32 % 4);
    const auto last = std::min(3u, first + static_cast<unsigned>((e.base % 32 + e.bytes - 1) / 32));
    return static_cast<std::uint8_t>(((2u << last) - 1) & ~((1u << first) - 1));
  }

  // Whether sectors of L1 that are new to a warp are still on their way. The replay lets warps pass barriers: what they
  // then bring too early counts as on its way.
  bool waits_for_others(Sm& sm, std::uint64_t line, std::uint8_t sectors) const {
    return barriers_ || sm.recent.on_its_way(line, sectors, memory_->now);
  }

  void look_up(Sm& sm, RunningBlock& b, const LoggedAccess& e, const SiteRules& site, const RequestLines& lines,
               std::size_t number, Tally& tally) {
    const bool load = e.type == AccessType::load, local = e.space == StateSpace::local;
    const bool texture = e.space == StateSpace::texture || (site.non_coherent && sizes_.texture_bytes != 0);
    const bool own = texture && sizes_.texture_bytes != 0;
    const bool around = goes_around(e, site, texture);
    bool fresh = false;
    std::uint64_t region = ~std::uint64_t{0};
    for (unsigned i = 0; i < lines.count; ++i) {
      std::uint8_t mask = lines.sectors[i];
      const bool unknown = load && b.filters[e.warp].touch(lines.line[i], mask);
      tally.sectors += std::popcount(mask);
      std::uint8_t found = 0;
      if (!around) {
        if (whole_lines_ && load && !own) mask = 0xf;  // Fermi fetches lines
        found = (own ? sm.texture : sm.l1).look_up(lines.line[i], mask, load || local);
        if (!load && !local && hits_stored(sm, lines.line[i])) found = mask;
      }
      tally.hits += std::popcount(static_cast<std::uint8_t>(found & lines.sectors[i]));
      auto under = static_cast<std::uint8_t>(load ? mask & ~found : mask);
      if (load) {
        fresh |= under != 0 || (unknown && waits_for_others(sm, lines.line[i], lines.sectors[i]));
        if (under != 0) sm.recent.note(lines.line[i], under, memory_->now);
      }
      if (under != 0 && e.space == StateSpace::global) translate(sm, lines.line[i] * kLineBytes, &region, tally);
      if (load && under != 0 && groups_.together > 1 && !local)
        under &= static_cast<std::uint8_t>(~requested_by_others(lines.line[i], under, number));
      const int below = std::popcount(under);
      tally.below += below;
      tally.below_lines += below != 0 ? 1 : 0;
    }
    if (fresh && e.first) ++tally.fresh;
  }

  // These bypass L1: atomics, and accesses that must see other SMs' stores.
  static bool goes_around(const LoggedAccess& e, const SiteRules& site, bool texture) {
    if (e.type != AccessType::load && e.type != AccessType::store) return true;
    if (e.space == StateSpace::local || texture) return false;
    return site.at_l2 || (site.async_copy && e.bytes == 16);
  }
  SiteRules rules_of(const events::Site& s) const {
    const bool copies = s.kind == SiteKind::bulk_copy;
    return {s.at_l2 || s.is_volatile || s.order != events::MemoryOrder::weak || copies || !model_.l1_caches_global,
            copies, s.kind == SiteKind::async_copy, s.non_coherent,
            events::acquires(s.order) && s.scope != events::MemoryScope::cta};
  }

  // Stores hit by line: after a store to a part of the line, another warp's store to the rest hits.
  static bool hits_stored(Sm& sm, std::uint64_t line) { return sm.stored.look_up(line, 0xf, true) != 0; }

  // L1 works with virtual addresses, so only what goes on to L2 is translated. `region`: the one before, of this
  // request.
  static void translate(Sm& sm, std::uint64_t address, std::uint64_t* region, Tally& tally) {
    const std::uint64_t of = sm.translations.region(address);
    if (of == *region) return;
    *region = of;
    ++tally.translations;
    const TranslationCache::Found found = sm.translations.look_up(address);
    if (found == TranslationCache::Found::first) ++tally.first_translations;
    if (found == TranslationCache::Found::replaced) ++tally.translation_misses;
  }

  static bool waits_on(const RunningBlock& b, const LoggedAccess& e) {
    const std::uint32_t next = b.next[e.warp];
    return next != b.end[e.warp] && b.access(next).site == e.site;
  }

  // Returns the sectors that another SM of the group requests in the same turn: L2 gets one request for both.
  std::uint8_t requested_by_others(std::uint64_t line, std::uint8_t mask, std::size_t number) {
    LastRequest& a = memory_->last_requests[hashed(line, ReplayMemory::kRequestBits)];
    if (a.line == line && a.turn == memory_->now) {
      const auto theirs = static_cast<std::uint8_t>(a.sm != number ? a.sectors & mask : 0);
      a.sectors |= mask;
      return theirs;
    }
    a.line = line;
    a.turn = memory_->now;
    a.sm = number;
    a.sectors = mask;
    return 0;
  }

  double passes(const RunningBlock& b, const LoggedAccess& e, SiteSeen& seen) {
    if (e.space == StateSpace::texture) return 0;
    if (e.space == StateSpace::local) return std::max(1, e.bytes / 4);
    if (const unsigned known = passes_of_one_place(e)) return known;
    const LoggedAccess& l = seen.last;
    if (!e.lanes && !l.lanes && l.mask == e.mask && l.kx == e.kx && l.ky == e.ky && l.mask != 0 &&
        (l.base & 127) == (e.base & 127))
      return seen.last_passes;
    seen.last = e;
    seen.last_passes = bank_passes(log_, *b.log, e, e.bytes);
    return seen.last_passes;
  }

  // Records the memory that the access touches.
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
        if (!local)
          of_site.add(first, first + run);
        else if (use_of(e.type) != Use::atomic)
          b.of_local[use_of(e.type) == Use::written ? 1 : 0].add(first, first + run);
        at += run;
        m >>= skip + run;
      }
    // A bulk copy's entries hold whole sectors.
    const bool copy = rules_[e.site].bulk_copy;
    if (e.type == AccessType::store && !local && !copy) note_partly(b, e);
    if (e.type == AccessType::load && e.space == StateSpace::global && parts_matter_) note_words(b, e, lines);
  }

  // By the first lane; the others mostly use the same words of theirs.
  void note_local(RunningBlock& b, const LoggedAccess& e) {
    const std::uint64_t offset = e.base + (e.lanes ? b.log->offsets[static_cast<std::size_t>(e.kx)] : 0);
    for (unsigned byte = 0; byte < e.bytes; byte += 4)
      b.local.use(offset + byte, e.type == AccessType::store, local_reuse);
  }

  void note_atomic(const RunningBlock& b, const LoggedAccess& e) {
    std::uint64_t addresses[kWarpSize];
    std::uint8_t lanes[kWarpSize];
    const unsigned n = lane_addresses(log_, *b.log, e, addresses, lanes);
    const events::Site& site = facts_.sites[e.site];
    const auto has = [&](const char* type) { return site.text.find(type) != std::string::npos; };
    using Words = HotAtomics::Words;
    const Words words = has(".f64") ? Words::doubles : has(".f") || has(".bf") ? Words::floats : Words::integers;
    const bool one_place = !e.lanes && e.kx == 0 && e.ky == 0;
    hot_.note(b.log->block, addresses, n, one_place && words == Words::integers, words);
  }

  // Records the words of a load that does not use all bytes of its sectors. Blocks may share sectors, and yet read each
  // byte once.
  void note_words(const RunningBlock& b, const LoggedAccess& e, const RequestLines& lines) {
    constexpr std::size_t kMostWords = 1u << 20;
    constexpr std::uint64_t kWord = 4, kOfPage = 64;
    SiteSeen& seen = sites[e.site];
    const std::uint64_t asked = std::uint64_t{e.bytes} * static_cast<std::uint64_t>(std::popcount(e.mask));
    if (asked >= std::uint64_t{32} * lines.sector_count()) return;
    if (noted_words_ >= kMostWords) {
      seen.words_asked = seen.words = 0;
      return;
    }
    if (words_.empty()) words_.resize(sites.size());
    std::uint64_t addresses[kWarpSize];
    std::uint8_t lanes[kWarpSize];
    const unsigned n = lane_addresses(log_, *b.log, e, addresses, lanes);
    for (unsigned i = 0; i < n; ++i)
      for (std::uint64_t w = addresses[i] / kWord; w <= (addresses[i] + e.bytes - 1) / kWord; ++w) {
        std::uint64_t& page = words_[e.site].bits(w / kOfPage);
        const std::uint64_t bit = 1ull << (w % kOfPage);
        seen.words_asked += 1;
        if ((page & bit) == 0) seen.words += 1, ++noted_words_;
        page |= bit;
      }
  }

  // Records the written bytes of sectors that a store does not cover completely.
  void note_partly(RunningBlock& b, const LoggedAccess& e) {
    const std::uint32_t bytes = e.bytes;
    const bool side_by_side = !e.lanes && e.mask == kFullMask && e.kx == bytes &&
                              (log_.row == kWarpSize || e.ky == std::int64_t{bytes} * log_.row);
    if (side_by_side && e.base % 32 == 0) return;
    const auto bytes_of = [&](std::uint64_t address) {
      return bytes >= 32 ? ~0u : ((1u << bytes) - 1) << address % 32;
    };
    if (!e.lanes && e.kx == 0 && e.ky == 0) {
      b.partly.bits(e.base / 32) |= bytes_of(e.base);
      return;
    }
    const auto add_range = [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t stop = std::min(end, (at | 31) + 1), n = stop - at;
        const std::uint32_t of_run = n == 32 ? ~0u : ((1u << n) - 1) << at % 32;
        b.partly.bits(at / 32) |= of_run;
        at = stop;
      }
    };
    if (bytes <= 32 && each_run(log_, e, bytes, add_range)) return;
    std::uint64_t addresses[kWarpSize];
    std::uint8_t lanes[kWarpSize];
    const unsigned n = lane_addresses(log_, *b.log, e, addresses, lanes);
    std::uint64_t sector = ~std::uint64_t{0};
    std::uint32_t mask = 0;
    const auto put = [&] {
      if (mask != 0) b.partly.bits(sector) |= mask;
    };
    for (unsigned i = 0; i < n; ++i) {
      if (addresses[i] / 32 != sector) {
        put();
        sector = addresses[i] / 32;
        mask = 0;
      }
      mask |= bytes_of(addresses[i]);
    }
    put();
  }

  const GpuModel& model_;
  const CacheSizes& sizes_;
  const events::KernelFacts& facts_;
  const AccessLog& log_;
  const bool whole_lines_;
  const events::SmGroups groups_;
  double part_ = 1;
  std::unique_ptr<ReplayMemory> memory_;
  std::vector<SiteRules> rules_;  // by site
  const bool barriers_;
  const bool parts_matter_;      // not all blocks were logged
  std::vector<BitPages> words_;  // by site; see note_words()
  HotAtomics hot_;
  std::size_t noted_words_ = 0;
};

}  // namespace

Replayed replay(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                const events::AccessLog& log) {
  Replay all(model, sizes, facts, log);
  all.run();
  Replayed& counts = all;
  return std::move(counts);
}

}  // namespace warpgrind::counters
