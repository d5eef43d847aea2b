// Comparison of a launch's accesses, word by word, with the earlier ones in the shadow.
#include "checkers/race_launch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/assert.h"
#include "checkers/kernel_has.h"
#include "checkers/kernel_place.h"
#include "checkers/race_quick.h"

namespace warpgrind::checkers {

namespace {

using events::AccessPath;
using events::MemoryOrder;
using events::MemoryScope;

// Is the offset in the driver's reserved 1 KiB below the block's own shared memory (device/access/access.h)?
bool is_reserved(std::uint64_t offset) {
  constexpr std::int64_t kReserved = 1024;
  const auto from_own = static_cast<std::int64_t>(offset);
  return from_own < 0 && from_own >= -kReserved;
}

// Is it a weak load or store of whole words by an ordinary instruction? QuickAccess handles these.
bool is_plain(const events::Access& a) {
  const bool type = a.type == AccessType::load || a.type == AccessType::store;
  return type && a.bytes % 4 == 0 && !a.sizes && a.path == AccessPath::instruction && a.order == MemoryOrder::weak;
}

bool one_word(const events::Access& a) {
  if (a.type != AccessType::load || a.bytes != 4 || !is_plain(a)) return false;
  const std::uint64_t address = a.addresses[static_cast<unsigned>(std::countr_zero(a.mask))];
  if (address % 4 != 0) return false;
  std::uint64_t differ = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) differ |= (a.mask >> l & 1) != 0 ? a.addresses[l] ^ address : 0;
  return differ == 0;
}

// Whether all lanes access whole words outside reserved memory, as is_plain().
bool are_plain_words(const events::Access& a) {
  if (!is_plain(a)) return false;
  std::uint64_t low_bits = 0;
  bool reserved = false;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const std::uint64_t address = a.addresses[static_cast<unsigned>(std::countr_zero(m))];
    low_bits |= address;
    reserved |= is_reserved(address);
  }
  return low_bits % 4 == 0 && !(reserved && a.space == StateSpace::shared);
}

bool reaches(MemoryScope scope, const Record& from, const BlockOrder& to) {
  return scope != MemoryScope::cta || from.stamp.block == to.number;
}

}  // namespace

struct LaunchRaces::Step {
  const events::Access& a;
  Running& running;
  BlockOrder& block;
  WarpOrder& warp;
  Shadow* shadow = nullptr;
  std::uint32_t record = 0;
  QuickAccess* quick = nullptr;  // null: threads are compared one by one
  bool shared = false;
  std::uint64_t address = 0;  // of the lane, as the shadow counts it
};

// 0: each lane moves its own part. Fragments of wmma have a layout that PTX does not specify, so that only the same
// elements of two accumulators of one shape and type (wmma.load.c, wmma.store.d) are certainly of one lane.
std::uint8_t LaunchRaces::owner_of(const events::Site& site, std::map<std::string, std::uint8_t>& accumulators) {
  constexpr std::uint8_t kFactor = 1;  // of an A or a B fragment: only loads, which do not race with each other
  const std::string& text = site.text;
  const bool load = text.starts_with("wmma.load.");
  if (!load && !text.starts_with("wmma.store.")) return 0;
  const std::string spelling = text.substr(0, text.find(' '));
  const char fragment = spelling[load ? sizeof "wmma.load." - 1 : sizeof "wmma.store." - 1];
  if (fragment == 'a' || fragment == 'b') return kFactor;
  const std::size_t shape = spelling.find(".m");
  const std::string key =
      spelling.substr(shape, spelling.find('.', shape + 1) - shape) + spelling.substr(spelling.rfind('.'));
  return accumulators.try_emplace(key, static_cast<std::uint8_t>(kFactor + 1 + accumulators.size())).first->second;
}

LaunchRaces::LaunchRaces(const events::Launch& launch, std::unique_ptr<Shadow> global)
    : launch_(launch), order_(launch), global_(global ? std::move(global) : std::make_unique<Shadow>()) {
  bool copies = false;
  std::map<std::string, std::uint8_t> accumulators;
  for (const events::Site& s : launch.facts->sites) {
    const SiteRole role = role_of(s);
    const bool product = role == SiteRole::product || role == SiteRole::tensor_product;
    products_.push_back(product ? role : SiteRole::none);
    copies |=
        s.kind == SiteKind::bulk_copy || s.kind == SiteKind::async_copy || product || role == SiteRole::async_store;
    owners_.push_back(owner_of(s, accumulators));
  }
  writes_global_ = what_has(launch).global_writes;
  kinds_.resize(launch.facts->sites.size() * 2 + 2);
  forgets_epochs_ = !copies && launch.cluster.count() == 1;
}

