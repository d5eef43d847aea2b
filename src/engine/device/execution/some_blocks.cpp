// Launches of only some blocks: conditions, choice of blocks and scaling of counts.
#include "device/execution/some_blocks.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/device_impl.h"
#include "device/execution/execution.h"
#include "device/execution/launch_results.h"

namespace warpgrind::device {

namespace {

bool may_be_global(StateSpace space) {
  return space == StateSpace::global || space == StateSpace::generic;
}

std::uint64_t scaled(std::uint64_t count, long double by) {
  return static_cast<std::uint64_t>(std::llround(static_cast<long double>(count) * by));
}

void scale(AccessCost& c, long double by) {
  std::uint64_t* const members[] = {&c.sectors,        &c.lines,          &c.transactions,    &c.bytes_moved,
                                    &c.bytes_asked,    &c.ideal_sectors,  &c.wavefronts,      &c.distinct_sectors,
                                    &c.distinct_lines, &c.bank_conflicts, &c.ideal_wavefronts};
  static_assert(sizeof members / sizeof *members == sizeof(AccessCost) / sizeof(std::uint64_t));
  for (std::uint64_t* n : members) *n = scaled(*n, by);
}

}  // namespace

std::string why_all_blocks(const Launch& launch) {
  if (launch.config.cooperative) return "it is cooperative: its blocks wait for each other";
  if (launch.cluster_size > 1) return "its blocks form clusters";
  if (launch.cancellable) return "its blocks may take over the work of others (clusterlaunchcontrol)";
  if (launch.module->launches_kernels()) return "its module launches kernels from the device";
  for (const events::Site& site : launch.kernel->code->facts().sites) {
    if (!may_be_global(site.space)) continue;
    if (site.kind == SiteKind::atomic && !site.no_return)
      return "it uses the result of an atomic operation on global memory: a block may depend on other blocks";
    const bool ordered = site.is_volatile || site.order != events::MemoryOrder::weak;
    if (site.kind == SiteKind::load && ordered)
      return "it has volatile or ordered loads of global memory: its blocks may wait for each other";
  }
  return "";
}

std::vector<std::uint64_t> spread_blocks(std::uint64_t blocks, std::uint64_t count) {
  std::vector<std::uint64_t> out;
  if (count >= blocks || count < 2) {
    for (std::uint64_t b = 0; b < (count >= blocks ? blocks : std::min<std::uint64_t>(1, count)); ++b) out.push_back(b);
    return out;
  }
  constexpr double kGolden = 0.6180339887498949;  // its multiples modulo 1 are evenly spread, whatever their number
  const double part = static_cast<double>(blocks) / static_cast<double>(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double n = static_cast<double>(i), place = n * kGolden - std::floor(n * kGolden);
    out.push_back(std::min(blocks - 1, static_cast<std::uint64_t>((n + place) * part)));
  }
  out.back() = blocks - 1;
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void scale_counts(events::LaunchCounts& counts, std::uint64_t blocks, std::uint64_t ran) {
  const long double by = static_cast<long double>(blocks) / static_cast<long double>(std::max<std::uint64_t>(1, ran));
  for (events::SiteCounts& s : counts.sites) {
    for (std::uint64_t* n : {&s.requests, &s.lanes, &s.global_requests, &s.shared_requests, &s.local_requests,
                             &s.global_lanes, &s.shared_lanes, &s.local_lanes, &s.copy_places})
      *n = scaled(*n, by);
    for (AccessCost* cost : {&s.global, &s.shared, &s.local, &s.joint}) scale(*cost, by);
  }
  for (auto* list : {&counts.blocks, &counts.edges})
    for (events::BlockCounts& b : *list) {
      b.warps = scaled(b.warps, by);
      b.lanes = scaled(b.lanes, by);
    }
  for (std::uint64_t& n : counts.guard_lanes) n = scaled(n, by);
  for (events::BranchCounts& b : counts.branches)
    for (std::uint64_t* n : {&b.executed, &b.divergent, &b.taken_lanes, &b.taken}) *n = scaled(*n, by);
  counts.warps_launched = scaled(counts.warps_launched, by);
  counts.threads_launched = scaled(counts.threads_launched, by);
}

// Block 0 runs first: it decides which blocks are logged. The other logged blocks run as well, so that the modelled
// caches get the same input as in a whole launch. They are not counted, since they are not spread over the grid. The
// first and the last block count once: only the last may be partly outside the data, and it represents only itself.
std::uint64_t Device::Impl::run_some_blocks(Engine& engine, Launch& launch, events::LaunchCounts& counts) {
  const std::vector<std::uint64_t> spread = spread_blocks(launch.blocks, options.blocks);
  std::uint64_t ran = 0;
  const auto run = [&](std::vector<std::uint64_t> blocks, events::LaunchCounts* into) {
    if (blocks.empty() || launch.stop.load(std::memory_order_relaxed)) return;
    ran += blocks.size();
    launch.chosen = std::move(blocks);
    launch.to_run = launch.chosen.size();
    launch.next_block = 0;
    launch.running_workers = static_cast<unsigned>(std::min<std::uint64_t>(launch.workers, launch.to_run));
    engine.active_workers = launch.running_workers;
    engine.team.run(launch.running_workers, [&](unsigned i) { run_worker(*engine.workers[i]); });
    events::LaunchCounts not_counted;
    make_room(not_counted, launch.kernel->code->facts());
    for (unsigned i = 0; i < launch.running_workers; ++i) {
      Worker& worker = *engine.workers[i];
      collect(worker, into ? *into : not_counted);
      worker.warps_ended = worker.threads_ended = 0;
    }
  };
  make_room(counts, launch.kernel->code->facts());
  events::LaunchCounts ends;
  make_room(ends, launch.kernel->code->facts());
  run({0}, &ends);
  std::vector<std::uint64_t> beside;
  const std::vector<std::uint64_t> logged = launch.logs ? logged_blocks(launch) : std::vector<std::uint64_t>();
  std::set_difference(logged.begin(), logged.end(), spread.begin(), spread.end(), std::back_inserter(beside));
  run(std::move(beside), nullptr);
  run({spread.begin() + 1, spread.end() - 1}, &counts);
  run({spread.back()}, &ends);
  scale_counts(counts, launch.blocks - 2, spread.size() - 2);
  counts.add(ends);
  counts.blocks_run = spread.size();
  return ran;
}

}  // namespace warpgrind::device
