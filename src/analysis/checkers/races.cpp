// Checker of races within one launch: in shared memory, and in global memory within and between blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "base/demangle.h"
#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_has.h"
#include "checkers/kernel_place.h"
#include "checkers/launch_states.h"
#include "checkers/race_launch.h"
#include "checkers/repairs.h"
#include "checkers/site_roles.h"
#include "checkers/turns.h"
#include "checkers/warp_paths.h"

namespace warpgrind::checkers {

namespace {

using results::Finding;
using results::FindingAccess;
using results::Severity;

const char* verb(const Record& r) {
  if (r.stamp.is_product()) return r.stamp.is_tensor() ? "asynchronous read by tcgen05" : "asynchronous read by wgmma";
  if (r.stamp.copy != 0) return r.writes() ? "asynchronous write" : "asynchronous read";
  if (r.atomic()) return "atomic";
  if (r.non_coherent) return "read through the read-only cache";
  return r.writes() ? "write" : "read";
}

const char* hazard(const Race& race) {
  if (race.first.writes()) return race.second.writes() ? "write after write" : "read after write";
  return "write after read";
}

std::string kind_of(const Race& race) {
  switch (race.kind) {
    case RaceKind::warp:
      return "race-warp";
    case RaceKind::scope:
      return "race-scope";
    case RaceKind::async_copy:
      return "race-async-copy";
    case RaceKind::product:
      return race.first.stamp.is_tensor() || race.second.stamp.is_tensor() ? "race-tcgen05" : "race-wgmma";
    case RaceKind::proxy:
      return "race-proxy";
    case RaceKind::same_value:
      return "race-same-value";
    case RaceKind::non_coherent:
      return "nc-violation";
    case RaceKind::plain:
      break;
  }
  return race.shared ? "race-shared" : "race-global";
}

Severity severity_of(const Race& race) {
  if (race.kind == RaceKind::same_value) return Severity::info;
  if (race.kind == RaceKind::proxy && race.second.writes()) return Severity::warning;
  return race.kind == RaceKind::warp ? Severity::warning : Severity::error;
}

std::string plural(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string place_of(const FindingAccess& a) {
  return a.line != 0 ? fmt::format("line {}", a.line) : fmt::format("PTX line {}", a.ptx_line);
}

// How an asynchronous operation is waited for.
struct AsyncWait {
  const char* wait;
  const char* why;
  Repair repair;
};

AsyncWait wait_of(const Race& race) {
  if (race.first.stamp.is_tensor())
    return {
        "tcgen05.commit and a wait for its mbarrier",
        "tcgen05.commit and then a wait for its mbarrier, because tcgen05.mma and tcgen05.cp read shared memory until "
        "that phase is over",
        Repair::tensor_commit};
  if (race.first.stamp.is_product())
    return {"wgmma.wait_group", "wgmma.wait_group, because wgmma reads its matrices in shared memory until then",
            Repair::products_wait};
  if (!race.first.bulk)
    return {"cp.async.wait_group", "cp.async.wait_group (or an mbarrier at which the copy arrives)", Repair::none};
  // A bulk copy to global memory completes in its bulk group, one to shared memory on its mbarrier.
  if (race.shared == race.first.writes())
    return {"a wait for the copy's mbarrier", "the wait (mbarrier.try_wait, cuda::barrier::wait)", Repair::copy_wait};
  if (race.shared)
    return {"cp.async.bulk.wait_group.read", "cp.async.bulk.wait_group.read before the buffer is written again",
            Repair::store_read_wait};
  return {"cp.async.bulk.wait_group", "cp.async.bulk.wait_group (without .read: that waits for the source only)",
          Repair::store_wait};
}

// Text for the missing wait, if the first access is an asynchronous operation that may not be complete.
std::string missing_wait(const Race& race, const std::string& between) {
  const bool product = race.first.stamp.is_product();
  const bool own = race.first.stamp.block == race.second.stamp.block &&
                   race.first.stamp.warp == race.second.stamp.warp && (product || race.first_lane == race.second_lane);
  const auto [wait, why, repair] = wait_of(race);
  const bool warpgroup = product && !race.first.stamp.is_tensor();
  const char* const who = warpgroup ? "warpgroup of the wgmma" : product ? "thread of the tcgen05" : "copying thread";
  const char* const said = warpgroup ? wait : "the end of its phase";
  if (race.wrong_wait.kind == WrongWait::Kind::early_phase)
    return fmt::format(
        "bytes in expect_tx: the phase of the mbarrier was over before this copy, because fewer bytes were announced "
        "than copied; announce all bytes of the phase {}",
        between);
  if (own && !race.barrier_between)
    return fmt::format("{} {}: {} says that the {} is complete", wait, between, product ? said : why,
                       product ? "reading of the matrices" : "copy");
  if (race.copy_waited)
    return fmt::format("a barrier after {}, {}: {} is for the {} that executes it, others need a barrier after that",
                       wait, between, product ? said : why, warpgroup ? "warpgroup" : "thread");
  if (race.barrier_between)
    return fmt::format("{} before the barrier {}: the {} needs {}{}", wait, between, who, why,
                       product ? "" : ", because a barrier does not wait for copies");
  return fmt::format("{} and then a barrier {}: the {} needs {}, other threads the barrier after that", wait, between,
                     who, why);
}

// Text for the missing synchronisation that would order the two accesses.
std::string missing_edge(const Race& race, const FindingAccess& first, const FindingAccess& second, bool next_turn,
                         bool in_one_cluster, const std::string& arrival_wait) {
  const bool one_block = race.first.stamp.block == race.second.stamp.block;
  const bool one_place = place_of(first) == place_of(second) && first.file == second.file;
  const char* const later = next_turn ? " of the loop's next iteration" : "";
  // The line of a place, with its file if the other place is in another one.
  const auto place = [&](const FindingAccess& a) {
    const bool of_file = first.file != second.file && a.line != 0 && !a.file.empty();
    return of_file ? fmt::format("{} of {}", place_of(a), a.file.substr(a.file.rfind('/') + 1)) : place_of(a);
  };
  const std::string between =
      first.line == second.line && first.ptx_line == second.ptx_line && first.file == second.file
          ? fmt::format("at {}", place_of(first))
      : one_place && first.access != second.access
          ? fmt::format("between the {} and the {} of {}{}", first.access, second.access, place_of(first),
                        next_turn ? " in the loop's next iteration" : "")
      : first.file != second.file && next_turn
          ? fmt::format("between {} and {}, in the loop's next iteration", place(first), place(second))
          : fmt::format("between {} and {}{}", place(first), place(second), later);
  if (race.kind == RaceKind::non_coherent)
    return "no synchronisation helps here: a kernel must not write memory that it reads through the read-only cache "
           "(__ldg, const __restrict__, textures)";
  if (race.first.stamp.copy != 0 && race.kind == RaceKind::same_value)
    return "no synchronisation helps here: the lanes of one instruction have no order; let only one of them copy "
           "(elect.sync)";
  if (race.async_store)
    return fmt::format(
        "a wait for the mbarrier of the st.async {}: only the end of its phase says that the data is there", between);
  if (race.first.stamp.copy != 0) return missing_wait(race, between);
  if (race.kind == RaceKind::proxy)
    return fmt::format(
        "fence.proxy.async {}, by the writing thread before the barrier: {} uses the async proxy, so without this "
        "fence "
        "{}",
        between,
        race.second.stamp.is_tensor()    ? "tcgen05"
        : race.second.stamp.is_product() ? "wgmma"
                                         : "the copy",
        race.second.writes() ? "its write may come before this one" : "it may not see the written values");
  if (race.lacks_acquire)
    return fmt::format(
        "an acquire {}: a relaxed operation (volatile, an atomic function) has read the flag that the other thread set "
        "after a fence, and orders nothing by itself; it needs {} behind it, or ld.acquire instead",
        between, one_block ? "__threadfence_block()" : "__threadfence()");
  if (race.kind == RaceKind::scope)
    return "device scope: the synchronisation has block scope (.cta, *_block, __threadfence_block()), but the threads "
           "are in different blocks";
  if (race.one_instruction)
    return "no synchronisation helps here: the lanes of one instruction have no order; let only one of them store";
  if (race.sizes_differ)
    return "atomics of the same width: atomics of different widths on the same bytes are not atomic to each other";
  if (race.kind == RaceKind::product && one_block && race.second.stamp.is_tensor())
    return fmt::format(
        "fence.proxy.async by the writing thread and then __syncthreads() {}: one thread issues tcgen05, which reads "
        "what "
        "other threads have written, by the async proxy",
        between);
  if (race.kind == RaceKind::product && one_block)
    return fmt::format(
        "fence.proxy.async by the writing thread and then __syncthreads() {}: wgmma reads what other threads of the "
        "warpgroup have written, by the async proxy",
        between);
  if (race.others_arrive && (race.kind == RaceKind::plain || race.kind == RaceKind::async_copy))
    return fmt::format(
        "an arrival of the first thread behind its {}, at the mbarrier that the second one waits for at {}: only other "
        "threads arrive there, which does not order this {}; let each thread arrive, or let these threads wait for "
        "each other before one of them arrives",
        first.access, arrival_wait, first.access);
  if (race.kind == RaceKind::async_copy && one_block && race.first.stamp.warp == race.second.stamp.warp)
    return fmt::format(
        "__syncthreads() {}: the copy touches what another thread has accessed (for lanes of one warp alone, "
        "__syncwarp() is enough)",
        between);
  if (race.kind == RaceKind::warp && race.first.stamp.owner != race.second.stamp.owner)
    return fmt::format(
        "__syncwarp() {}: which lane moves an element of a wmma fragment is not specified, so any lane of the warp may "
        "have accessed it",
        between);
  if (race.kind == RaceKind::warp)
    return race.only_weakly
               ? fmt::format("__syncwarp() {}: a shuffle or vote orders these lanes, but it is not a memory barrier",
                             between)
               : fmt::format(
                     "__syncwarp() {}: the lanes of a warp do not run in lockstep (independent thread scheduling){}",
                     between, race.volatile_lanes ? "; volatile does not order them" : "");
  if (one_block) return fmt::format("__syncthreads() {}", between);
  if (race.shared)
    return fmt::format(
        "cluster.sync() {}: the blocks of a cluster share this memory, and only barrier.cluster (arrive, then wait) "
        "makes "
        "one block wait for another; __syncthreads() is for one block",
        between);
  if (in_one_cluster)
    return fmt::format(
        "cluster.sync() {}: both blocks are in one cluster (between other blocks: a release and an acquire at device "
        "scope, grid.sync(), or two kernels)",
        between);
  return fmt::format(
      "synchronisation of two blocks {}: a release and an acquire at device scope (__threadfence() and a flag, "
      "cuda::atomic), grid.sync(), or two kernels instead of one",
      between);
}

// Text for the shared variable at `address`, if the site's address origins contain it.
std::string shared_object(const events::Launch& launch, std::uint32_t site, std::uint64_t address) {
  using Kind = events::AddressOrigin::Kind;
  if (site < launch.facts->sites.size())
    for (const events::AddressOrigin& o : launch.facts->sites[site].origins) {
      const bool dynamic = o.kind == Kind::dynamic_shared;
      if ((o.kind != Kind::shared && !dynamic) || address < o.offset) continue;
      if (!dynamic && address - o.offset >= o.bytes) continue;
      return fmt::format("byte {} of `{}` ({})", address - o.offset, plain_name(o.name),
                         dynamic ? "dynamic shared memory" : "shared variable");
    }
  return fmt::format("byte {} of shared memory", address);
}

// Relation of the elements that one thread accesses at the two sites, from the registers of the addresses.
enum class Elements : std::uint8_t { same, neighbours, unknown };
Elements elements_of(const events::Launch& launch, const Race& race) {
  const auto address = [&](std::uint32_t site) -> const ptx::Operand* {
    if (site >= launch.facts->sites.size()) return nullptr;
    const events::Site& s = launch.facts->sites[site];
    const ptx::Function* const f = find_body(*launch.module, s.function);
    if (!f || s.instruction >= f->body.size()) return nullptr;
    for (const ptx::Operand& o : f->body[s.instruction].operands)
      if (o.kind == ptx::OperandKind::address) return &o;
    return nullptr;
  };
  const ptx::Operand *const a = address(race.first.site), *const b = address(race.second.site);
  if (!a || !b || a->base != b->base || a->index != b->index) return Elements::unknown;
  if (launch.facts->sites[race.first.site].function != launch.facts->sites[race.second.site].function)
    return Elements::unknown;
  return a->offset == b->offset ? Elements::same : Elements::neighbours;
}

std::string advice_of(const events::Launch& launch, const Race& race, const FindingAccess& first,
                      const FindingAccess& second) {
  if (race.kind == RaceKind::proxy || (race.kind == RaceKind::product && race.first.stamp.copy == 0))
    return in_cpp(Repair::proxy_fence);
  if (race.wrong_wait.kind == WrongWait::Kind::early_phase) return in_cpp(Repair::expect_bytes);
  if (race.first.stamp.copy != 0 && race.kind == RaceKind::same_value) return "";
  if (race.async_store) return in_cpp(Repair::copy_wait);
  if (race.first.stamp.copy != 0) return in_cpp(wait_of(race).repair);
  if (race.kind == RaceKind::async_copy && race.others_arrive) return in_cpp(Repair::arrival);
  if (race.kind != RaceKind::plain) return "";
  if (race.lacks_acquire) return "";
  if (race.others_arrive) return in_cpp(Repair::arrival);
  if (race.shared && race.first.stamp.block != race.second.stamp.block) return in_cpp(Repair::cluster_sync);
  if (race.first.atomic() != race.second.atomic()) return "make both accesses atomic, or put a barrier between them";
  const bool one_line = first.line != 0 && first.line == second.line && first.file == second.file;
  if (!one_line || race.one_instruction || race.first.writes() == race.second.writes()) return "";
  const char* const apart =
      race.shared ? "read into a local variable, then __syncthreads(), then write; or write to a second array"
                  : "write to a second array, because the blocks of a kernel do not wait for each other";
  switch (elements_of(launch, race)) {
    case Elements::same:
      return "if all threads must update this element, use atomicAdd() or another atomic operation";
    case Elements::neighbours:
      return fmt::format("a thread reads an element that another thread writes: {}", apart);
    case Elements::unknown:
      break;
  }
  return fmt::format(
      "if all threads must update one element, use atomicAdd() or another atomic operation; if each thread reads "
      "elements that others write: {}",
      apart);
}

// Note on synchronisation that seems to order the accesses, but does not.
std::string hint_of(const Race& race, const events::Launch& launch) {
  if (race.hint.kind == Hint::Kind::none || race.hint.site >= launch.facts->sites.size()) return "";
  const std::string at = place_of(access_at(launch, race.hint.site, {0, 0, 0}, 0, 0, ""));
  if (race.hint.kind == Hint::Kind::relaxed_cluster)
    return fmt::format("the barrier.cluster.arrive.relaxed at {} is no release, so it does not order the first access",
                       at);
  if (race.hint.kind == Hint::Kind::arrival)
    return fmt::format("the bar.arrive at {} does not wait, so it does not order later accesses of its threads", at);
  return fmt::format("the __syncwarp() at {} has the member mask {:#010x}, which does not include lane {}", at,
                     race.hint.members, race.first_lane);
}

}  // namespace

namespace {

// Note on a wait for the wrong phase of the copy's mbarrier.
std::string wait_note(const Race& race, const events::Launch& launch) {
  const WrongWait& w = race.wrong_wait;
  if (w.kind == WrongWait::Kind::none || w.site >= launch.facts->sites.size()) return "";
  const std::string at = place_of(access_at(launch, w.site, {0, 0, 0}, 0, 0, ""));
  if (w.kind == WrongWait::Kind::early_phase)
    return fmt::format("the wait at {} is over: it is for phase {} of the mbarrier, and this copy belongs to the next",
                       at, w.phase);
  if (w.phase < 0)
    return fmt::format(
        "the wait at {} is over at once: parity 1 is that of the phase before the first; the copy is in the phase of "
        "parity 0",
        at);
  return fmt::format(
      "the wait at {} is over at once: it is for phase {} (parity {}), which was complete before this copy; flip the "
      "parity after each phase",
      at, w.phase, w.phase & 1);
}

}  // namespace

namespace {

// Whether the launch has one thread, and all its accesses come in program order.
bool is_one_thread(const events::Launch& launch) {
  if (launch.grid.count() * launch.block.count() != 1) return false;
  return std::none_of(launch.facts->sites.begin(), launch.facts->sites.end(), [](const events::Site& s) {
    return s.non_coherent || s.kind == SiteKind::bulk_copy || s.kind == SiteKind::async_copy ||
           role_of(s) != SiteRole::none;
  });
}

}  // namespace

class Races final : public Checker {
 public:
  explicit Races(const Known& known) : known_(known) {}

  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.barriers = w.barriers_passed = w.warp_syncs = w.exits = w.cluster_barriers = true;
    w.fences = w.mbarriers = w.async_groups = w.blocks = w.blocks_ended = w.only_written = w.whole_blocks = true;
    return w;
  }
  // One thread does not race with itself. Without synchronisation, exits do not matter. Without shared accesses and
  // global writes, there are no races.
  events::Wants wants_of(const events::Launch& launch) override {
    if (is_one_thread(launch)) return {};
    const KernelHas has = what_has(launch);
    if (!has.shared_accesses && !has.global_writes && !has.mbarriers) return {};
    events::Wants w = wants();
    w.no_shared = !has.shared_accesses && !has.mbarriers;
    if (!has.order) w.exits = false;
    return w;
  }