void LaunchRaces::begin_block(const events::BlockEvent& e) {
  const std::uint64_t block = linear_block(launch_, e.block);
  if (!ended_.empty() && !blocks_.contains(block)) {
    ended_.back().key() = block;
    blocks_.insert(std::move(ended_.back()));
    ended_.pop_back();
  }
  std::unique_ptr<Running>& r = blocks_[block];
  if (!r) r = std::make_unique<Running>();
  if (!r->order) r->order = std::make_unique<BlockOrder>();
  order_.begin(*r->order, block);
  r->last_shared.resize(r->order->warps.size());
  r->last_global.resize(r->order->warps.size());
  r->epoch = 0;
  ++r->turn;
  r->late = forgets_epochs_ ? e.late_loads : nullptr;
  r->row = e.row;
  open_late_loads(*r);
  last_running_ = nullptr;
}

void LaunchRaces::end_block(std::uint64_t block) {
  if (launch_.cluster.count() > 1) return;  // other blocks of the cluster may still access its memory
  const auto it = blocks_.find(block);
  if (it == blocks_.end()) return;
  if (it->second->shared) it->second->shared->forget();
  ended_.push_back(blocks_.extract(it));
  last_running_ = nullptr;
  last_of_ = nullptr;
}

LaunchRaces::Running* LaunchRaces::running(std::uint64_t block) {
  if (last_running_ && last_number_ == block) return last_running_;
  const auto it = blocks_.find(block);
  if (it == blocks_.end() || !it->second->order) return nullptr;
  last_number_ = block;
  return last_running_ = it->second.get();
}

const LaunchRaces::Running* LaunchRaces::find_running(std::uint64_t block) const {
  const auto it = blocks_.find(block);
  return it == blocks_.end() || !it->second->order ? nullptr : it->second.get();
}

BlockOrder* LaunchRaces::find(std::uint64_t block) {
  Running* const r = running(block);
  return r ? r->order.get() : nullptr;
}

// Offsets of other blocks of the cluster lie 16 MiB apart, relative to the block's own.
Shadow& LaunchRaces::shared_of(Running& block, std::uint64_t& offset) {
  Running* owner = &block;
  const std::int64_t apart = events::ranks_apart(offset);
  if (apart != 0 && launch_.cluster.count() > 1) {
    std::unique_ptr<Running>& other = blocks_[block_of_cluster(launch_, block_of(launch_, block.order->number), apart)];
    if (!other) other = std::make_unique<Running>();
    owner = other.get();
    offset = events::offset_in_owner(offset);
  }
  if (!owner->shared) owner->shared = std::make_unique<Shadow>();
  return *owner->shared;
}

LaunchRaces::Last& LaunchRaces::last_of(const Shadow& shadow, Running& of, std::uint32_t warp) {
  Last& last = &shadow == global_.get()     ? of.last_global[warp]
               : &shadow == of.shared.get() ? of.last_shared[warp]
                                            : last_elsewhere_[{&shadow, of.order->number, warp}];
  if (last.empty()) last.resize(kinds_.size());
  return last;
}

