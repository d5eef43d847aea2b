// Counters of a launch and of a site, from the counts of the executed PTX.
#include "counters/kernel_counters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/as_double.h"
#include "counters/cache_counters.h"
#include "counters/machine_counters.h"

namespace warpgrind::counters {
namespace {

using events::SiteKind;

MetricId offset(MetricId first, unsigned by) {
  return static_cast<MetricId>(static_cast<unsigned>(first) + by);
}

// Rows of the table for one operation on a space.
struct GlobalRows {
  MetricId requests, sectors, lines, accesses, bytes, transactions, transaction_bytes;
};
#define WG_GLOBAL_ROWS(OP)                                                                                     \
  GlobalRows {                                                                                                 \
    MetricId::global_##OP##_requests, MetricId::global_##OP##_sectors, MetricId::global_##OP##_lines,          \
        MetricId::global_##OP##_accesses, MetricId::global_##OP##_bytes, MetricId::global_##OP##_transactions, \
        MetricId::global_##OP##_transaction_bytes                                                              \
  }
constexpr GlobalRows kGlobal[] = {WG_GLOBAL_ROWS(ld), WG_GLOBAL_ROWS(st), WG_GLOBAL_ROWS(atom), WG_GLOBAL_ROWS(red)};
#undef WG_GLOBAL_ROWS

struct SharedRows {
  MetricId requests, wavefronts, conflicts, ideal, bytes;
};
#define WG_SHARED_ROWS(OP)                                                                                   \
  SharedRows {                                                                                               \
    MetricId::shared_##OP##_requests, MetricId::shared_##OP##_wavefronts, MetricId::shared_##OP##_conflicts, \
        MetricId::shared_##OP##_ideal, MetricId::shared_##OP##_bytes                                         \
  }
constexpr SharedRows kShared[] = {WG_SHARED_ROWS(ld), WG_SHARED_ROWS(st), WG_SHARED_ROWS(atom)};
#undef WG_SHARED_ROWS

// Rows of the machine code, after ptxas has merged accesses. It leaves atomics unchanged.
constexpr SharedRows kMachineShared[] = {
    {MetricId::shared_ld_inst, MetricId::machine_shared_ld_wavefronts, MetricId::machine_shared_ld_conflicts,
     MetricId::machine_shared_ld_ideal, MetricId::shared_ld_bytes},
    {MetricId::shared_st_inst, MetricId::machine_shared_st_wavefronts, MetricId::machine_shared_st_conflicts,
     MetricId::machine_shared_st_ideal, MetricId::shared_st_bytes},
    kShared[2]};

struct LocalRows {
  MetricId requests, sectors, bytes;
};
constexpr LocalRows kLocal[] = {{MetricId::local_ld_requests, MetricId::local_ld_sectors, MetricId::local_ld_bytes},
                                {MetricId::local_st_requests, MetricId::local_st_sectors, MetricId::local_st_bytes}};

// Zeros for the counters that every launch has, even if nothing was counted. Computed once, because a pass over the
// table took a fifth of the time of a short launch.
const Values& zero_sums() {
  static const Values& zeroes = *new Values([] {
    Values v;
    for (std::size_t i = 0; i < kMetrics; ++i) {
      const auto id = static_cast<MetricId>(i);
      const bool counted = row(id).origin == Origin::exact || row(id).origin == Origin::modelled;
      const bool always = counted && !row(id).per_site && id != MetricId::blocks_run;
      if (row(id).kind == MetricKind::sum && always && !of_caches(id) && !of_tensor_cores(id)) v.add(id, 0);
    }
    for (const MetricId id : {MetricId::tag_requests_global, MetricId::theoretical_sectors, MetricId::ideal_sectors,
                              MetricId::branches, MetricId::divergent_branches})
      v.add(id, 0);
    return v;
  }());
  return zeroes;
}

void add_instructions(Values& v, const events::KernelFacts& facts, const events::LaunchCounts& counts) {
  constexpr MetricId kFlops[] = {MetricId::fadd, MetricId::fmul, MetricId::ffma, MetricId::dadd, MetricId::dmul,
                                 MetricId::dfma, MetricId::hadd, MetricId::hmul, MetricId::hfma};
  for (std::size_t b = 0; b < facts.blocks.size() && b < counts.blocks.size(); ++b) {
    const events::BlockFacts& f = facts.blocks[b];
    const double warps = as_double(counts.blocks[b].warps), lanes = as_double(counts.blocks[b].lanes);
    if (warps == 0) continue;
    for (unsigned c = 0; c < events::kInstructionClasses; ++c) {
      const double n = f.by_class[c];
      if (n == 0) continue;
      v.add(MetricId::inst, warps * n);
      v.add(MetricId::thread_inst, lanes * n);
      v.add(MetricId::thread_inst_on, lanes * n);
      v.add(offset(MetricId::inst_fp16, c), warps * n);
      v.add(offset(MetricId::thread_inst_fp16, c), lanes * n);
    }
    const std::uint32_t flops[] = {f.fadd, f.fmul, f.ffma, f.dadd, f.dmul, f.dfma, f.hadd, f.hmul, f.hfma};
    for (unsigned k = 0; k < 9; ++k)
      if (flops[k] != 0) v.add(kFlops[k], lanes * flops[k]);
  }
  for (std::size_t g = 0; g < facts.guards.size() && g < counts.guard_lanes.size(); ++g) {
    const events::GuardFacts& f = facts.guards[g];
    if (f.block >= counts.blocks.size()) continue;
    const double off = as_double(counts.blocks[f.block].lanes) - as_double(counts.guard_lanes[g]);
    v.add(MetricId::thread_inst_on, -off);
    v.add(offset(MetricId::thread_inst_fp16, static_cast<unsigned>(f.instruction_class)), -off);
    if (f.flop_kind != 0) v.add(kFlops[f.flop_kind - 1], -off);
  }
  for (const events::BranchCounts& b : counts.branches) {
    v.add(MetricId::branches, as_double(b.executed));
    v.add(MetricId::divergent_branches, as_double(b.divergent));
  }
}

// Sectors that a bulk or tensor copy moves. An H200 takes a bulk copy apart into pieces of 128 bytes from its beginning
// on, and so a copy that begins inside a sector moves one sector more for each piece. Copies of a site are assumed
// alike.
double moved_sectors(const events::Site& site, const events::SiteCounts& c) {
  constexpr double kPiece = 128, kSector = 32;
  const double copies = as_double(c.global_requests), sectors = as_double(c.global.sectors);
  const double bytes = as_double(c.global.bytes_asked) / copies;
  const bool tensor = site.text.find(".bulk.tensor") != std::string::npos;
  if (tensor || sectors <= copies * std::ceil(bytes / kSector)) return sectors;
  return std::max(sectors, copies * (bytes / kSector + std::ceil(bytes / kPiece)));
}

// Nsight Compute's counters of the tensor memory accelerator: what an SM receives and sends.
void add_tma(Values& v, const events::Site& site, const events::SiteCounts& c) {
  const double copies = as_double(c.global_requests), sectors = moved_sectors(site, c);
  if (site.space == StateSpace::global) {
    v.add(site.no_return ? MetricId::tma_red_inst : MetricId::tma_st_inst, copies);
    v.add(site.no_return ? MetricId::tma_red_sectors : MetricId::tma_st_sectors, sectors);
    return;
  }
  v.add(MetricId::tma_ld_inst, copies);
  // A tensor copy counts what each block receives; a bulk copy to several blocks reads its source once.
  const double blocks = as_double(c.shared_requests) / copies;
  v.add(MetricId::tma_ld_sectors, c.shared.sectors != 0 ? as_double(c.shared.sectors) : sectors * blocks);
}

void add_global(Values& v, const events::Site& site, const events::SiteCounts& c) {
  if (c.global_requests == 0) return;
  const AccessCost& a = c.global;
  if (site.kind == SiteKind::texture) {
    v.add(MetricId::texture_requests, as_double(c.global_requests));
    v.add(MetricId::texture_bytes, as_double(a.bytes_asked));
    v.add(MetricId::texture_sectors, as_double(a.sectors));
    return;
  }
  if (site.kind == SiteKind::surface) {
    v.add(MetricId::surface_requests, as_double(c.global_requests));
    v.add(MetricId::surface_bytes, as_double(a.bytes_asked));
    return;
  }
  if (site.kind == SiteKind::bulk_copy) {  // site.space is the destination's
    v.add(MetricId::bulk_copies, as_double(c.global_requests));
    v.add(MetricId::bulk_bytes, as_double(a.bytes_asked));
    v.add(site.space == StateSpace::global ? MetricId::bulk_written_sectors : MetricId::bulk_read_sectors,
          as_double(a.sectors));
    add_tma(v, site, c);
    return;
  }
  if (site.space == StateSpace::constant) {
    v.add(MetricId::const_requests, as_double(c.global_requests));
    v.add(MetricId::const_bytes, as_double(a.bytes_asked));
    v.add(MetricId::const_sectors, as_double(a.sectors));
    v.add(MetricId::const_wavefronts, as_double(a.wavefronts));
    return;
  }
  unsigned op = 0;
  if (site.kind == SiteKind::store) op = 1;
  if (site.kind == SiteKind::atomic) op = site.no_return ? 3 : 2;
  if (site.kind == SiteKind::reduction) op = 3;
  const GlobalRows& r = kGlobal[op];
  if (site.kind == SiteKind::async_copy) v.add(MetricId::ldgsts_inst, as_double(c.global_requests));
  v.add(r.requests, as_double(c.global_requests));
  v.add(r.sectors, as_double(a.sectors));
  v.add(r.lines, as_double(a.lines));
  v.add(r.accesses, as_double(c.global_lanes) * site.vector);
  v.add(r.bytes, as_double(a.bytes_asked));
  v.add(r.transactions, as_double(a.transactions));
  v.add(r.transaction_bytes, as_double(a.bytes_moved));
  v.add(MetricId::tag_requests_global, as_double(a.distinct_lines));
  v.add(MetricId::theoretical_sectors, as_double(a.distinct_sectors));
  v.add(MetricId::ideal_sectors, as_double(a.ideal_sectors));
}

void add_shared(Values& v, const events::Site& site, const events::SiteCounts& c) {
  if (c.shared_requests == 0) return;
  if (site.kind == SiteKind::async_copy) {
    v.add(MetricId::ldgsts_wavefronts, as_double(c.shared.wavefronts));
    v.add(MetricId::ldgsts_ideal, as_double(c.shared.ideal_wavefronts));
    return;
  }
  if (site.kind == SiteKind::bulk_copy) {
    v.add(MetricId::bulk_wavefronts, as_double(c.shared.wavefronts));
    if (c.global_requests != 0) return;
    v.add(MetricId::bulk_copies, as_double(c.shared_requests) / 2);  // shared to shared memory: counted on both sides
    v.add(MetricId::bulk_bytes, as_double(c.shared.bytes_asked) / 2);
    return;
  }
  unsigned op = 0;
  if (site.kind == SiteKind::store) op = 1;
  if (site.kind == SiteKind::atomic || site.kind == SiteKind::reduction) op = 2;
  const SharedRows& r = kShared[op];
  v.add(r.requests, as_double(c.shared_requests));
  v.add(r.wavefronts, as_double(c.shared.wavefronts));
  v.add(r.conflicts, as_double(c.shared.bank_conflicts));
  v.add(r.ideal, as_double(c.shared.ideal_wavefronts));
  v.add(r.bytes, as_double(c.shared.bytes_asked));
}

void add_local(Values& v, const events::Site& site, const events::SiteCounts& c) {
  if (c.local_requests == 0) return;
  const LocalRows& r = kLocal[site.kind == SiteKind::load ? 0 : 1];
  v.add(r.requests, as_double(c.local_requests));
  v.add(r.sectors, as_double(c.local.sectors));
  v.add(r.bytes, as_double(c.local.bytes_asked));
}

// Is the site a copy, which is counted at its source and at its destination?
bool on_both_sides(const events::Site& site, const events::SiteCounts& c) {
  return site.kind == SiteKind::bulk_copy ||
         (site.kind == SiteKind::async_copy && c.shared_requests != 0 && c.global_requests != 0);
}

// Counts instructions of the load/store unit by bits per lane. Constants and textures have units of their own.
void add_width(Values& v, const events::Site& site, const events::SiteCounts& c) {
  if (c.requests == 0) return;
  if (site.kind == SiteKind::texture) return v.add(MetricId::sass_texture, as_double(c.requests));
  if (site.kind == SiteKind::surface || site.kind == SiteKind::bulk_copy || site.space == StateSpace::constant) return;
  const unsigned width = std::bit_width(site.bytes());  // 1 byte: 1, 16 bytes: 5
  if (!std::has_single_bit(site.bytes()) || width > 5) return;
  v.add(offset(MetricId::memory_8b, width - 1), as_double(on_both_sides(site, c) ? c.global_requests : c.requests));
}

// target = scale * numerator / divisor.
void divide(Values& v, MetricId target, double numerator, double divisor, double scale = 1) {
  if (divisor != 0)
    v.set(target, scale * numerator / divisor);
  else if (row(target).zero_when_undefined)
    v.set(target, 0);
}

}  // namespace

Occupancy occupancy_of(const LaunchShape& s) {
  if (s.occupancy) return *s.occupancy;
  BlockResources block{.threads = static_cast<std::uint32_t>(s.block.count()),
                       .registers_per_thread = s.registers,
                       .static_shared = s.static_shared,
                       .dynamic_shared = s.dynamic_shared};
  block.shared_carveout = preferred_carveout(*s.model, s.carveout_percent, block);
  return occupancy(*s.model, block);
}

Values launch_values(const LaunchShape& s, const events::KernelFacts& facts, const events::LaunchCounts& counts) {
  Values v = zero_sums();
  v.registers_known = s.registers_from_binary;
  const Occupancy o = occupancy_of(s);
  v.set(MetricId::launches, 1);
  v.set(MetricId::grid_size, as_double(s.grid.count()));
  v.set(MetricId::block_size, as_double(s.block.count()));
  v.scaled = counts.blocks_run != 0;
  if (v.scaled) v.set(MetricId::blocks_run, as_double(counts.blocks_run));
  v.set(MetricId::thread_count, as_double(s.grid.count()) * as_double(s.block.count()));
  v.set(MetricId::registers, launched_registers(*s.model, s.registers));
  const double of_warps =
      as_double(o.warps_per_block) * kWarpSize / as_double(std::max<std::uint64_t>(1, s.block.count()));
  v.set(MetricId::registers_allocated, o.registers_allocated_per_thread * of_warps);
  v.set(MetricId::stack_bytes, as_double(s.local_bytes));
  v.set(MetricId::shared_static, as_double(s.static_shared));
  v.set(MetricId::shared_dynamic, as_double(s.dynamic_shared));
  v.set(MetricId::shared_driver, as_double(s.model->shared_reserved_per_block));
  v.set(MetricId::shared_per_block, as_double(s.static_shared + s.dynamic_shared + s.model->shared_reserved_per_block));
  v.set(MetricId::shared_allocated, as_double(o.shared_allocated_per_block));
  v.set(MetricId::shared_config, as_double(o.shared_config));
  v.set(MetricId::limit_blocks, o.limit_blocks);
  v.set(MetricId::limit_warps, o.limit_warps);
  v.set(MetricId::limit_registers, o.limit_registers);
  v.set(MetricId::limit_shared, o.limit_shared);
  v.set(MetricId::limit_barriers, o.limit_barriers);
  v.set(MetricId::occupancy, o.percent);
  v.set(MetricId::occupancy_limiter, 0);
  v.occupancy_limiter = name(o.limiter);
  v.set(MetricId::waves, waves(*s.model, o, s.grid.count()));
  v.set(MetricId::warps_launched, as_double(counts.warps_launched));
  v.set(MetricId::threads_launched, as_double(counts.threads_launched));
  add_instructions(v, facts, counts);
  for (std::size_t i = 0; i < facts.sites.size() && i < counts.sites.size(); ++i) {
    add_global(v, facts.sites[i], counts.sites[i]);
    add_shared(v, facts.sites[i], counts.sites[i]);
    add_local(v, facts.sites[i], counts.sites[i]);
    add_width(v, facts.sites[i], counts.sites[i]);
  }
  if (counts.caches) add_caches(v, *counts.caches);
  add_machine_values(v, s, facts, counts);
  derive(v);
  return v;
}

void derive(Values& v) {
  const auto get = [&](MetricId id) { return v.get(id); };
  divide(v, MetricId::branch_efficiency, get(MetricId::branches) - get(MetricId::divergent_branches),
         get(MetricId::branches), 100);

  v.set(MetricId::flop16, get(MetricId::hadd) + get(MetricId::hmul) + 2 * get(MetricId::hfma));
  v.set(MetricId::flop32, get(MetricId::fadd) + get(MetricId::fmul) + 2 * get(MetricId::ffma));
  v.set(MetricId::flop64, get(MetricId::dadd) + get(MetricId::dmul) + 2 * get(MetricId::dfma));
  v.set(MetricId::flop, get(MetricId::flop16) + get(MetricId::flop32) + get(MetricId::flop64));
  double accesses = 0, requests = 0, sectors = 0;
  for (const GlobalRows& r : kGlobal) {
    accesses += get(r.accesses);
    requests += get(r.requests);
    sectors += get(r.sectors);
  }
  divide(v, MetricId::cgma, get(MetricId::flop), accesses);
  divide(v, MetricId::intensity, get(MetricId::flop), sectors * 32);
  v.set(MetricId::global_load_inst, get(MetricId::global_ld_requests) - get(MetricId::ldgsts_inst));
  v.set(MetricId::excessive_sectors, get(MetricId::theoretical_sectors) - get(MetricId::ideal_sectors));

  double local = 0;
  for (const LocalRows& r : kLocal) {
    local += get(r.sectors);
    requests += get(r.requests);
  }
  v.set(MetricId::local_theoretical_sectors, local);
  v.set(MetricId::spill_requests, get(MetricId::spill_ld) + get(MetricId::spill_st));
  v.set(MetricId::lsu_requests, requests);
  v.set(MetricId::lsu_sectors, sectors + local);
  v.set(MetricId::sass_atom, get(MetricId::global_atom_requests) + get(MetricId::shared_atom_requests));
  if (get(MetricId::surface_requests) == 0) {
    v.set(MetricId::tex_requests, get(MetricId::texture_requests));
    v.set(MetricId::tex_sectors, get(MetricId::texture_sectors));
  }

  double wavefronts = get(MetricId::ldgsts_wavefronts), ideal = get(MetricId::ldgsts_ideal), conflicts = 0;
  for (const SharedRows& r : kMachineShared) {
    wavefronts += get(r.wavefronts);
    ideal += get(r.ideal);
    conflicts += get(r.conflicts);
  }
  v.set(MetricId::shared_conflicts, conflicts);
  v.set(MetricId::shared_wavefronts, wavefronts);
  v.set(MetricId::shared_ideal, ideal);
  v.set(MetricId::shared_excessive, wavefronts - ideal);

  for (const MetricRow& r : metric_table()) {
    if (r.numerator == MetricId::count || !v.has(r.numerator)) continue;
    const auto id = static_cast<MetricId>(&r - metric_table().data());
    divide(v, id, get(r.numerator), r.divisor == MetricId::count ? 1 : get(r.divisor), r.scale);
  }
}

Values site_values(const events::Site& site, const events::SiteCounts& c) {
  Values v;
  const bool bulk = site.kind == SiteKind::bulk_copy;
  const bool twice = on_both_sides(site, c);
  v.set(MetricId::site_inst, as_double(bulk ? c.requests / 2 : twice ? c.global_requests : c.requests));
  v.set(MetricId::site_thread_inst, as_double(bulk ? c.lanes / 2 : twice ? c.global_lanes : c.lanes));
  v.set(MetricId::site_bytes, as_double(c.global.bytes_asked + c.local.bytes_asked + c.shared.bytes_asked));
  divide(v, MetricId::site_lanes, as_double(c.lanes), as_double(c.requests));
  const bool global = c.global_requests != 0 && site.kind != SiteKind::texture && site.kind != SiteKind::surface &&
                      site.space != StateSpace::constant && !bulk;
  if (global) {
    v.set(MetricId::theoretical_sectors, as_double(c.global.distinct_sectors));
    v.set(MetricId::ideal_sectors, as_double(c.global.ideal_sectors));
    v.set(MetricId::excessive_sectors, as_double(c.global.distinct_sectors - c.global.ideal_sectors));
    v.set(MetricId::tag_requests_global, as_double(c.global.distinct_lines));
    v.set(MetricId::site_transactions, as_double(c.global.transactions));
    divide(v, MetricId::site_efficiency, as_double(c.global.bytes_asked), as_double(c.global.bytes_moved), 100);
  }
  if (c.global_requests + c.local_requests != 0) {
    v.set(MetricId::site_sectors, as_double(c.global.sectors + c.local.sectors));
    divide(v, MetricId::site_sectors_per_request, v.get(MetricId::site_sectors),
           as_double(c.global_requests + c.local_requests));
  }
  if (c.local_requests != 0) v.set(MetricId::local_theoretical_sectors, as_double(c.local.sectors));
  if (c.shared_requests != 0 && !bulk) {
    v.set(MetricId::shared_wavefronts, as_double(c.shared.wavefronts));
    v.set(MetricId::shared_ideal, as_double(c.shared.ideal_wavefronts));
    v.set(MetricId::shared_excessive, as_double(c.shared.wavefronts - c.shared.ideal_wavefronts));
    v.set(MetricId::shared_conflicts, as_double(c.shared.bank_conflicts));
    divide(v, MetricId::site_nway, as_double(c.shared.wavefronts), as_double(c.shared_requests));
    if (!global)
      divide(v, MetricId::site_efficiency, as_double(c.shared.ideal_wavefronts), as_double(c.shared.wavefronts), 100);
  }
  return v;
}

Values branch_values(const events::BranchCounts& c) {
  Values v;
  v.set(MetricId::branches, as_double(c.executed));
  v.set(MetricId::divergent_branches, as_double(c.divergent));
  divide(v, MetricId::branch_efficiency, as_double(c.executed) - as_double(c.divergent), as_double(c.executed), 100);
  return v;
}

}  // namespace warpgrind::counters
