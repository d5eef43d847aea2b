#include "timing/estimate.h"

#include <algorithm>
#include <cmath>

#include "gpu/issue.h"

namespace warpgrind::timing {
namespace {

using events::InstructionClass;
using events::SiteKind;

// One warp that loads one float a lane, waits, and stores it, stays on an H200's SM for about 800 ns: 64 warps on each
// of 132 SMs then copy 2.6 TB/s, which is what a one-float-a-thread copy reaches there (4.2 TB/s with four).
constexpr double kLoadedMemoryLatencyNs = 800;
// A hit in L1: 42 to 55 cycles on an H200 (pointer chase).
constexpr double kL1LatencyCycles = 45;
constexpr double kSharedLatencyCycles = 23;  // H200, pointer chase
constexpr double kLoadsInFlight = 4;         // loads that a warp issues before it needs the first; assumed
// L2 to L1: 32 bytes a cycle and SM, of which about 70 % are reached (device copies inside L2).
constexpr double kL2BytesPerCycle = 32 * 0.7;
// 216 G atomics/s on distinct addresses, 8 in a sector, over 132 SMs at 1.98 GHz: a tenth of a sector a cycle and SM.
constexpr double kAtomicSectorsPerCycle = 0.1;
constexpr double kLineBytes = 128;

struct Work {
  double by_class[events::kInstructionClasses] = {};  // warp instructions
  double instructions = 0;
  double global_bytes = 0, global_lines = 0, global_loads = 0;
  double local_bytes = 0, local_lines = 0;
  double shared_wavefronts = 0, shared_loads = 0;
  double atomic_sectors = 0, constant_wavefronts = 0;
};

Work work_of(const events::KernelFacts& facts, const events::LaunchCounts& counts) {
  Work w;
  for (std::size_t b = 0; b < facts.blocks.size() && b < counts.blocks.size(); ++b)
    for (unsigned c = 0; c < events::kInstructionClasses; ++c) {
      const double n = static_cast<double>(counts.blocks[b].warps) * facts.blocks[b].by_class[c];
      w.by_class[c] += n;
      w.instructions += n;
    }
  for (std::size_t s = 0; s < facts.sites.size() && s < counts.sites.size(); ++s) {
    const events::SiteCounts& c = counts.sites[s];
    const SiteKind kind = facts.sites[s].kind;
    const bool reads = kind == SiteKind::load || kind == SiteKind::texture || kind == SiteKind::async_copy;
    if (facts.sites[s].space == StateSpace::constant) {  // the constant caches hold it
      w.constant_wavefronts += static_cast<double>(c.global.wavefronts);
      continue;
    }
    if (kind == SiteKind::atomic || kind == SiteKind::reduction) {
      w.atomic_sectors += static_cast<double>(c.global.sectors);
    } else {
      w.global_bytes += static_cast<double>(c.global.bytes_moved);
      w.global_lines += static_cast<double>(c.global.lines);
    }
    w.local_bytes += static_cast<double>(c.local.sectors) * 32;
    w.local_lines += static_cast<double>(c.local.lines);
    w.shared_wavefronts += static_cast<double>(c.shared.wavefronts);
    if (reads) {
      w.global_loads += static_cast<double>(c.global_requests + c.local_requests);
      w.shared_loads += static_cast<double>(c.shared_requests);
    }
  }
  return w;
}

class Estimator {
 public:
  Estimator(const GpuModel& model, const Work& work, const Occupancy& occupancy, std::uint64_t blocks)
      : m_(model), w_(work), o_(occupancy), blocks_(static_cast<double>(std::max<std::uint64_t>(1, blocks))) {
    const double sms = m_.sm_count;
    const double per_sm = std::ceil(blocks_ / sms);
    cycles_per_ns_ = m_.sm_clock_mhz * 1e-3;
    busy_sms_ = blocks_ / per_sm;  // the fullest SM has per_sm blocks: the others wait for it
  }