// One record serves all accesses of a warp at a site, until an event may order them.
std::uint32_t LaunchRaces::record_of(Shadow& shadow, Running& of, std::uint32_t warp, const AccessKind& kind,
                                     std::uint64_t copy) {
  WG_DEBUG_ASSERT(warp < of.order->warps.size());
  last_of_ = &last_of(shadow, of, warp);
  const BlockOrder& block = *of.order;
  const WarpOrder& w = block.warps[warp];
  if (of.epoch != block.epoch) {
    of.epoch = block.epoch;
    ++of.turn;
  }
  Newest& last = (*last_of_)[slot(kind.site, kind.writes())];
  if (last.turn == of.turn && last.tick == w.tick && last.weak == w.weak && last.copy == copy) return last.record;
  if (&shadow == of.shared.get() && of.shared_turn != of.turn) {
    if (forgets_epochs_) shadow.forget();
    of.shared_turn = of.turn;
  }
  last.record = shadow.next();
  last.turn = of.turn;
  last.tick = w.tick;
  last.weak = w.weak;
  last.copy = copy;
  Record& r = shadow.add();  // set field by field, for speed: half of the cost of a kernel with few comparisons
  static_cast<AccessKind&>(r) = kind;
  r.stamp.block = block.number;
  r.stamp.copy = copy;
  r.stamp.epoch = block.epoch;
  r.stamp.tick = w.tick;
  r.stamp.weak = w.weak;
  r.stamp.warp = static_cast<std::uint8_t>(warp);
  r.stamp.owner = kind.site < owners_.size() ? owners_[kind.site] : 0;
  return last.record;
}

QuickAccess LaunchRaces::quick_of(Shadow& shadow, Running& of, const WarpOrder& warp, std::uint32_t warp_index,
                                  std::uint32_t record) const {
  QuickAccess::Of what;
  what.warp = warp_index;
  what.record = record;
  what.shared = &shadow == of.shared.get();
  what.exact = is_exact(*of.order, warp);
  what.non_coherent = shadow.record(record).non_coherent;
  what.owner = shadow.record(record).stamp.owner;
  return {shadow, *of.order, warp, what};
}

// ---- Late loads: logged from a barrier of the block until the first write to its shared memory.

void LaunchRaces::open_late_loads(Running& of) {
  constexpr std::size_t kMost = 4096;
  if (!of.late) return;
  of.late_memory.resize(kMost);
  *of.late = {of.late_memory.data(), of.late_memory.data() + kMost};
}

void LaunchRaces::process_late_loads(Running& of) {
  if (!of.late || !of.late->next) return;
  const std::size_t count = static_cast<std::size_t>(of.late->next - of.late_memory.data());
  WG_ASSERT(count <= of.late_memory.size());
  const auto& sites = launch_.facts->sites;
  const Dim3 block = block_of(launch_, of.order->number);
  for (std::size_t k = 0; k < count; ++k) {
    const events::LateLoad& l = of.late_memory[k];
    if (l.mask == 0) continue;
    events::AffineAccess a{&launch_, l.site, StateSpace::shared, block, l.warp, l.mask, l.base, l.kx, l.ky, of.row};
    WG_DEBUG_ASSERT(l.site < sites.size());
    a.bytes = sites[l.site].bytes();
    if (note(a, of)) continue;
    std::array<std::uint64_t, kWarpSize> addresses{};
    for (unsigned lane = 0; lane < kWarpSize; ++lane) addresses[lane] = a.address(lane);
    compare({&launch_, a.site, a.space, a.block, a.warp, a.mask, addresses, a.type, events::AccessPath::instruction,
             a.order, MemoryScope::none, a.bytes},
            of);
  }
  of.late->next = of.late_memory.data();
}

void LaunchRaces::process_late_loads(std::uint64_t block) {
  if (Running* const r = running(block)) process_late_loads(*r);
}

void LaunchRaces::barrier_passed(BlockOrder& block, const events::BarrierPassed& e) {
  Running* const r = running(block.number);
  const bool whole = e.site != events::BarrierPassed::kEach;
  const bool of_all = whole || order_.is_of_all(block, e.barrier);
  if (r && !of_all) process_late_loads(*r);
  if (whole)
    order_.whole_barrier(block);
  else
    order_.barrier_passed(block, e.barrier);
  if (r && of_all) open_late_loads(*r);
}

bool LaunchRaces::affine_access(const events::AffineAccess& a) {
  const bool shared = a.space == StateSpace::shared, writes = a.type != AccessType::load;
  if (a.mask == 0 || (!shared && !looks_at_global(a.site))) return true;
  Running* const r = running(linear_block(launch_, a.block));
  if (!r) return true;
  if (shared) process_late_loads(*r);
  if (shared && writes && r->late) *r->late = {};
  return note(a, *r);
}

