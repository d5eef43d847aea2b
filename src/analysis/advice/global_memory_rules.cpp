// Advice rules about global, local and constant memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

using results::SiteProfile;

constexpr double kSectorBytes = 32;

// Factor by which the DRAM bound shrinks if only `bytes` bytes have to be moved.
double dram_factor(const KernelView& k, double bytes) {
  const double now = k.dram_bytes();
  return now > 0 ? std::min(1.0, bytes / now) : 1.0;
}

bool by_sectors(const KernelView& k) {
  return k.model() == nullptr || k.model()->rules.coalescing == CoalescingRule::sectors_32;
}

double transaction_bytes(const KernelView& k) {
  return k.value(MetricId::global_ld_transaction_bytes) + k.value(MetricId::global_st_transaction_bytes) +
         k.value(MetricId::global_atom_transaction_bytes) + k.value(MetricId::global_red_transaction_bytes);
}

struct Coalescing {
  double sectors = 0, ideal = 0;
  double ratio() const { return ideal > 0 ? sectors / ideal : 0; }
  double excess() const { return sectors - ideal; }
};

Coalescing coalescing(const KernelView& k, const char* kind) {
  Coalescing c;
  for (const SiteProfile& s : k.profile().sites)
    if (s.kind == kind) {
      c.sectors += s.metrics.value(MetricId::theoretical_sectors);
      c.ideal += s.metrics.value(MetricId::ideal_sectors);
    }
  return c;
}

}  // namespace

void uncoalesced_global_access(const KernelView& k, std::vector<Candidate>& out) {
  const double ideal = k.value(MetricId::ideal_sectors) * kSectorBytes;
  const double moved = by_sectors(k) ? k.value(MetricId::theoretical_sectors) * kSectorBytes : transaction_bytes(k);
  if (moved <= ideal || ideal <= 0) return;
  const double wasted = 1 - ideal / moved;
  Candidate c;
  c.severity = wasted;
  c.advice.title = fmt::format("Uncoalesced global accesses: {:.0f} % of the bytes moved are not needed", 100 * wasted);
  constexpr double kShifted = 1.3;  // at most about a sector or two more than a request needs
  c.advice.text =
      moved / ideal <= kShifted
          ? "Requests need more sectors than necessary: they start in the middle of a sector, or their data is "
            "slightly scattered. Start each row at a multiple of 32 bytes (cudaMallocPitch, padding), and shift the "
            "index so that lane 0 accesses an aligned element."
          : fmt::format(
                "The lanes of a warp touch {:.1f} times the memory that adjacent data would need. Let neighbouring "
                "threads (threadIdx.x) access neighbouring elements. Use a structure of arrays instead of an array of "
                "structures, start each row at a multiple of 32 bytes, or copy the data through shared memory.",
                moved / ideal);
  c.advice.estimated_gain = k.gain({{limit::kL1, ideal / moved},
                                    {limit::kL2, ideal / moved},
                                    {limit::kAtomics, ideal / moved},
                                    {limit::kDram, dram_factor(k, ideal)}});
  c.advice.evidence = k.evidence({MetricId::excessive_sectors, MetricId::theoretical_sectors, MetricId::ideal_sectors});
  if (!by_sectors(k))
    for (const auto& e : k.evidence({MetricId::global_ld_transactions, MetricId::global_st_transactions}))
      c.advice.evidence.push_back(e);
  c.advice.places = k.places([](const SiteProfile& s) { return s.metrics.value(MetricId::excessive_sectors); });
  // By the rules of 1.x, accesses without excessive sectors can be uncoalesced, too.
  if (c.advice.places.empty())
    c.advice.places = k.places([](const SiteProfile& s) { return s.metrics.value(MetricId::site_transactions); });
  out.push_back(std::move(c));
}

