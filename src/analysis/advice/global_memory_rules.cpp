// Advice rules about global, local and constant memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "advice/rules.h"
#include "advice/work_changes.h"

namespace warpgrind::advice {
namespace {

using results::Advice;
using results::SiteProfile;
using results::WorkProfile;
using timing::kSectorBytes;
using timing::LaunchWork;

constexpr double kSectorsOfALine = 4;

bool by_sectors(const KernelView& k) {
  return k.model().rules.coalescing == CoalescingRule::sectors_32;
}

double transaction_bytes(const KernelView& k) {
  return k.value(MetricId::global_ld_transaction_bytes) + k.value(MetricId::global_st_transaction_bytes) +
         k.value(MetricId::global_atom_transaction_bytes) + k.value(MetricId::global_red_transaction_bytes);
}

struct Coalescing {
  double sectors = 0, ideal = 0, requests = 0;
  double different = 0;  // as `sectors`, but members of one struct share theirs
  double ratio() const { return ideal > 0 ? sectors / ideal : 0; }
  double excess() const { return sectors - ideal; }
  double left() const { return sectors > 0 ? std::min(1.0, ideal / sectors) : 1; }
  double shared_left() const { return different > 0 ? std::min(1.0, ideal / different) : 1; }
};

// Base register of a memory operand: "%rd4" of "ld.global.f32 %f1, [%rd4+12];". Empty: no such operand.
std::string base_register(const std::string& ptx) {
  const std::size_t open = ptx.find('[');
  if (open == std::string::npos) return "";
  const std::size_t end = ptx.find_first_of("+-]", open);
  return end == std::string::npos ? "" : ptx.substr(open + 1, end - open - 1);
}

// Loads (stores) of a kernel. Loads with the same base register read members of one struct: the first one brings the
// sectors that the others find in L1.
Coalescing coalescing(const KernelView& k, std::string_view kind) {
  Coalescing c;
  struct Group {
    double most = 0, ideal = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> structs;  // function, base register
  for (const SiteProfile& s : k.profile().sites) {
    if (s.kind != kind) continue;
    const double sectors = s.metrics.value(MetricId::theoretical_sectors),
                 ideal = s.metrics.value(MetricId::ideal_sectors);
    if (sectors <= 0) continue;
    c.sectors += sectors;
    c.ideal += ideal;
    c.requests += s.metrics.value(MetricId::site_inst);
    const std::string base = kind == "load" ? base_register(s.ptx) : "";
    if (base.empty()) {
      c.different += sectors;
      continue;
    }
    Group& group = structs[{s.function, base}];
    group.most = std::max(group.most, sectors);
    group.ideal += ideal;
  }
  for (const auto& [name, group] : structs) c.different += std::max(group.most, group.ideal);
  return c;
}

// Changes a launch so that its loads and stores touch the ideal number of sectors.
void coalesce(WorkProfile& launch, const Coalescing& loads, const Coalescing& stores, double share) {
  LaunchWork& w = launch.work;
  w.l1_load_passes = std::min(w.l1_load_passes, std::max(loads.requests * share, w.l1_load_passes * loads.left()));
  if (loads.excess() > 0 || stores.excess() > 0) w.translation_misses = 0;  // adjacent lanes share a translation
  if (loads.excess() > 0) {
    read_adjacent(w, std::max(1.0, std::min(w.read_sectors, loads.ideal * share)));
    // Adjacent loads ask L1 for the ideal number of sectors, so that no more can miss it.
    const double missed = std::min(w.l2_read_sectors * loads.shared_left(), loads.ideal * share);
    w.l2_read_sectors = std::min(w.l2_read_sectors, std::max(w.read_sectors, missed));
    w.l2_read_lines = std::min(w.l2_read_lines, w.l2_read_sectors / kSectorsOfALine);
    launch.block_read_sectors = std::min(launch.block_read_sectors, loads.ideal * share);
  }
  if (stores.excess() > 0) {
    write_adjacent(w, std::max(1.0, std::min(w.write_sectors, stores.ideal * share)));
    w.l1_store_passes *= stores.left();
    w.l2_write_sectors = std::max(w.write_sectors, w.l2_write_sectors * stores.left());
    w.l2_write_lines = std::min(w.l2_write_lines, w.l2_write_sectors / kSectorsOfALine);
    w.partial_write_sectors = 0;
  }
}

// The strided accesses together touch whole sectors: what one lane leaves of a sector, another lane uses. Not so for
// one member of an array of structs, which a transpose would not make denser.
bool fills_sectors(const KernelView& k, double ideal, bool store) {
  constexpr double kWhole = 1.5;
  double distinct = 0, part = 0, launches = 0;
  for (const WorkProfile& w : k.profile().work) {
    distinct += w.launches * (store ? w.work.write_sectors : w.work.read_sectors);
    part += w.launches * (store ? w.work.partly_written_sectors : 0);
    launches += w.launches;
  }
  if (launches <= 0) return true;
  return distinct * k.value(MetricId::launches) / launches <= kWhole * ideal && part <= 0.5 * distinct;
}

}  // namespace

void uncoalesced_global_access(const KernelView& k, std::vector<Candidate>& out) {
  const Coalescing loads = coalescing(k, "load"), stores = coalescing(k, "store");
  const double ideal = (loads.ideal + stores.ideal) * kSectorBytes;
  const double touched = by_sectors(k) ? (loads.sectors + stores.sectors) * kSectorBytes : transaction_bytes(k);
  if (touched <= ideal || ideal <= 0) return;
  // Members of a struct share sectors: these are touched again, but not moved again.
  const double moved = by_sectors(k) ? (loads.different + stores.different) * kSectorBytes : touched;
  constexpr double kWaste = 1.05;
  const bool waste = moved > kWaste * ideal;
  Advice a;
  a.title = waste ? fmt::format("Uncoalesced global accesses: {:.0f} % of the bytes moved are not needed",
                                100 * (1 - ideal / moved))
                  : fmt::format(
                        "Uncoalesced global accesses: requests touch {:.1f} times the sectors that adjacent data "
                        "would need",
                        touched / ideal);
  constexpr double kShifted = 1.3;  // at most about a sector or two more than a request needs
  a.text = touched / ideal <= kShifted
               ? "Requests need more sectors than necessary: they start in the middle of a sector, or their data is "
                 "slightly scattered. Start each row at a multiple of 32 bytes (cudaMallocPitch, padding), and shift "
                 "the index so that lane 0 accesses an aligned element."
               : fmt::format(
                     "The lanes of a warp touch {:.1f} times the memory that adjacent data would need. Let "
                     "neighbouring threads (threadIdx.x) access neighbouring elements. Use a structure of arrays "
                     "instead of an array of structures, start each row at a multiple of 32 bytes, or copy the data "
                     "through shared memory.",
                     touched / ideal);
  a.evidence = k.evidence({MetricId::excessive_sectors, MetricId::theoretical_sectors, MetricId::ideal_sectors});
  if (!by_sectors(k))
    for (const auto& e : k.evidence({MetricId::global_ld_transactions, MetricId::global_st_transactions}))
      a.evidence.push_back(e);
  a.places = k.places([](const SiteProfile& s) {
    return s.kind == "load" || s.kind == "store" ? s.metrics.value(MetricId::excessive_sectors) : 0;
  });
  // By the rules of 1.x, accesses without excessive sectors can be uncoalesced, too.
  if (a.places.empty())
    a.places = k.places([](const SiteProfile& s) { return s.metrics.value(MetricId::site_transactions); });
  const bool sectors = by_sectors(k);
  out.push_back({std::move(a), [k, loads, stores, sectors, left = ideal / touched](WorkProfile& launch) {
                   if (sectors) return coalesce(launch, loads, stores, k.share_of(launch));
                   // Without caches every transaction goes to DRAM.
                   LaunchWork& w = launch.work;
                   for (double LaunchWork::*m :
                        {&LaunchWork::l1_load_passes, &LaunchWork::l1_store_passes, &LaunchWork::l2_read_sectors,
                         &LaunchWork::l2_read_lines, &LaunchWork::l2_write_sectors, &LaunchWork::l2_write_lines})
                     w.*m *= left;
                   read_adjacent(w, w.read_sectors * left);
                   write_adjacent(w, w.write_sectors * left);
                 }});
}

void transpose_through_shared_memory(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kBad = 4, kGood = 1.3;
  const Coalescing loads = coalescing(k, "load"), stores = coalescing(k, "store");
  if (loads.ideal <= 0 || stores.ideal <= 0) return;
  const bool store_bad = stores.ratio() >= kBad && loads.ratio() <= kGood;
  const bool load_bad = loads.ratio() >= kBad && stores.ratio() <= kGood;
  if (!store_bad && !load_bad) return;
  // As many elements are stored as loaded. A kernel that reads far more than it writes needs another layout.
  constexpr double kSimilar = 4;
  if (std::max(loads.ideal, stores.ideal) > kSimilar * std::min(loads.ideal, stores.ideal)) return;
  if (!fills_sectors(k, store_bad ? stores.ideal : loads.ideal, store_bad)) return;
  const Coalescing& bad = store_bad ? stores : loads;
  if (bad.excess() < 0.5 * (loads.excess() + stores.excess())) return;
  const char* kind = store_bad ? "store" : "load";
  Advice a;
  a.title =
      fmt::format("Transpose through shared memory: {}s move {:.0f} times the sectors they need", kind, bad.ratio());
  a.text = fmt::format(
      "{} are coalesced, but {} are strided: each lane touches its own sector. Let a block {} a tile row by row into "
      "shared memory, call __syncthreads(), and {} it row by row to the other matrix. Pad the rows of the tile by one "
      "element (or swizzle them); otherwise its columns cause bank conflicts.",
      store_bad ? "Loads" : "Stores", store_bad ? "stores" : "loads", store_bad ? "load" : "read",
      store_bad ? "store" : "write");
  a.evidence =
      k.evidence({store_bad ? MetricId::global_st_sectors_per_request : MetricId::global_ld_sectors_per_request,
                  store_bad ? MetricId::global_ld_sectors_per_request : MetricId::global_st_sectors_per_request,
                  MetricId::excessive_sectors});
  a.places = k.places(
      [kind](const SiteProfile& s) { return s.kind == kind ? s.metrics.value(MetricId::excessive_sectors) : 0; });
  out.push_back({std::move(a), [k, loads, stores](WorkProfile& launch) {
                   const double share = k.share_of(launch);
                   coalesce(launch, loads, stores, share);
                   add_tile(launch.work, 2 * std::min(loads.requests, stores.requests) * share, 1);
                 }});
}

namespace {

// Loads of the threads of a block that find the same data: each sector is read once from memory into a tile.
void load_once(WorkProfile& launch, double times, double requests) {
  LaunchWork& w = launch.work;
  const double again = 1 - 1 / times;
  w.l1_load_passes *= 1 - again;
  if (launch.block_read_sectors > 0 && launch.block_read_sectors < w.l2_read_sectors) {
    w.l2_read_lines *= launch.block_read_sectors / w.l2_read_sectors;
    w.translation_misses *= launch.block_read_sectors / w.l2_read_sectors;
    w.l2_read_sectors = launch.block_read_sectors;
  }
  divide_waiting(w, times);
  add_tile(w, again * requests, 2);
}

// Twice as many results for each load from the tile and from memory: 2 x 2 of them in the registers of a thread.
void load_half(WorkProfile& launch, double shared_requests) {
  constexpr double kHalf = 0.5;
  LaunchWork& w = launch.work;
  const double warps = std::max(1.0, w.blocks * w.warps_per_block);
  const double saved = std::min(w.instructions, kHalf * shared_requests / warps);
  w.instructions -= saved;
  for (double LaunchWork::*m :
       {&LaunchWork::shared_wavefronts, &LaunchWork::l1_load_passes, &LaunchWork::l2_read_sectors,
        &LaunchWork::l2_read_lines, &LaunchWork::translation_misses})
    w.*m *= kHalf;
  w.l2_read_sectors = std::max(w.l2_read_sectors, w.read_sectors);
}

}  // namespace

void redundant_global_loads(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kTimes = 2;
  const Coalescing loads = coalescing(k, "load");
  const double by_block = k.block_read_sectors();
  if (by_block <= 0 || loads.sectors <= 0) return;
  double distinct = 0, launches = 0;
  for (const WorkProfile& w : k.profile().work) {
    distinct += w.launches * w.work.read_sectors;
    launches += w.launches;
  }
  distinct *= k.value(MetricId::launches) / std::max(1.0, launches);
  // Without the bytes that coalescing would save.
  const double in_block = loads.ideal / by_block, of_blocks = distinct > 0 ? by_block / distinct : 1;
  const bool tiled = k.value(MetricId::shared_ld_requests) > 0 && in_block < kTimes;
  const double times = tiled ? of_blocks : in_block;
  if (times < kTimes) return;
  Advice a;
  a.title = fmt::format("Redundant global loads: {} load each byte {:.0f} times or more",
                        tiled ? "blocks" : "the threads of a block", std::floor(times));
  a.text = tiled
               ? "Different blocks load the same data again, although the kernel uses shared memory. To load each "
                 "element less often, use a larger tile, or let each thread compute several results in registers."
               : "Several threads of a block load the same data. Load each element once into a tile in shared memory, "
                 "call __syncthreads(), and read it from there. A tile of W x W elements divides the number of loads "
                 "by up to W.";
  a.evidence = k.evidence(
      {MetricId::global_ld_sectors, MetricId::footprint, MetricId::global_ld_requests, MetricId::cgma_loads});
  a.places = k.places(
      [](const SiteProfile& s) { return s.kind == "load" ? s.metrics.value(MetricId::theoretical_sectors) : 0; });
  const double requests = tiled ? k.value(MetricId::shared_ld_requests) : loads.requests;
  out.push_back({std::move(a), [k, tiled, times, requests](WorkProfile& launch) {
                   const double here = requests * k.share_of(launch);
                   tiled ? load_half(launch, here) : load_once(launch, times, here);
                 }});
}

void memory_access_pattern(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 75, kCoalesced = 1.1, kShare = 0.25;
  const double all = k.value(MetricId::global_ld_sectors) + k.value(MetricId::global_st_sectors);
  for (const bool load : {true, false}) {
    const char* kind = load ? "load" : "store";
    const MetricId efficiency = load ? MetricId::global_ld_efficiency : MetricId::global_st_efficiency;
    const double sectors = k.value(load ? MetricId::global_ld_sectors : MetricId::global_st_sectors),
                 used = k.value(efficiency) / 100;
    if (sectors <= 0 || sectors < kShare * all || used >= kEnough / 100) continue;
    Coalescing c = coalescing(k, kind);
    if (c.ratio() > kCoalesced) continue;  // covered by the other rules
    Advice a;
    a.title = fmt::format("Global {}s use {:.0f} of 32 bytes of a sector", kind, used * kSectorBytes);
    a.text = fmt::format(
        "The {}s are coalesced, but few lanes are active, so each sector is used only in part. Give the work to full "
        "warps: let the threads with work have consecutive indices.",
        kind);
    a.evidence = k.evidence({efficiency, load ? MetricId::global_ld_sectors : MetricId::global_st_sectors});
    a.places = k.places([kind](const SiteProfile& s) {
      return s.kind == kind && s.space != "shared"
                 ? s.metrics.value(MetricId::theoretical_sectors) * (100 - s.metrics.value(MetricId::site_efficiency))
                 : 0;
    });
    c.requests *= used;
    c.ideal = used * c.sectors;
    out.push_back({std::move(a), [k, c, load](WorkProfile& launch) {
                     coalesce(launch, load ? c : Coalescing{}, load ? Coalescing{} : c, k.share_of(launch));
                   }});
  }
}

namespace {

// Warps combine what their lanes add to one address; `rounds` lanes do so at a time. A block combines the rest in
// shared memory, if its atomics go to few sectors, and sends one for each.
void combine_atomics(LaunchWork& w, double rounds) {
  constexpr double kWordsOfASector = 8, kSectorsOfARequest = 4;
  const double distinct = std::max(1.0, w.atomic_distinct_sectors);
  const double of_warps = w.atomic_sectors / rounds, of_blocks = w.blocks * distinct;
  if (of_blocks < of_warps) {
    w.shared_wavefronts += 2 * w.atomic_requests;
    w.barriers += 2;
    w.atomic_requests = std::min(w.atomic_requests, std::max(w.blocks, of_blocks / kSectorsOfARequest));
    w.atomic_lanes = std::min(w.atomic_lanes, distinct > 1 ? of_blocks * kWordsOfASector : w.atomic_requests);
    w.atomic_sectors = of_blocks;
  } else if (rounds > 1) {
    constexpr double kSteps = 5;  // of shuffles
    w.shuffles += kSteps * w.atomic_requests / std::max(1.0, w.blocks * w.warps_per_block);
    w.atomic_lanes /= rounds;
    w.atomic_sectors = of_warps;
  }
}

}  // namespace

void atomic_collisions(const KernelView& k, std::vector<Candidate>& out) {
  double rounds = 0, distinct = 0, requests = 0;
  for (const SiteProfile& s : k.profile().sites) {
    if (s.kind != "atomic" && s.kind != "reduction") continue;
    if (s.metrics.value(MetricId::theoretical_sectors) <= 0)
      continue;  // shared memory: collisions of one word cost nothing there
    rounds += s.metrics.value(MetricId::site_sectors);
    distinct += s.metrics.value(MetricId::theoretical_sectors);
    requests += s.metrics.value(MetricId::site_inst);
  }
  if (requests <= 0 || distinct <= 0) return;
  constexpr double kRounds = 1.5;
  const double ratio = rounds / distinct;
  const double blocks = std::max(1.0, k.value(MetricId::grid_size) * k.value(MetricId::launches));
  Advice a;
  a.title = ratio >= kRounds ? fmt::format("Atomics collide: {:.1f} rounds for each sector", ratio)
                             : fmt::format("Atomics collide: each block sends {:.0f} requests to the same memory",
                                           requests / blocks);
  a.text =
      "Atomics on one address run one after the other. Combine values first: within the warp (__reduce_add_sync, "
      "shuffles), then within the block (an array in shared memory, as for a histogram). Then one global atomic per "
      "block is enough.";
  a.evidence = k.evidence({MetricId::global_atom_requests, MetricId::global_atom_sectors, MetricId::global_red_requests,
                           MetricId::global_red_sectors});
  std::erase_if(a.evidence, [](const auto& e) { return e.value == 0; });
  a.places = k.places([](const SiteProfile& s) {
    return s.kind == "atomic" || s.kind == "reduction" ? s.metrics.value(MetricId::site_sectors) : 0;
  });
  out.push_back(
      {std::move(a), [rounds = std::max(1.0, ratio)](WorkProfile& launch) { combine_atomics(launch.work, rounds); }});
}

void local_memory(const KernelView& k, std::vector<Candidate>& out) {
  const double loads = k.value(MetricId::local_ld_sectors), stores = k.value(MetricId::local_st_sectors);
  const double local = loads + stores;
  if (local <= 0) return;
  const double all_loads = loads + k.value(MetricId::global_ld_sectors),
               all_stores = stores + k.value(MetricId::global_st_sectors);
  Advice a;
  a.title = fmt::format("Local memory: {:.0f} % of the sectors are local", 100 * local / (all_loads + all_stores));
  a.text =
      "Each thread has an array in local memory, which is part of device memory. The cause is an index that is not "
      "known at compile time. Unroll the loop so that all indices are constants, make the array smaller, or keep it in "
      "shared memory.";
  a.evidence = k.evidence({MetricId::stack_bytes, MetricId::local_theoretical_sectors, MetricId::local_ld_requests,
                           MetricId::local_st_requests});
  a.places = k.places([](const SiteProfile& s) { return s.metrics.value(MetricId::local_theoretical_sectors); });
  const double ld_left = all_loads > 0 ? 1 - loads / all_loads : 1,
               st_left = all_stores > 0 ? 1 - stores / all_stores : 1;
  const double requests = k.value(MetricId::local_ld_requests) + k.value(MetricId::local_st_requests);
  out.push_back({std::move(a), [k, ld_left, st_left, requests](WorkProfile& launch) {
                   LaunchWork& w = launch.work;
                   w.l1_load_passes *= ld_left;
                   w.l1_store_passes *= st_left;
                   w.l2_read_sectors = std::max(w.read_sectors, w.l2_read_sectors * ld_left);
                   w.l2_read_lines = std::max(w.read_lines, w.l2_read_lines * ld_left);
                   w.l2_write_sectors *= st_left;
                   w.l2_write_lines *= st_left;
                   w.partial_write_sectors *= st_left;
                   const double a_warp = requests * k.share_of(launch) / std::max(1.0, w.blocks * w.warps_per_block);
                   w.instructions = std::max(0.1 * w.instructions, w.instructions - a_warp);
                   for (double LaunchWork::*m :
                        {&LaunchWork::path_40, &LaunchWork::path_290, &LaunchWork::path_700, &LaunchWork::path_1000})
                     w.*m = w.path_0 + (w.*m - w.path_0) * ld_left;
                 }});
}

void divergent_constant_reads(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kMost = 1.5;
  const double requests = k.value(MetricId::const_requests);
  if (requests <= 0) return;
  const double each = k.value(MetricId::const_wavefronts) / requests;  // different addresses per request
  if (each < kMost) return;
  Advice a;
  a.title = fmt::format("Constant reads differ between lanes: {:.1f} addresses per read", each);
  a.text =
      "The constant cache serves one address of a warp at a time, so lanes with different addresses wait for each "
      "other. Index constant memory with a value that is the same in the whole warp (blockIdx, a loop counter), or put "
      "the table into shared or global memory.";
  a.evidence = k.evidence({MetricId::const_requests, MetricId::const_wavefronts});
  a.places = k.places([](const SiteProfile& s) {
    return s.space == "const" && s.kind == "load" ? s.metrics.value(MetricId::site_inst) : 0;
  });
  out.push_back({std::move(a), [](WorkProfile& launch) {
                   LaunchWork& w = launch.work;
                   w.constant_wavefronts = std::min(w.constant_wavefronts, w.constant_requests);
                 }});
}

}  // namespace warpgrind::advice