bool LaunchRaces::note(const events::AffineAccess& a, Running& of) {
  const bool shared = a.space == StateSpace::shared, writes = a.type != AccessType::load;
  if (a.order != MemoryOrder::weak || a.bytes % 4 != 0 || (shared && launch_.cluster.count() > 1)) return false;
  const bool known = a.site < launch_.facts->sites.size();
  if (known && launch_.facts->sites[a.site].at_l2) return false;
  const BlockOrder& block = *of.order;
  const WarpOrder& warp = block.warps[a.warp];
  std::uint64_t none = 0;
  Shadow& shadow = shared ? shared_of(of, none) : *global_;
  if (writes && order_.has_variables(block, shared)) return false;
  const std::uint32_t record = record_of(shadow, of, a.warp, kind_of(a), 0);
  QuickAccess quick = quick_of(shadow, of, warp, a.warp, record);
  if (a.kx == 0 && a.ky == 0) return note_one_place(quick, a, a.base, a.mask);
  const LaneMask in_row = a.row == kWarpSize ? ~LaneMask{0} : (LaneMask{1} << a.row) - 1;
  const auto shift = static_cast<unsigned>(std::countr_zero(a.bytes / 4));
  if (!writes && a.ky == 0 && a.mask == ~LaneMask{0} && a.kx == std::int64_t{a.bytes})
    return quick.read_row(a.base / 4, a.row << shift, 0, in_row, shift, ~LaneMask{0} / in_row);
  for (unsigned lane0 = 0; lane0 < kWarpSize; lane0 += a.row)
    if (const LaneMask lanes = a.mask >> lane0 & in_row; lanes != 0 && !note_row(quick, a, lane0, lanes)) return false;
  return true;
}

// Checks an access of all `lanes` to one address.
bool LaunchRaces::note_one_place(QuickAccess& quick, const events::AffineAccess& a, std::uint64_t address,
                                 LaneMask lanes) {
  const bool writes = a.type != AccessType::load;
  WG_DEBUG_ASSERT(lanes != 0 && a.bytes % 4 == 0);
  if (writes && (lanes & (lanes - 1)) != 0) return false;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  for (std::uint64_t w = address / 4; w < address / 4 + a.bytes / 4; ++w)
    if (!(writes ? quick.write_word(w, lane) : quick.read_word(w, lanes))) return false;
  return true;
}

// Checks one row of the access. `lanes`: the active lanes of the row; bit 0 is lane0.
bool LaunchRaces::note_row(QuickAccess& quick, const events::AffineAccess& a, unsigned lane0, LaneMask lanes) {
  const bool writes = a.type != AccessType::load;
  const std::uint64_t base = a.address(lane0), first = base / 4;
  const unsigned width = a.bytes / 4;
  if (a.kx == 0) return note_one_place(quick, a, base, lanes << lane0);
  if (a.kx == std::int64_t{a.bytes}) {
    const auto shift = static_cast<unsigned>(std::countr_zero(width));
    return writes ? quick.write_row(first, a.row << shift, lane0, lanes, shift)
                  : quick.read_row(first, a.row << shift, lane0, lanes, shift, 1);
  }
  if (a.kx > std::int64_t{a.bytes} && a.kx % 4 == 0 && a.kx / 4 <= QuickAccess::kMostStride) {
    const auto stride = static_cast<unsigned>(a.kx / 4);
    return writes ? quick.write_strided(first, stride, width, lane0, lanes)
                  : quick.read_strided(first, stride, width, lane0, lanes);
  }
  return writes ? quick.write_column(base, a.kx, width, lane0, lanes)
                : quick.read_column(base, a.kx, width, lane0, lanes);
}

// Cache operators are not part of PTX's memory model. But programs use operators that access L2 for flags between
// blocks (CUB before 2.0), and such accesses are strong on all existing GPUs. So they count as relaxed at device scope.
void LaunchRaces::access(const events::Access& event) {
  events::Access a = event;
  if (a.order == events::MemoryOrder::weak && a.site < launch_.facts->sites.size() &&
      launch_.facts->sites[a.site].at_l2) {
    a.order = events::MemoryOrder::relaxed;
    a.scope = MemoryScope::gpu;
  }
  const bool shared = a.space == StateSpace::shared;
  const bool global =
      a.space == StateSpace::global || (a.space == StateSpace::texture && a.path == AccessPath::texture);
  if ((!shared && !global) || a.mask == 0 || (global && launch_.is_own(a.site))) return;
  Running* const r = running(linear_block(launch_, a.block));
  if (!r) return;
  const bool writes_shared = shared && a.type != AccessType::load;
  if (writes_shared || a.order != MemoryOrder::weak) process_late_loads(*r);
  if (writes_shared && r->late) *r->late = {};
  compare(a, *r);
}