void transpose_through_shared_memory(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kBad = 4, kGood = 1.3;
  const Coalescing loads = coalescing(k, "load"), stores = coalescing(k, "store");
  if (loads.ideal <= 0 || stores.ideal <= 0) return;
  const bool store_bad = stores.ratio() >= kBad && loads.ratio() <= kGood;
  const bool load_bad = loads.ratio() >= kBad && stores.ratio() <= kGood;
  if (!store_bad && !load_bad) return;
  const Coalescing& bad = store_bad ? stores : loads;
  if (bad.excess() < 0.5 * k.value(MetricId::excessive_sectors)) return;
  const char* kind = store_bad ? "store" : "load";
  const double left = k.value(MetricId::ideal_sectors) / k.value(MetricId::theoretical_sectors);
  Candidate c;
  c.severity = 1 - left;
  c.advice.title =
      fmt::format("Transpose through shared memory: {}s move {:.0f} times the sectors they need", kind, bad.ratio());
  c.advice.text = fmt::format(
      "{} are coalesced, but {} are strided: each lane touches its own sector. Let a block {} a tile row by row into "
      "shared memory, call __syncthreads(), and {} it row by row to the other matrix. Pad the rows of the tile by one "
      "element (or swizzle them); otherwise its columns cause bank conflicts.",
      store_bad ? "Loads" : "Stores", store_bad ? "stores" : "loads", store_bad ? "load" : "read",
      store_bad ? "store" : "write");
  c.advice.estimated_gain = k.gain({{limit::kL1, left},
                                    {limit::kL2, left},
                                    {limit::kDram, dram_factor(k, k.value(MetricId::ideal_sectors) * kSectorBytes)}});
  c.advice.evidence =
      k.evidence({store_bad ? MetricId::global_st_sectors_per_request : MetricId::global_ld_sectors_per_request,
                  store_bad ? MetricId::global_ld_sectors_per_request : MetricId::global_st_sectors_per_request,
                  MetricId::excessive_sectors});
  c.advice.places = k.places(
      [kind](const SiteProfile& s) { return s.kind == kind ? s.metrics.value(MetricId::excessive_sectors) : 0; });
  out.push_back(std::move(c));
}

void redundant_global_loads(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kTimes = 2;
  const double footprint = k.value(MetricId::footprint);
  const double ideal = k.value(MetricId::ideal_sectors), sectors = k.value(MetricId::theoretical_sectors);
  if (footprint <= 0 || sectors <= 0) return;
  // Without the bytes that coalescing would save.
  const double moved = k.value(MetricId::global_ld_sectors) * kSectorBytes * std::min(1.0, ideal / sectors);
  const double times = moved / footprint;
  if (times < kTimes) return;
  const bool tiled = k.value(MetricId::shared_ld_requests) > 0;
  Candidate c;
  c.severity = 1 - 1 / times;
  c.advice.title = fmt::format("Redundant global loads: each byte is loaded {:.0f} times or more", std::floor(times));
  c.advice.text =
      tiled
          ? "Different blocks, or threads one after another, load the same data again, although the kernel uses shared "
            "memory. To load each element less often, use a larger tile, or let each thread compute several results in "
            "registers."
          : "Several threads of a block load the same data. Load each element once into a tile in shared memory, call "
            "__syncthreads(), and read it from there. A tile of W x W elements divides the number of loads by up to W.";
  const double left = 1 / times;
  c.advice.estimated_gain = k.gain({{limit::kL1, left}, {limit::kL2, left}, {limit::kLatency, std::sqrt(left)}});
  c.advice.evidence = k.evidence(
      {MetricId::global_ld_sectors, MetricId::footprint, MetricId::global_ld_requests, MetricId::cgma_loads});
  c.advice.places = k.places(
      [](const SiteProfile& s) { return s.kind == "load" ? s.metrics.value(MetricId::theoretical_sectors) : 0; });
  out.push_back(std::move(c));
}

void memory_access_pattern(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 75, kCoalesced = 1.1, kShare = 0.25;
  const double all = k.value(MetricId::global_ld_sectors) + k.value(MetricId::global_st_sectors);
  for (const bool load : {true, false}) {
    const char* kind = load ? "load" : "store";
    const MetricId efficiency = load ? MetricId::global_ld_efficiency : MetricId::global_st_efficiency;
    const double sectors = k.value(load ? MetricId::global_ld_sectors : MetricId::global_st_sectors),
                 used = k.value(efficiency);
    if (sectors <= 0 || sectors < kShare * all || used >= kEnough) continue;
    if (coalescing(k, kind).ratio() > kCoalesced) continue;  // covered by the other rules
    Candidate c;
    c.severity = 0.5 * (1 - used / 100);
    c.advice.title = fmt::format("Global {}s use {:.0f} of 32 bytes of a sector", kind, used * kSectorBytes / 100);
    c.advice.text = fmt::format(
        "The {}s are coalesced, but few lanes are active, so each sector is used only in part. Give the work to full "
        "warps: let the threads with work have consecutive indices.",
        kind);
    c.advice.estimated_gain =
        k.gain({{limit::kL1, used / 100}, {limit::kL2, used / 100}, {limit::kDram, std::max(0.5, used / 100)}});
    c.advice.evidence = k.evidence({efficiency, load ? MetricId::global_ld_sectors : MetricId::global_st_sectors});
    c.advice.places = k.places([kind](const SiteProfile& s) {
      return s.kind == kind && s.space != "shared"
                 ? s.metrics.value(MetricId::theoretical_sectors) * (100 - s.metrics.value(MetricId::site_efficiency))
                 : 0;
    });
    out.push_back(std::move(c));
  }
}