  void on_launch_begin(const events::Launch& launch) override {
    const std::lock_guard lock(mutex_);
    auto races = std::make_unique<LaunchRaces>(launch, take_spare());
    if (announces())
      races->announce_to(
          [this](const LaunchRaces& in, const Race& race) { announce(in.launch().id, finding_of(in, race)); });
    launches_.add(launch, std::move(races));
  }
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override {
    const std::unique_ptr<LaunchRaces> ended = launches_.take(launch);
    if (!ended) return;
    const std::lock_guard lock(mutex_);
    collect(*ended);
    spare_.push_back(ended->take_global());
    spare_.back()->forget();
  }

  void on_block_begin(const events::BlockEvent& e, unsigned) override {
    if (LaunchRaces* const l = launches_.find(*e.launch)) l->begin_block(e);
  }
  void on_block_end(const events::BlockEvent& e, unsigned) override {
    if (LaunchRaces* const l = launches_.find(*e.launch)) l->end_block(linear_block(*e.launch, e.block));
  }
  void on_access(const events::Access& a, unsigned) override {
    if (LaunchRaces* const l = launches_.find(*a.launch)) l->access(a);
  }
  bool on_affine_access(const events::AffineAccess& a, unsigned) override {
    LaunchRaces* const l = launches_.find(*a.launch);
    return !l || l->affine_access(a);
  }
  void on_barrier(const events::Barrier& e, unsigned) override { pass(e, &LaunchOrder::barrier, /*orders=*/!e.waits); }
  void on_warp_sync(const events::WarpSync& e, unsigned) override { pass(e, &LaunchOrder::warp_sync); }
  void on_exit(const events::Exit& e, unsigned) override { pass(e, &LaunchOrder::exit, /*orders=*/false); }
  void on_cluster_barrier(const events::ClusterBarrier& e, unsigned) override {
    pass(e, &LaunchOrder::cluster_barrier);
  }
  void on_fence(const events::Fence& e, unsigned) override { pass(e, &LaunchOrder::fence); }
  void on_mbarrier(const events::MBarrier& e, unsigned) override { pass(e, &LaunchOrder::mbarrier); }
  void on_async_group(const events::AsyncGroup& e, unsigned) override { pass(e, &LaunchOrder::async_group); }
  void on_barrier_passed(const events::BarrierPassed& e, unsigned) override {
    LaunchRaces* const l = launches_.find(*e.launch);
    BlockOrder* const b = l ? l->find(linear_block(*e.launch, e.block)) : nullptr;
    if (b) l->barrier_passed(*b, e);
  }