void LaunchRaces::compare(const events::Access& a, Running& of) {
  const bool shared = a.space == StateSpace::shared;
  BlockOrder* const block = of.order.get();
  WG_DEBUG_ASSERT(a.mask != 0 && a.warp < block->warps.size());
  WarpOrder& warp = block->warps[a.warp];
  std::uint64_t copy = 0;
  if (a.path == AccessPath::async_copy) {
    if (a.type == AccessType::load) LaunchOrder::copy_reads(warp, a);
    copy = order_.copy_issued(warp, a.mask);
  }
  const SiteRole role = a.path == AccessPath::bulk_copy ? product_role(a.site) : SiteRole::none;
  if (role != SiteRole::none)
    copy = LaunchOrder::open_products(
        warp, role == SiteRole::tensor_product ? Knowledge::Unit::tcgen05 : Knowledge::Unit::wgmma);
  else if (a.path == AccessPath::instruction && shared && a.type != AccessType::load)
    copy = order_.store_issued(warp, a.site);
  else if (a.path == AccessPath::bulk_copy)
    copy = order_.bulk_copy_part(
        warp, a.site, a.mask,
        {.writes = a.type != AccessType::load, .begins = a.type == AccessType::load, .addresses = a.addresses.data()});
  else if (a.path == AccessPath::tensor_copy)
    copy = order_.bulk_copy_part(warp, a.site, a.mask,
                                 {.writes = a.type != AccessType::load,
                                  .begins = !a.continues,
                                  .continues = a.continues,
                                  .addresses = a.addresses.data()});
  if (!shared && !writes_global_) return;
  Step s{a, of, *block, warp};
  s.shared = shared;
  if (one_word(a) && !(shared && is_reserved(a.addresses[static_cast<unsigned>(std::countr_zero(a.mask))])) &&
      broadcast(s, copy))
    return;
  const AccessKind kind = kind_of(a);
  std::optional<QuickAccess> quick;
  // Without a cluster, one shadow holds the words of all lanes.
  Shadow* const one = shared && launch_.cluster.count() > 1 ? nullptr
                      : shared                              ? &shared_of(of, s.address)
                                                            : global_.get();
  if (one && are_plain_words(a) && !(a.type == AccessType::store && order_.has_variables(*block, shared))) {
    s.shadow = one;
    s.record = record_of(*one, of, a.warp, kind, copy);
    QuickAccess& all = quick.emplace(quick_of(*one, of, warp, a.warp, s.record));
    s.quick = &all;
    const bool writes = a.type == AccessType::store;
    if (writes ? all.write_scattered(a.addresses.data(), a.bytes / 4, a.mask)
               : all.read_scattered(a.addresses.data(), a.bytes / 4, a.mask))
      return;
  }
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    s.address = a.addresses[l];
    if (shared && is_reserved(s.address)) {  // memory of cooperative groups: not checked, but may order threads
      order_.strong_access(*block, a.warp, l, true, s.address, a);
      continue;
    }
    Shadow* const here = one ? one : &shared_of(of, s.address);
    if (here != s.shadow) {
      s.shadow = here;
      s.record = record_of(*here, of, a.warp, kind, copy);
      s.quick = is_plain(a) ? &quick.emplace(quick_of(*here, of, warp, a.warp, s.record)) : nullptr;
    }
    lane(s, l, role == SiteRole::product ? 0 : l);
  }
}

AccessKind LaunchRaces::kind_of(const events::Access& a) const {
  const auto& sites = launch_.facts->sites;
  const bool by_texture = a.path == AccessPath::texture;
  return {a.site,
          a.sizes ? 0 : a.bytes,
          a.type,
          a.order,
          a.scope,
          by_texture || (a.site < sites.size() && sites[a.site].non_coherent),
          a.path == AccessPath::bulk_copy || a.path == AccessPath::tensor_copy};
}

