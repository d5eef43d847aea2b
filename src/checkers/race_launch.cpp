#include "checkers/race_launch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "checkers/kernel_place.h"

namespace warpgrind::checkers {

namespace {

using events::AccessPath;
using events::MemoryScope;

constexpr unsigned kClusterShift = 24;  // of shared offsets: each block of a cluster has 16 MiB

// Below the block's own shared memory: what the driver gives to it (device/access/access.h).
bool is_reserved(std::uint64_t offset) {
  constexpr std::int64_t kReserved = 1024;
  const auto from_own = static_cast<std::int64_t>(offset);
  return from_own < 0 && from_own >= -kReserved;
}

bool one_word(const events::Access& a) {
  if (a.type != AccessType::load || a.bytes != 4 || a.sizes || a.path != AccessPath::instruction ||
      a.order != events::MemoryOrder::weak)
    return false;
  const std::uint64_t address = a.addresses[static_cast<unsigned>(std::countr_zero(a.mask))];
  if (address % 4 != 0) return false;
  std::uint64_t differ = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) differ |= (a.mask >> l & 1) != 0 ? a.addresses[l] ^ address : 0;
  return differ == 0;
}

bool reaches(MemoryScope scope, const Record& from, const BlockOrder& to) {
  return scope != MemoryScope::cta || from.stamp.block == to.number;
}

}  // namespace

struct LaunchRaces::Step {
  const events::Access& a;
  BlockOrder& block;
  WarpOrder& warp;
  Shadow* shadow = nullptr;
  std::uint32_t record = 0;
  bool shared = false;
  std::uint64_t address = 0;  // of the lane, as the shadow knows it
};

LaunchRaces::LaunchRaces(const events::Launch& launch) : launch_(launch), order_(launch) {
  for (const events::Site& s : launch.facts->sites) {
    const bool elsewhere = s.space == StateSpace::shared || s.space == StateSpace::local;
    const bool stores = s.kind == SiteKind::store || s.kind == SiteKind::atomic || s.kind == SiteKind::reduction ||
                        s.kind == SiteKind::surface || s.kind == SiteKind::call || s.kind == SiteKind::bulk_copy;
    writes_global_ |= stores && !elsewhere;
  }
}

void LaunchRaces::end_block(std::uint64_t block) {
  if (launch_.cluster.count() > 1) return;  // others may still look at it
  shared_.erase(block);
  std::erase_if(last_, [&](const auto& e) { return std::get<1>(e.first) == block; });
  last_of_ = nullptr;
  order_.end(block);
}

// Offsets of other blocks of the cluster lie 16 MiB apart, relative to the block's own.
Shadow& LaunchRaces::shared_of(const BlockOrder& block, std::uint64_t& offset) {
  std::uint64_t owner = block.number;
  const auto apart = static_cast<std::int64_t>(offset) >> kClusterShift;
  if (apart != 0 && launch_.cluster.count() > 1) {
    owner = block.number + static_cast<std::uint64_t>(apart);
    offset &= (std::uint64_t{1} << kClusterShift) - 1;
  }
  std::unique_ptr<Shadow>& slot = shared_[owner];
  if (!slot) slot = std::make_unique<Shadow>();
  return *slot;
}

// One record for all that a warp does at a site until something may order it.
std::uint32_t LaunchRaces::record_of(Shadow& shadow, const BlockOrder& block, const events::Access& a,
                                     std::uint64_t copy) {
  const std::tuple<const Shadow*, std::uint64_t, std::uint32_t> key{&shadow, block.number, a.warp};
  if (!last_of_ || last_key_ != key) {
    last_of_ = &last_[key];
    last_key_ = key;
    if (last_of_->empty()) last_of_->resize(launch_.facts->sites.size() * 2 + 2);
  }
  const bool writes = a.type != AccessType::load;
  std::uint32_t& last = (*last_of_)[std::min<std::size_t>(a.site, launch_.facts->sites.size()) * 2 + writes];
  Stamp now = order_.stamp(block, a.warp);
  now.copy = copy;
  std::vector<Record>& records = shadow.records();
  if (last != 0) {
    const Stamp& s = records[last].stamp;
    if (s.epoch == now.epoch && s.tick == now.tick && s.weak == now.weak && s.copy == now.copy) return last;
  }
  Record r;
  r.stamp = now;
  r.site = a.site;
  r.bytes = a.sizes ? 0 : a.bytes;
  r.type = a.type;
  r.order = a.order;
  r.scope = a.scope;
  r.bulk = a.path == AccessPath::bulk_copy;
  const bool known = a.site < launch_.facts->sites.size();
  r.non_coherent = a.path == AccessPath::texture || (known && launch_.facts->sites[a.site].non_coherent);
  records.push_back(r);
  last = static_cast<std::uint32_t>(records.size() - 1);
  return last;
}