void atomic_collisions(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kRounds = 1.5, kAtomicsPerBlock = 2;
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
  const double ratio = rounds / distinct;
  const double blocks = std::max(1.0, k.value(MetricId::grid_size) * k.value(MetricId::launches));
  const bool in_warp = ratio >= kRounds;
  const bool one_sector = distinct <= 1.001 * requests && requests > kAtomicsPerBlock * blocks;
  if (!in_warp && !one_sector) return;
  Candidate c;
  c.severity = in_warp ? 1 - 1 / ratio : 0.3;
  c.advice.title =
      in_warp ? fmt::format("Atomics collide: {:.1f} rounds for each sector", ratio)
              : fmt::format("The atomics of each warp go to one sector, {:.0f} times per block", requests / blocks);
  c.advice.text =
      "Atomics on one address run one after the other. Combine values first: within the warp (__reduce_add_sync, "
      "shuffles), then within the block (an array in shared memory, as for a histogram). Then one global atomic per "
      "block is enough.";
  const double left = in_warp ? 1 / ratio : kAtomicsPerBlock * blocks / requests;
  c.advice.estimated_gain = k.gain({{limit::kAtomics, left}});
  c.advice.evidence = k.evidence({MetricId::global_atom_requests, MetricId::global_atom_sectors,
                                  MetricId::global_red_requests, MetricId::global_red_sectors});
  std::erase_if(c.advice.evidence, [](const auto& e) { return e.value == 0; });
  c.advice.places = k.places([](const SiteProfile& s) {
    return s.kind == "atomic" || s.kind == "reduction" ? s.metrics.value(MetricId::site_sectors) : 0;
  });
  out.push_back(std::move(c));
}

void local_memory(const KernelView& k, std::vector<Candidate>& out) {
  const double local = k.value(MetricId::local_ld_sectors) + k.value(MetricId::local_st_sectors);
  if (local <= 0) return;
  const double left = 1 - local / (local + k.value(MetricId::global_ld_sectors) + k.value(MetricId::global_st_sectors));
  Candidate c;
  c.severity = 1 - left;
  c.advice.title = fmt::format("Local memory: {:.0f} % of the sectors are local", 100 * (1 - left));
  c.advice.text =
      "Each thread has an array in local memory, which is part of device memory. The cause is an index that is not "
      "known at compile time. Unroll the loop so that all indices are constants, make the array smaller, or keep it in "
      "shared memory.";
  c.advice.estimated_gain = k.gain({{limit::kL1, left}, {limit::kL2, left}});
  c.advice.evidence = k.evidence({MetricId::stack_bytes, MetricId::local_theoretical_sectors,
                                  MetricId::local_ld_requests, MetricId::local_st_requests});
  c.advice.places = k.places([](const SiteProfile& s) { return s.metrics.value(MetricId::local_theoretical_sectors); });
  out.push_back(std::move(c));
}

void divergent_constant_reads(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kMost = 1.5;
  const double requests = k.value(MetricId::const_requests);
  if (requests <= 0) return;
  // Different addresses per request. Profiles of format 1 have only the sectors.
  const double wavefronts = k.value(MetricId::const_wavefronts);
  const double each = (wavefronts > 0 ? wavefronts : k.value(MetricId::const_sectors)) / requests;
  if (each < kMost) return;
  Candidate c;
  c.severity = 1 - 1 / each;
  c.advice.title = fmt::format("Constant reads differ between lanes: {:.1f} addresses per read", each);
  c.advice.text =
      "The constant cache serves one address of a warp at a time, so lanes with different addresses wait for each "
      "other. Index constant memory with a value that is the same in the whole warp (blockIdx, a loop counter), or put "
      "the table into shared or global memory.";
  c.advice.evidence = k.evidence({MetricId::const_requests, MetricId::const_wavefronts});
  c.advice.places = k.places([](const SiteProfile& s) {
    return s.space == "const" && s.kind == "load" ? s.metrics.value(MetricId::site_inst) : 0;
  });
  out.push_back(std::move(c));
}

}  // namespace warpgrind::advice