const AccessKind& LaunchRaces::kind_of(const events::AffineAccess& a) {
  const auto& sites = launch_.facts->sites;
  AccessKind& k = kinds_[slot(a.site, a.type != AccessType::load)];
  if (k.site != a.site || k.bytes != a.bytes)
    k = {a.site, a.bytes, a.type, a.order, MemoryScope::none, a.site < sites.size() && sites[a.site].non_coherent,
         false};
  return k;
}

// Read of one word by all active lanes. False: undecided.
bool LaunchRaces::broadcast(Step& s, std::uint64_t copy) {
  std::uint64_t address = s.a.addresses[static_cast<unsigned>(std::countr_zero(s.a.mask))];
  Shadow* const shadow = s.shared ? &shared_of(s.running, address) : global_.get();
  s.shadow = shadow;
  s.record = record_of(*s.shadow, s.running, s.a.warp, kind_of(s.a), copy);
  return quick_of(*s.shadow, s.running, s.warp, s.a.warp, s.record).read_word(address / 4, s.a.mask);
}

// in_event: the lane in the event; l: the lane that the access counts for. A warp's wgmma counts for lane 0.
void LaunchRaces::lane(Step& s, unsigned in_event, unsigned l) {
  const std::uint64_t bytes = s.a.bytes_of(in_event);
  if (bytes == 0) return;
  const bool strong = s.a.order != events::MemoryOrder::weak;
  const std::uint64_t end = s.address + bytes;
  for (std::uint64_t at = s.address & ~std::uint64_t{3}; at < end; at += 4) {
    unsigned mask = 15;
    if (at < s.address) mask &= 15u << (s.address - at);
    if (at + 4 > end) mask &= (1u << (end - at)) - 1;
    word(s, l, at / 4, static_cast<std::uint8_t>(mask));
  }
  // After the comparison, because an acquire orders only later accesses.
  if (strong)
    order_.strong_access(s.block, s.a.warp, l, s.shared, s.address, s.a);
  else if (s.a.type == AccessType::store && order_.has_variables(s.block, s.shared))
    order_.weak_write(s.block, s.shared, s.address);
}

void LaunchRaces::word(Step& s, unsigned l, std::uint64_t word, std::uint8_t bytes) {
  const bool writes = s.a.type != AccessType::load;
  if (s.quick && bytes == 15 && (writes ? s.quick->write_word(word, l) : s.quick->read_word(word, LaneMask{1} << l)))
    return;
  Line& line = s.shadow->by_word(word);
  const auto in_line = static_cast<unsigned>(word % Line::kWords);
  Cell c = line.get(in_line, s.shadow->none());
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
  if (const MoreList* more = s.shadow->more(line, word))
    for (const MoreAccess& m : more->all())
      if ((m.bytes & bytes) != 0 && (writes || m.write))
        test(s, l, word, m.record, m.lane, static_cast<std::uint8_t>(m.bytes & bytes));
  if (writes)
    update_write(s, l, {line, word, bytes}, c);
  else
    update_read(s, l, {line, word, bytes}, c);
  line.put(in_line, c);
}