// Cache operators are no part of PTX's memory model. Programs use those that go to the L2 cache for flags between
// blocks (CUB before 2.0), where these are strong on all GPUs that there are.
void LaunchRaces::access(const events::Access& asked) {
  events::Access a = asked;
  if (a.order == events::MemoryOrder::weak && a.site < launch_.facts->sites.size() &&
      launch_.facts->sites[a.site].at_l2) {
    a.order = events::MemoryOrder::relaxed;
    a.scope = MemoryScope::gpu;
  }
  const bool shared = a.space == StateSpace::shared;
  const bool global =
      a.space == StateSpace::global || (a.space == StateSpace::texture && a.path == AccessPath::texture);
  if ((!shared && !global) || a.mask == 0) return;
  BlockOrder* const block = order_.find(linear_block(launch_, a.block));
  if (!block) return;
  WarpOrder& warp = block->warps[a.warp];
  std::uint64_t copy = 0;
  if (a.path == AccessPath::async_copy) copy = order_.copy_issued(warp, a.mask);
  if (a.path == AccessPath::bulk_copy)
    copy = a.type == AccessType::load || warp.open_copy == 0 ? order_.bulk_copy_issued(warp, a.mask) : warp.open_copy;
  if (global && !writes_global_) return;
  Step s{a, *block, warp};
  s.shared = shared;
  if (one_word(a) && !(shared && is_reserved(a.addresses[static_cast<unsigned>(std::countr_zero(a.mask))])))
    return broadcast(s, copy);
  const Shadow* recorded = nullptr;
  // Of a block without a cluster all lanes' words are in one.
  Shadow* const one = shared && launch_.cluster.count() > 1 ? nullptr
                      : shared                              ? &shared_of(*block, s.address)
                                                            : &global_;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    s.address = a.addresses[l];
    if (shared && is_reserved(s.address)) {  // of cooperative groups, whose own business its order is
      order_.strong_access(*block, a.warp, l, true, s.address, a);
      continue;
    }
    s.shadow = one ? one : &shared_of(*block, s.address);
    if (s.shadow != recorded) {
      s.record = record_of(*s.shadow, *block, a, copy);
      recorded = s.shadow;
    }
    lane(s, l);
  }
}

// A read of one word by all lanes: two of them stand for all, as one may have written the word itself.
void LaunchRaces::broadcast(Step& s, std::uint64_t copy) {
  const auto first = static_cast<unsigned>(std::countr_zero(s.a.mask));
  s.address = s.a.addresses[first];
  s.shadow = s.shared ? &shared_of(s.block, s.address) : &global_;
  s.record = record_of(*s.shadow, s.block, s.a, copy);
  Cell& c = s.shadow->cell(s.address / 4);
  if (c.read == s.record && (s.a.mask & ~c.readers) == 0) return;
  lane(s, first);
  const LaneMask rest = s.a.mask & (s.a.mask - 1);
  if (rest != 0) lane(s, static_cast<unsigned>(std::countr_zero(rest)));
  if (c.read == s.record) c.readers |= s.a.mask;
}