  KernelEstimate run(const Footprint& footprint) {
    const double moved = w_.global_bytes + w_.local_bytes;
    result_.dram_bytes = moved;
    if (footprint.total() != 0) links(footprint);
    const double bandwidth = m_.theoretical_bandwidth() * m_.achievable_bandwidth_fraction * 1e-9;  // bytes a ns
    add(Limit::dram_bandwidth, result_.dram_bytes / bandwidth);
    if (m_.l2_bytes != 0) add(Limit::l2_bandwidth, moved / (kL2BytesPerCycle * m_.sm_count * cycles_per_ns_));
    const double line_cycles = m_.cc_major < 2 ? kLineBytes / 32 : 1;
    add(Limit::l1_throughput, per_sm((w_.global_lines + w_.local_lines) * line_cycles, 1));
    const double lanes = m_.rules.banks.lanes;
    add(Limit::shared_throughput, per_sm(w_.shared_wavefronts, lanes == 16 ? 0.5 : 1));
    add(Limit::constant_throughput, per_sm(w_.constant_wavefronts, 1));
    add(Limit::atomics, w_.atomic_sectors / (kAtomicSectorsPerCycle * m_.sm_count * cycles_per_ns_));
    arithmetic();
    latency(moved);

    std::stable_sort(result_.bounds.begin(), result_.bounds.end(),
                     [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
    const double launch = m_.launch_latency_us * 1e3;
    const double longest = result_.bounds.empty() ? 0 : result_.bounds.front().ns;
    result_.limit = longest < launch ? Limit::launch : result_.bounds.front().limit;
    result_.ns = longest + launch;
    return std::move(result_);
  }

 private:
  // The global traffic is taken to be spread over the allocations by their size. The host's memory is not kept in L2:
  // it crosses the link at every access.
  void links(const Footprint& footprint) {
    const double share = static_cast<double>(footprint.host) / static_cast<double>(footprint.total());
    const double host = w_.global_bytes * share;
    add(Limit::host_link, host / m_.link_gbps_pinned);
    result_.dram_bytes = std::min(result_.dram_bytes - host, static_cast<double>(footprint.device));
  }

  void add(Limit limit, double ns) {
    if (ns > 0) result_.bounds.push_back({limit, ns});
  }
  // Work spread over the SMs at `rate` a cycle and SM.
  double per_sm(double amount, double rate) const { return amount / (rate * busy_sms_ * cycles_per_ns_); }
  double of(InstructionClass c) const { return w_.by_class[static_cast<unsigned>(c)]; }

  void arithmetic() {
    const auto warps_a_cycle = [](double units) { return units / kWarpSize; };
    const double fp64_units = m_.cores_fp64_per_sm != 0 ? m_.cores_fp64_per_sm : m_.cores_fp32_per_sm / 8.0;
    const double integer_units = std::max<std::uint32_t>(1, m_.cores_int_per_sm);
    add(Limit::fp32,
        per_sm(of(InstructionClass::fp32) + of(InstructionClass::fp16), warps_a_cycle(m_.cores_fp32_per_sm)));
    add(Limit::fp64, per_sm(of(InstructionClass::fp64), warps_a_cycle(fp64_units)));
    add(Limit::integer,
        per_sm(of(InstructionClass::integer) + of(InstructionClass::bit) + of(InstructionClass::compare_select),
               warps_a_cycle(integer_units)));
    add(Limit::special_functions, per_sm(of(InstructionClass::conversion), warps_a_cycle(m_.sfu_per_sm)));
    const double issue = m_.cores_fp32_per_sm < kWarpSize ? warps_a_cycle(m_.cores_fp32_per_sm) : m_.schedulers_per_sm;
    add(Limit::issue, per_sm(w_.instructions, issue));
  }

  void latency(double moved) {
    const double warps = blocks_ * std::max(1u, o_.warps_per_block);
    const double resident = std::max(1u, o_.blocks_per_sm);
    const double rounds = std::max(1.0, std::ceil(blocks_ / (resident * m_.sm_count)));
    // Many rounds overlap at their ends; with one, the last warp counts.
    const double waves = std::max(1.0, blocks_ / (resident * m_.sm_count));
    const double effective = rounds < 4 ? rounds : waves;
    const double from_dram = moved > 0 ? result_.dram_bytes / moved : 0;
    const double hit_ns = kL1LatencyCycles / cycles_per_ns_;
    const double load_ns = from_dram * kLoadedMemoryLatencyNs + (1 - from_dram) * hit_ns;
    const double loads = w_.global_loads / warps, shared = w_.shared_loads / warps;
    const double load_rounds = loads <= 1 ? loads : std::max(1.0, loads / kLoadsInFlight);
    const double one_warp = w_.instructions / warps * dependent_issue_cycles(m_) / cycles_per_ns_ +
                            load_rounds * load_ns + shared / kLoadsInFlight * kSharedLatencyCycles / cycles_per_ns_;
    add(Limit::latency, one_warp * effective);
  }

  const GpuModel& m_;
  const Work& w_;
  const Occupancy& o_;
  double blocks_, cycles_per_ns_ = 1, busy_sms_ = 1;
  KernelEstimate result_;
};

}  // namespace

const char* name(Limit limit) {
  switch (limit) {
    case Limit::dram_bandwidth:
      return "DRAM bandwidth";
    case Limit::l2_bandwidth:
      return "L2 bandwidth";
    case Limit::l1_throughput:
      return "L1 throughput";
    case Limit::shared_throughput:
      return "shared memory throughput";
    case Limit::constant_throughput:
      return "constant cache throughput";
    case Limit::atomics:
      return "atomics";
    case Limit::fp32:
      return "FP32 units";
    case Limit::fp64:
      return "FP64 units";
    case Limit::host_link:
      return "host link";
    case Limit::integer:
      return "integer units";
    case Limit::special_functions:
      return "special function units";
    case Limit::issue:
      return "instruction issue";
    case Limit::latency:
      return "latency";
    case Limit::launch:
      return "launch latency";
  }
  return "unknown";
}

KernelEstimate estimate_kernel(const GpuModel& model, const events::KernelFacts& facts,
                               const events::LaunchCounts& counts, const Occupancy& occupancy, std::uint64_t blocks,
                               const Footprint& footprint) {
  const Work work = work_of(facts, counts);
  return Estimator(model, work, occupancy, blocks).run(footprint);
}

double estimate_copy_ns(const GpuModel& m, CopyPath path, HostMemory host, std::uint64_t bytes) {
  const double n = static_cast<double>(bytes);
  const double latency = m.copy_latency_us * 1e3;
  // The driver copies small pageable buffers through its own pinned ones at the pinned rate.
  constexpr double kStagedBytes = 64 * 1024;
  switch (path) {
    case CopyPath::host_to_device:
    case CopyPath::device_to_host: {
      const double pinned = host == HostMemory::pinned ? n : std::min(n, kStagedBytes);
      return latency + pinned / m.link_gbps_pinned + (n - pinned) / m.link_gbps_pageable;
    }
    case CopyPath::device_to_device:  // read and written
      return m.launch_latency_us * 1e3 + 2 * n / (m.theoretical_bandwidth() * m.achievable_bandwidth_fraction * 1e-9);
    case CopyPath::peer:
      return latency + n / (m.peer_gbps > 0 ? m.peer_gbps : m.link_gbps_pinned / 2);
    case CopyPath::host_to_host:
      return n / m.link_gbps_pageable;
  }
  return latency;
}

double estimate_memset_ns(const GpuModel& m, std::uint64_t bytes) {
  return m.launch_latency_us * 1e3 +
         static_cast<double>(bytes) / (m.theoretical_bandwidth() * m.achievable_bandwidth_fraction * 1e-9);
}

}  // namespace warpgrind::timing