// "old = *p; do { old = atomicCAS(p, old, ...) } ...": the first read may return any value.
void LaunchRaces::note_guess(const Step& s, unsigned l, const Cell& c) {
  const Record& read = s.shadow->record(c.read);
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

void LaunchRaces::update_write(Step& s, unsigned l, const PartOfWord& what, Cell& c) {
  const std::uint8_t bytes = what.bytes;
  WG_DEBUG_ASSERT(bytes != 0 && bytes <= 15 && l < kWarpSize);
  const bool was_plain = c.write != 0 && !s.shadow->record(c.write).atomic();
  const bool atomic = s.shadow->record(s.record).atomic();
  const auto rest = static_cast<std::uint8_t>(c.write_bytes & ~bytes);
  if (c.write != 0 && rest != 0) s.shadow->add_more(what.line, what.word, {c.write, c.write_lane, rest, true});
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
  if (atomic) return;  // keep the readers: later atomics must be compared with them, too
  if ((c.read_bytes & ~bytes) == 0) {
    c.read = c.other = 0;
    c.readers = 0;
    c.read_bytes = 0;
  }
  if (MoreList* more = s.shadow->more(what.line, what.word)) more->forget(bytes);
}

void LaunchRaces::update_read(Step& s, unsigned l, const PartOfWord& what, Cell& c) {
  const std::uint8_t bytes = what.bytes;
  WG_DEBUG_ASSERT(bytes != 0 && bytes <= 15 && l < kWarpSize);
  if (c.read == s.record && c.read_bytes == bytes) {
    c.readers |= LaneMask{1} << l;
    return;
  }
  const Shadow& shadow = *s.shadow;
  const auto over = [&](std::uint32_t record, unsigned lane) {
    return order_.ordered(shadow.record(record).stamp, lane, s.block, s.warp, l, shadow.record(s.record).stamp.owner) ==
           LaunchOrder::Order::ordered;
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
  // If some readers may be ordered before a write and others not, all of them must be kept.
  const bool exact = is_exact(s.block, s.warp) || c.read_bytes != bytes;
  if (exact) {
    if (const MoreList* const more = s.shadow->more(what.line, what.word))
      for (const MoreAccess& m : more->all())
        if (m.record == s.record && m.lane == l && m.bytes == bytes) return;
    s.shadow->add_more(what.line, what.word, {s.record, static_cast<std::uint8_t>(l), bytes, false});
    return;
  }
  const std::uint64_t first = shadow.record(c.read).stamp.block;
  if (c.other == 0 || (shadow.record(c.other).stamp.block == first && s.block.number != first)) {
    c.other = s.record;
    c.other_lane = static_cast<std::uint8_t>(l);
  }
}

// Does the lane store the value that memory has already?
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

// True: a race, or a pair of sites that has kEnough races already.
bool LaunchRaces::test(Step& s, unsigned l, std::uint64_t word, std::uint32_t before, unsigned lane,
                       std::uint8_t bytes) {
  const Record& q = s.shadow->record(before);
  const Record& r = s.shadow->record(s.record);
  // The usual case: a barrier of the block lies between them.
  if (q.stamp.epoch < s.block.epoch && q.stamp.block == s.block.number && q.stamp.copy == 0 && !r.non_coherent &&
      !r.bulk)
    return false;
  if (before == s.record && lane == l && q.stamp.copy == 0) return false;
  // Flags and counters: two strong accesses do not race, ordered or not.
  const bool may_be_volatile = s.shared && !q.atomic() && !r.atomic();
  if (q.strong() && r.strong() && !may_be_volatile && !r.non_coherent && !r.bulk && q.bytes == r.bytes &&
      reaches(q.scope, q, s.block) && reaches(r.scope, q, s.block))
    return false;
  if (!enough_.empty() && enough_.contains(pair(q.site, r.site, s.shared))) return true;
  return test_fully(s, l, word, before, lane, bytes);
}

bool LaunchRaces::test_fully(Step& s, unsigned l, std::uint64_t word, std::uint32_t before, unsigned lane,
                             std::uint8_t bytes) {
  const Record& q = s.shadow->record(before);
  const Record& r = s.shadow->record(s.record);
  WG_ASSERT(bytes != 0 && bytes <= 15);
  const std::uint64_t address = word * 4 + static_cast<unsigned>(std::countr_zero(bytes));
  Race what;
  what.shared = s.shared;
  // A write before a non-coherent read is an error even if ordered: the read-only cache may hold old data. A read
  // before an ordered write is not.
  if (r.non_coherent && q.writes()) {
    what.kind = RaceKind::non_coherent;
    found(s, l, address, q, lane, what);
    return true;
  }
  if (q.stamp.copy != 0 && (q.stamp.copy | 1) == (r.stamp.copy | 1) && lane == l)
    return false;  // the two sides of one copy
  const LaunchOrder::Order order = order_.ordered(q.stamp, lane, s.block, s.warp, l, r.stamp.owner);
  const bool same_warp = q.stamp.block == s.block.number && &s.block.warps[q.stamp.warp] == &s.warp;
  // wgmma.fence orders the accesses of its warp before its products.
  const bool by_fence = r.stamp.is_product() && !r.stamp.is_tensor() && same_warp && q.stamp.copy == 0;
  if (order == LaunchOrder::Order::ordered || by_fence) {
    if (!r.bulk || !q.writes() || q.stamp.copy != 0 || (r.writes() && q.atomic())) return false;
    const Running* const writers = q.stamp.block == s.block.number ? &s.running : find_running(q.stamp.block);
    if (order_.proxy_fenced(q.stamp, lane, writers ? writers->order.get() : nullptr, s.shared, s.block, s.warp, l))
      return false;
    what.kind = RaceKind::proxy;
    found(s, l, address, q, lane, what);
    return true;
  }
  if (!q.writes() && r.type == AccessType::store && q.stamp.block != s.block.number && q.stamp.copy == 0 &&
      order_.follows(q.stamp, lane, s.block, s.warp.lanes[l]))
    return false;
  const bool strong = q.strong() && r.strong();
  what.sizes_differ = q.atomic() && r.atomic() && q.bytes != r.bytes;
  const bool reach = reaches(q.scope, q, s.block) && reaches(r.scope, q, s.block);
  const bool both_atomic = q.atomic() && r.atomic();
  what.volatile_lanes = strong && same_warp && s.shared && !q.atomic() && !r.atomic();
  if (strong && reach && q.bytes == r.bytes && !what.volatile_lanes) return false;
  what.only_weakly = order == LaunchOrder::Order::weakly;
  what.one_instruction = same_warp && before == s.record && (s.a.mask >> lane & 1) != 0 && lane != l &&
                         s.a.addresses[lane] == s.a.addresses[l];
  if (q.stamp.block == s.block.number) what.hint = order_.hint(q.stamp, lane, s.block, s.warp);
  const bool both_copy = same_warp && q.site == r.site && q.bulk && r.bulk && q.stamp.copy != 0 && lane != l &&
                         q.type == AccessType::store && r.type == AccessType::store;
  if (q.stamp.is_product() || (r.stamp.is_product() && q.stamp.copy == 0))
    what.kind = RaceKind::product;
  else if (both_copy && LaunchOrder::copies_the_same(s.warp, q.stamp, lane, l))
    what.kind = RaceKind::same_value;
  else if (what.one_instruction && s.a.path == AccessPath::async_copy && q.stamp.copy != 0 &&
           LaunchOrder::reads_the_same(s.warp, s.a.site, lane, l))
    what.kind = RaceKind::same_value;
  else if (q.stamp.copy != 0 || r.stamp.copy != 0)
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
  const Record& r = s.shadow->record(s.record);
  Race& race = races_[{q.site, r.site, s.shared, what.kind}];
  if (race.count == 0) {
    race = what;
    race.first = q;
    race.second = r;
    race.first_lane = lane;
    race.second_lane = l;
    race.address = address;
    race.barrier_between = q.stamp.block == s.block.number && q.stamp.epoch < s.block.epoch;
    race.may_turn = !race.barrier_between && (*last_of_)[slot(q.site, q.writes())].turn != s.running.turn;
    if (q.stamp.copy != 0 && q.stamp.block == s.block.number)
      race.copy_waited = order_.ordered(q.stamp, lane, s.block, s.block.warps[q.stamp.warp], lane, q.stamp.owner) ==
                         LaunchOrder::Order::ordered;
    const auto warp = static_cast<std::uint32_t>(&s.warp - s.block.warps.data());
    if (q.stamp.copy != 0 && !q.stamp.is_product()) race.wrong_wait = order_.wrong_wait(q.stamp, s.block.number, warp);
    race.async_store = q.stamp.copy != 0 && order_.is_async_store(q.site);
    if (q.stamp.copy == 0) {
      race.lacks_acquire = LaunchOrder::lacks_acquire(q.stamp, lane, s.block, s.warp.lanes[l]);
      if (s.shared && q.stamp.block == s.block.number)
        race.others_arrive = order_.wait_without_arrival(q.stamp, lane, s.block.number, warp);
    }
  }
  if (race.count == 0 && on_race_) on_race_(*this, race);
  if (++race.count == kEnough) enough_.insert(pair(q.site, r.site, s.shared));
  if (race.last_block != s.block.number) {
    race.last_block = s.block.number;
    ++race.blocks;
  }
}

}  // namespace warpgrind::checkers