  void report(std::vector<Finding>& findings) override {
    const std::lock_guard lock(mutex_);
    for (auto& [key, found] : found_) {
      if (found.finding.kind == "race-warp" && worse_at(found.pair)) continue;
      found.finding.notes.push_back(fmt::format("{}{} in {}, {}", found.more ? "more than " : "",
                                                plural(found.finding.count, "pair of accesses", "pairs of accesses"),
                                                plural(found.blocks, "block", "blocks"),
                                                plural(found.launches, "launch", "launches")));
      findings.push_back(std::move(found.finding));
    }
    found_.clear();
    early_uses_.report(findings);
  }

 private:
  struct Found {
    Finding finding;
    OrderKey order_key;
    std::uint64_t launches = 0, blocks = 0, last_launch = 0, in_launch = 0;  // in_launch: blocks of last_launch
    bool more = false;                                                       // not all pairs were counted
    std::string pair;
  };

  // Do the same lines also race between warps? That finding is more severe.
  bool worse_at(const std::string& pair) const {
    return found_.contains("race-shared|" + pair) || found_.contains("race-global|" + pair);
  }

  // orders: the event may order later accesses after earlier ones.
  template <class Event>
  void pass(const Event& e, void (LaunchOrder::*to)(BlockOrder&, const Event&), bool orders = true) {
    LaunchRaces* const l = launches_.find(*e.launch);
    BlockOrder* const b = l ? l->find(linear_block(*e.launch, e.block)) : nullptr;
    if (!b) return;
    if (orders) l->process_late_loads(b->number);
    (l->order().*to)(*b, e);
  }

