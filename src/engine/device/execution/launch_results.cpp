// Results of a launch: counts, printed text, child launches, warnings and the fault.
#include "device/execution/launch_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "device/access/count.h"
#include "device/calls/texture_unit.h"
#include "device/device_impl.h"

namespace warpgrind::device {

void make_room(events::LaunchCounts& counts, const events::KernelFacts& facts) {
  counts.sites.resize(facts.sites.size());
  counts.blocks.resize(facts.blocks.size());
  counts.guard_lanes.resize(facts.guards.size());
  counts.branches.resize(facts.branches.size());
  counts.slow_paths.resize(facts.slow_paths.size());
  counts.edges.resize(facts.edge_counters);
}

void Device::Impl::collect_results(Engine& engine, Launch& launch, LaunchResult& result,
                                   std::vector<ChildLaunch>* children) {
  result.config = launch.config;
  result.kernel = launch.kernel->code.get();
  result.machine = launch.kernel->machine.get();
  result.quick = launch.kernel->is_quick();
  result.waited_outside = launch.waited_outside;
  result.counts.work = launch.work;
  make_room(result.counts, launch.kernel->code->facts());
  std::vector<OutputRecord> text;
  for (unsigned i = 0; i < launch.workers; ++i) {
    Worker& w = *engine.workers[i];
    collect(w, result.counts);
    if (w.work_mixed) result.counts.work = nullptr;
    std::move(w.output.begin(), w.output.end(), std::back_inserter(text));
    if (children) std::move(w.children.begin(), w.children.end(), std::back_inserter(*children));
    for (Fault& warning : w.warnings) {
      const auto same = [&](const Fault& f) { return f.ptx_line == warning.ptx_line && f.kind == warning.kind; };
      const auto known = std::find_if(result.warnings.begin(), result.warnings.end(), same);
      if (known == result.warnings.end())
        result.warnings.push_back(std::move(warning));
      else
        known->went_on += warning.went_on;
    }
    w.output.clear();
    w.children.clear();
    w.child_error = 0;
    w.warnings.clear();
    w.warned.clear();
    w.mapped = {};
    if (w.textures) w.textures->forget();
  }
  if (!children) return;  // the launch runs again
  const auto by_block = [](const auto& a, const auto& b) { return a.block < b.block; };
  std::stable_sort(text.begin(), text.end(), by_block);
  std::stable_sort(children->begin(), children->end(), by_block);
  // With shares, blocks after the faulty one have run, too. Like one worker, the launch prints nothing of them.
  std::erase_if(text, [&](const OutputRecord& record) { return record.block > launch.faulty_block.load(); });
  for (OutputRecord& record : text) output.append(std::move(record));
  if (launch.keeps_time) {
    std::uint64_t before = cycles.load();
    const std::uint64_t end = *std::max_element(launch.sm_cycles.begin(), launch.sm_cycles.end());
    while (before < end && !cycles.compare_exchange_weak(before, end)) {
    }
  }
  if (launch.fault) {
    result.fault = std::move(launch.fault);
    result.survived = launch.survived;
    if (launch.stop_reason != 0) {
      std::uint64_t ended = 0;
      for (unsigned i = 0; i < launch.workers; ++i) ended += engine.workers[i]->blocks_ended;
      result.fault->message += fmt::format(": {} of its {} blocks had finished", ended, launch.blocks);
    }
    if (!launch.places.empty()) result.fault->warps = std::move(launch.places);
  }
}

}  // namespace warpgrind::device