void LaunchRaces::lane(Step& s, unsigned l) {
  const std::uint64_t bytes = s.a.bytes_of(l);
  if (bytes == 0) return;
  const bool strong = s.a.order != events::MemoryOrder::weak;
  const std::uint64_t end = s.address + bytes;
  for (std::uint64_t at = s.address & ~std::uint64_t{3}; at < end; at += 4) {
    unsigned mask = 15;
    if (at < s.address) mask &= 15u << (s.address - at);
    if (at + 4 > end) mask &= (1u << (end - at)) - 1;
    word(s, l, at / 4, static_cast<std::uint8_t>(mask));
  }
  // After the comparison: what it acquires orders what comes later.
  if (strong)
    order_.strong_access(s.block, s.a.warp, l, s.shared, s.address, s.a);
  else if (s.a.type == AccessType::store && order_.has_variables(s.block, s.shared))
    order_.weak_write(s.block, s.shared, s.address);
}

void LaunchRaces::word(Step& s, unsigned l, std::uint64_t word, std::uint8_t bytes) {
  Cell& c = s.shadow->cell(word);
  const bool writes = s.a.type != AccessType::load;
  if (!writes && c.read == s.record && (c.readers >> l & 1) != 0 && c.read_bytes == bytes) return;
  if (c.write != 0 && (c.write_bytes & bytes) != 0)
    test(s, l, word, c.write, c.write_lane, static_cast<std::uint8_t>(c.write_bytes & bytes));
  if (c.plain != 0 && (c.plain_bytes & bytes) != 0)
    test(s, l, word, c.plain, c.plain_lane, static_cast<std::uint8_t>(c.plain_bytes & bytes));
  if (writes && c.read != 0) note_guess(s, l, c);
  if (writes) {
    if (c.read != 0 && (c.read_bytes & bytes) != 0)
      for (LaneMask m = c.readers; m != 0; m &= m - 1)
        if (test(s, l, word, c.read, static_cast<unsigned>(std::countr_zero(m)),
                 static_cast<std::uint8_t>(c.read_bytes & bytes)))
          break;
    if (c.other != 0) test(s, l, word, c.other, c.other_lane, bytes);
  }
  if (const std::vector<MoreAccess>* more = s.shadow->more(word))
    for (const MoreAccess& m : *more)
      if ((m.bytes & bytes) != 0 && (writes || m.write))
        test(s, l, word, m.record, m.lane, static_cast<std::uint8_t>(m.bytes & bytes));
  if (writes)
    update_write(s, l, word, bytes, c);
  else
    update_read(s, l, word, bytes, c);
}

// "old = *p; do { old = atomicCAS(p, old, ...) } ...": the first read may be of anything.
void LaunchRaces::note_guess(const Step& s, unsigned l, const Cell& c) {
  const Record& read = s.shadow->records()[c.read];
  const bool swap = s.a.site < launch_.facts->sites.size() &&
                    launch_.facts->sites[s.a.site].shared_atomic == SharedAtomic::swap &&
                    s.a.type == AccessType::atomic;
  const bool own = read.stamp.block == s.block.number && &s.block.warps[read.stamp.warp] == &s.warp;
  if (swap && own && (c.readers >> l & 1) != 0) guesses_.insert(read.site);
}

bool LaunchRaces::is_guess(const Race& race) const {
  const auto one = [&](const Record& read, const Record& other) {
    return !read.writes() && other.atomic() && guesses_.contains(read.site);
  };
  return one(race.first, race.second) || one(race.second, race.first);
}

void LaunchRaces::update_write(Step& s, unsigned l, std::uint64_t word, std::uint8_t bytes, Cell& c) {
  const bool was_plain = c.write != 0 && !s.shadow->records()[c.write].atomic();
  const bool atomic = s.shadow->records()[s.record].atomic();
  const auto rest = static_cast<std::uint8_t>(c.write_bytes & ~bytes);
  if (c.write != 0 && rest != 0) s.shadow->add_more(word, {c.write, c.write_lane, rest, true});
  if (!atomic) {
    c.plain = 0;
  } else if (was_plain) {
    c.plain = c.write;
    c.plain_lane = c.write_lane;
    c.plain_bytes = static_cast<std::uint8_t>(c.write_bytes & bytes);
  }
  c.write = s.record;
  c.write_lane = static_cast<std::uint8_t>(l);
  c.write_bytes = bytes;
  if (atomic) return;  // other atomics are to be held against the readers, too
  if ((c.read_bytes & ~bytes) == 0) {
    c.read = c.other = 0;
    c.readers = 0;
    c.read_bytes = 0;
  }
  if (std::vector<MoreAccess>* more = s.shadow->more(word))
    std::erase_if(*more, [&](MoreAccess& m) { return (m.bytes = static_cast<std::uint8_t>(m.bytes & ~bytes)) == 0; });
}