  std::unique_ptr<Shadow> take_spare() {
    if (spare_.empty()) return nullptr;
    std::unique_ptr<Shadow> last = std::move(spare_.back());
    spare_.pop_back();
    return last;
  }

  FindingAccess access_of(const LaunchRaces& in, const Race& race, bool second) const;
  Finding finding_of(const LaunchRaces& in, const Race& race) const;
  static Finding finding_of(const events::Launch& launch, const EarlyUse& early);
  void collect(LaunchRaces& races);

  Known known_;
  std::mutex mutex_;
  // With this checker each launch has one worker (session/devices.cpp), so no other thread uses its LaunchRaces.
  LaunchStates<LaunchRaces> launches_;
  std::vector<std::unique_ptr<Shadow>> spare_;  // shadows of ended launches, for reuse
  std::map<std::string, Found> found_;          // by kind and pair of places
  FirstSeen early_uses_{*this};
};

FindingAccess Races::access_of(const LaunchRaces& in, const Race& race, bool second) const {
  const Record& r = second ? race.second : race.first;
  const events::Launch& launch = in.launch();
  FindingAccess a = access_at(launch, r.site, block_of(launch, r.stamp.block), r.stamp.warp,
                              second ? race.second_lane : race.first_lane, verb(r));
  a.role = second ? "second" : "first";
  a.bytes = r.bytes;
  a.memory = {race.shared ? "shared" : "global", 0, 0,
              static_cast<std::int64_t>(race.address - race.address % std::max<std::uint32_t>(1, r.bytes))};
  if (race.shared) {
    a.object = shared_object(launch, r.site, race.address);
  } else if (const auto object = known_.objects.live_at(race.address)) {
    a.object = describe(*object, race.address, 1);
    a.memory->object = object->number;
    a.memory->object_bytes = object->bytes;
    a.memory->offset -= static_cast<std::int64_t>(object->address);
  }
  return a;
}

// Compares lines rather than instructions, since compilers place branches anywhere.
bool stands_before(const events::Site& a, const events::Site& b) {
  const bool lines = a.file == b.file && a.line != 0 && b.line != 0 && a.line != b.line;
  return lines ? a.line < b.line : a.instruction <= b.instruction;
}

// The race with its accesses in a fixed order, if either may come first (may_turn). It is the order in which one thread
// can execute both between barriers, also around a loop (the read of one iteration, the write of the next). If that
// does not decide, it is the order in the source.
Race order_accesses(const LaunchRaces& in, const Race& race) {
  const auto& sites = in.launch().facts->sites;
  if (!race.may_turn || race.first.site >= sites.size() || race.second.site >= sites.size()) return race;
  const events::Site &first = sites[race.first.site], &second = sites[race.second.site];
  if (first.function != second.function) return race;
  if (race.kind != RaceKind::plain && race.kind != RaceKind::async_copy) return race;
  if (race.lacks_acquire || race.others_arrive) return race;  // a flag or an mbarrier lies between the two, as seen
  bool as_seen = stands_before(first, second), other_way = !as_seen;
  if (const ptx::Function* const f = find_body(*in.launch().module, first.function)) {
    const bool onwards = reaches_without_barrier(*f, first.instruction, second.instruction);
    const bool back = reaches_without_barrier(*f, second.instruction, first.instruction);
    if (onwards != back) as_seen = onwards, other_way = back;
  }
  if (!other_way) return race;
  Race turned = race;
  std::swap(turned.first, turned.second);
  std::swap(turned.first_lane, turned.second_lane);
  return turned;
}

bool in_one_cluster(const events::Launch& launch, const Race& race) {
  const auto cluster_of = [&](const Record& r) {
    const Dim3 block = block_of(launch, r.stamp.block), &size = launch.cluster;
    return std::array{block.x / std::max(1u, size.x), block.y / std::max(1u, size.y), block.z / std::max(1u, size.z)};
  };
  return launch.cluster.count() > 1 && cluster_of(race.first) == cluster_of(race.second);
}

// Does the second access follow the first only in the next iteration of a loop?
bool is_next_turn(const events::Launch& launch, const Race& race, const FindingAccess& at, const FindingAccess& then) {
  const auto& sites = launch.facts->sites;
  if (race.first.site >= sites.size() || race.second.site >= sites.size()) return false;
  const events::Site &first = sites[race.first.site], &second = sites[race.second.site];
  if (first.function != second.function) return false;
  const bool by_lines = at.file == then.file && at.line != then.line;
  if (by_lines ? at.line < then.line : first.instruction <= second.instruction) return false;
  const ptx::Function* const f = find_body(*launch.module, first.function);
  return f && (race.barrier_between || reaches_without_barrier(*f, first.instruction, second.instruction));
}

Finding Races::finding_of(const LaunchRaces& in, const Race& seen) const {
  const Race race = order_accesses(in, seen);
  Finding f;
  f.kind = kind_of(race);
  f.severity = in.is_guess(race) ? Severity::info : severity_of(race);
  f.accesses = {access_of(in, race, false), access_of(in, race, true)};
  take_place(f, f.accesses[0]);
  const char* const space = race.shared ? "shared" : "global";
  const char* const parties = race.first.stamp.block != race.second.stamp.block ? "threads of different blocks"
                              : race.one_instruction                            ? "lanes of one instruction"
                              : race.first.stamp.warp == race.second.stamp.warp ? "lanes of one warp"
                                                                                : "warps of one block";
  f.message =
      race.kind == RaceKind::non_coherent
          ? fmt::format("{} memory is written while a thread reads it through the read-only cache", space)
          : fmt::format("{} in {} memory by {}, without {}{}", hazard(race), space, parties,
                        race.kind == RaceKind::proxy ? "a fence between generic and async proxy" : "synchronisation",
                        race.kind == RaceKind::same_value ? "; both write the same value" : "");
  if (in.is_guess(race)) f.notes.push_back("the compare-and-swap that follows detects an outdated value");
  const bool next_turn = race.first.stamp.block == race.second.stamp.block &&
                         is_next_turn(in.launch(), race, f.accesses[0], f.accesses[1]);
  const std::string arrival_wait =
      race.others_arrive ? place_of(access_at(in.launch(), *race.others_arrive, {0, 0, 0}, 0, 0, "")) : "";
  f.missing =
      missing_edge(race, f.accesses[0], f.accesses[1], next_turn, in_one_cluster(in.launch(), race), arrival_wait);
  f.advice = advice_of(in.launch(), race, f.accesses[0], f.accesses[1]);
  if (std::string hint = hint_of(race, in.launch()); !hint.empty()) f.notes.push_back(std::move(hint));
  if (std::string note = wait_note(race, in.launch()); !note.empty()) f.notes.push_back(std::move(note));
  f.count = race.count;
  return f;
}

Finding Races::finding_of(const events::Launch& launch, const EarlyUse& early) {
  const Stamp& made = early.made.stamp;
  Finding f;
  f.kind = "mbarrier-init";
  f.accesses = {
      access_at(launch, early.site, block_of(launch, early.use.block), early.use.warp, early.lane, "mbarrier"),
      access_at(launch, early.made.site, block_of(launch, made.block), made.warp, early.made.lane, "mbarrier")};
  f.accesses[0].role = "used";
  f.accesses[1].role = "initialised";
  take_place(f, f.accesses[0]);
  const bool cluster = made.block != early.use.block;
  const bool relaxed = !cluster && launch.cluster.count() > 1;  // barrier.cluster.arrive.relaxed orders nothing
  f.message = fmt::format("an mbarrier is used by another {} than the one that initialises it, without synchronisation",
                          cluster ? "block of the cluster" : "warp");
  f.missing = fmt::format(
      "{} between {} and {}",
      cluster ? "fence.mbarrier_init.release.cluster by the initialising thread and then barrier.cluster (arrive, wait)"
      : relaxed
          ? "fence.mbarrier_init.release.cluster by the initialising thread before a barrier.cluster.arrive.relaxed, "
            "or __syncthreads()"
          : "__syncthreads()",
      place_of(f.accesses[1]), place_of(f.accesses[0]));
  if (cluster || relaxed) f.advice = in_cpp(Repair::init_fence);
  return f;
}

void Races::collect(LaunchRaces& races) {
  for (const EarlyUse& early : races.order().early_uses()) {
    const OrderKey order_key{races.launch().work, races.launch().id, early.use.block, early.use.warp, early.lane};
    const std::string key = fmt::format("{} {} {}", races.launch().facts->name, early.site, early.made.site);
    early_uses_.add(key, order_key, [&] { return finding_of(races.launch(), early); });
  }
  for (const auto& [key, race] : races.races()) {
    Finding f = finding_of(races, race);
    const FindingAccess &a = f.accesses[0], &b = f.accesses[1];
    // One finding per pair of source lines; without lines, per pair of instructions.
    const auto place = [](const FindingAccess& x) {
      return x.line != 0 ? fmt::format("{}:{}", x.file, x.line) : fmt::format("{}#{}", x.kernel, x.ptx_line);
    };
    std::string first = place(a), second = place(b);
    if (second < first) std::swap(first, second);
    const OrderKey order_key{races.launch().work, races.launch().id, race.second.stamp.block, race.second.stamp.warp,
                             race.second_lane};
    std::string pair = first + "|" + second;
    Found& known = found_[f.kind + "|" + pair];
    const std::uint64_t count = known.finding.count * (known.launches != 0) + f.count;
    if (known.launches == 0 || order_key < known.order_key) {
      known.finding = std::move(f);
      known.order_key = order_key;
    }
    known.finding.count = count;
    known.pair = std::move(pair);
    if (known.launches == 0 || known.last_launch != races.launch().id) {
      ++known.launches;
      known.in_launch = 0;
    }
    known.last_launch = races.launch().id;
    known.more |= race.count >= LaunchRaces::kEnough;
    // Pairs of instructions from the same lines mostly race in the same blocks, so their blocks are not summed.
    const std::uint64_t more = race.blocks > known.in_launch ? race.blocks - known.in_launch : 0;
    known.in_launch += more;
    known.blocks += more;
  }
}

std::unique_ptr<Checker> make_races(const Known& known) {
  return std::make_unique<Races>(known);
}

}  // namespace warpgrind::checkers