void LaunchRaces::update_read(Step& s, unsigned l, std::uint64_t word, std::uint8_t bytes, Cell& c) {
  if (c.read == s.record && c.read_bytes == bytes) {
    c.readers |= LaneMask{1} << l;
    return;
  }
  const std::vector<Record>& records = s.shadow->records();
  const auto over = [&](std::uint32_t record, unsigned lane) {
    return order_.ordered(records[record].stamp, lane, s.block, s.warp, l) == LaunchOrder::Order::ordered;
  };
  bool replaced = c.read == 0;
  if (!replaced && (c.read_bytes & ~bytes) == 0) {
    replaced = true;
    for (LaneMask m = c.readers; m != 0 && replaced; m &= m - 1)
      replaced = over(c.read, static_cast<unsigned>(std::countr_zero(m)));
  }
  if (replaced) {
    c.read = s.record;
    c.readers = LaneMask{1} << l;
    c.read_bytes = bytes;
    if (c.other != 0 && over(c.other, c.other_lane)) c.other = 0;
    return;
  }
  // Kernels where some readers may be ordered before a write and others not: all of them matter.
  const bool exact = order_.orders_blocks() || s.block.fine || s.warp.pairs || c.read_bytes != bytes;
  if (exact) {
    std::vector<MoreAccess>* const more = s.shadow->more(word);
    if (more)
      for (const MoreAccess& m : *more)
        if (m.record == s.record && m.lane == l && m.bytes == bytes) return;
    s.shadow->add_more(word, {s.record, static_cast<std::uint8_t>(l), bytes, false});
    return;
  }
  const std::uint64_t first = records[c.read].stamp.block;
  if (c.other == 0 || (records[c.other].stamp.block == first && s.block.number != first)) {
    c.other = s.record;
    c.other_lane = static_cast<std::uint8_t>(l);
  }
}

// Stores of what is there already, or of what another lane of the same instruction stores.
bool LaunchRaces::same_value(const Step& s, unsigned l, std::uint64_t address, std::uint8_t bytes) const {
  const events::Access& a = s.a;
  if (a.type != AccessType::store || !a.values || a.element_bytes == 0) return false;
  for (unsigned b = 0; b < 4; ++b) {
    if ((bytes >> b & 1) == 0) continue;
    const std::uint64_t at = address + b - s.address;  // in the lane's access
    const std::uint64_t element = at / a.element_bytes;
    const std::uint8_t stored = a.values[(element * kWarpSize + l) * a.element_bytes + at % a.element_bytes];
    if (*reinterpret_cast<const std::uint8_t*>(a.host + a.addresses[l] + at) != stored) return false;
  }
  return true;
}

// True: a race.
bool LaunchRaces::test(Step& s, unsigned l, std::uint64_t word, std::uint32_t before, unsigned lane,
                       std::uint8_t bytes) {
  const Record& q = s.shadow->records()[before];
  const Record& r = s.shadow->records()[s.record];
  // As nearly all are: a barrier of the block lies between them.
  if (q.stamp.epoch < s.block.epoch && q.stamp.block == s.block.number && q.stamp.copy == 0 && !r.non_coherent &&
      !r.bulk)
    return false;
  if (before == s.record && lane == l && q.stamp.copy == 0) return false;
  return test_fully(s, l, word, before, lane, bytes);
}

bool LaunchRaces::test_fully(Step& s, unsigned l, std::uint64_t word, std::uint32_t before, unsigned lane,
                             std::uint8_t bytes) {
  const Record& q = s.shadow->records()[before];
  const Record& r = s.shadow->records()[s.record];
  const std::uint64_t address = word * 4 + static_cast<unsigned>(std::countr_zero(bytes));
  Race what;
  what.shared = s.shared;
  // Read before it is written, and ordered: nothing old can be in the read-only path's cache any more.
  if (r.non_coherent && q.writes()) {
    what.kind = RaceKind::non_coherent;
    found(s, l, address, q, lane, what);
    return true;
  }
  if (q.stamp.copy != 0 && q.stamp.copy == r.stamp.copy && lane == l) return false;  // its own two sides
  const LaunchOrder::Order order = order_.ordered(q.stamp, lane, s.block, s.warp, l);
  if (order == LaunchOrder::Order::ordered) {
    if (!s.shared || !r.bulk || r.writes() || !q.writes() || q.stamp.copy != 0 ||
        order_.proxy_fenced(q.stamp, s.block, s.warp))
      return false;
    what.kind = RaceKind::proxy;
    found(s, l, address, q, lane, what);
    return true;
  }
  if (!q.writes() && r.type == AccessType::store && q.stamp.block != s.block.number && q.stamp.copy == 0 &&
      order_.follows(q.stamp, lane, s.block, s.warp.lanes[l]))
    return false;
  const bool same_warp = q.stamp.block == s.block.number && &s.block.warps[q.stamp.warp] == &s.warp;
  const bool strong = q.strong() && r.strong();
  what.sizes_differ = q.atomic() && r.atomic() && q.bytes != r.bytes;
  const bool reach = reaches(q.scope, q, s.block) && reaches(r.scope, q, s.block);
  const bool both_atomic = q.atomic() && r.atomic();
  what.volatile_lanes = strong && same_warp && s.shared && !q.atomic() && !r.atomic();
  if (strong && reach && q.bytes == r.bytes && !what.volatile_lanes) return false;
  what.only_weakly = order == LaunchOrder::Order::weakly;
  what.one_instruction = same_warp && before == s.record && (s.a.mask >> lane & 1) != 0 && lane != l &&
                         s.a.addresses[lane] == s.a.addresses[l];
  if (q.stamp.block == s.block.number) what.hint = order_.hint(q.stamp, lane, s.warp);
  if (q.stamp.copy != 0 || r.stamp.copy != 0)
    what.kind = RaceKind::async_copy;
  else if (strong && !reach)
    what.kind = RaceKind::scope;
  else if (order_.beyond_scope(q.stamp, lane, s.warp.lanes[l]))
    what.kind = RaceKind::scope;
  else if (what.one_instruction && r.type == AccessType::store) {
    const std::uint64_t size = s.a.element_bytes;
    bool same = s.a.values != nullptr;
    for (std::uint64_t b = 0; same && b < s.a.bytes; ++b) {
      const std::uint64_t element = b / size * kWarpSize;
      same = s.a.values[(element + l) * size + b % size] == s.a.values[(element + lane) * size + b % size];
    }
    what.kind = same ? RaceKind::same_value : RaceKind::plain;
  } else if (q.type == AccessType::store && r.type == AccessType::store && same_value(s, l, word * 4, bytes))
    what.kind = RaceKind::same_value;
  else if (same_warp && !both_atomic)
    what.kind = RaceKind::warp;
  found(s, l, address, q, lane, what);
  return true;
}

void LaunchRaces::found(const Step& s, unsigned l, std::uint64_t address, const Record& q, unsigned lane,
                        const Race& what) {
  const Record& r = s.shadow->records()[s.record];
  Race& race = races_[{q.site, r.site, s.shared, what.kind}];
  if (race.count == 0) {
    race = what;
    race.first = q;
    race.second = r;
    race.first_lane = lane;
    race.second_lane = l;
    race.address = address;
    const std::uint32_t been = (*last_of_)[std::min<std::size_t>(q.site, launch_.facts->sites.size()) * 2 + q.writes()];
    race.may_turn = been == 0 || s.shadow->records()[been].stamp.epoch != s.block.epoch;
  }
  ++race.count;
  if (race.last_block != s.block.number) {
    race.last_block = s.block.number;
    ++race.blocks;
  }
}

}  // namespace warpgrind::checkers
