// The table of metrics, and the counters of kernels with known counts.
#include <gtest/gtest.h>

#include <set>

#include "counters/kernel_counters.h"
#include "read_file.h"

namespace warpgrind::counters {
namespace {

const GpuModel& h200() {
  return **find_gpu_model("h200");
}

TEST(MetricTable, NamesAreUniqueAndDefined) {
  std::set<std::string> names;
  for (const MetricRow& r : metric_table()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_GT(std::string(r.definition).size(), 10u) << r.name;
  }
  EXPECT_EQ(find_metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), MetricId::global_ld_sectors);
  EXPECT_EQ(find_metric("no such metric"), std::nullopt);
}

TEST(MetricTable, DocumentIsCurrent) {
  EXPECT_EQ(read_file(WARPGRIND_TESTS "/../docs/counters.md"), metrics_as_markdown())
      << "run: warpgrind-docs counters > docs/counters.md";
}

// A kernel of one block with known counts, in the form in which the JIT and the device deliver them.
struct Example {
  events::KernelFacts facts;
  events::LaunchCounts counts;
  LaunchShape shape;

  Example() {
    shape.model = &h200();
    shape.grid = {10, 1, 1};
    shape.block = {256, 1, 1};
    shape.registers = 32;
    shape.registers_from_binary = true;
    counts.warps_launched = 80;
    counts.threads_launched = 2560;
  }
  void block(std::uint64_t warps, std::uint64_t lanes, unsigned integer, unsigned ffma) {
    events::BlockFacts f;
    f.by_class[static_cast<unsigned>(events::InstructionClass::integer)] = integer;
    f.by_class[static_cast<unsigned>(events::InstructionClass::fp32)] = ffma;
    f.ffma = ffma;
    facts.blocks.push_back(f);
    counts.blocks.push_back({warps, lanes});
  }
  events::SiteCounts& site(events::SiteKind kind, StateSpace space, unsigned bytes, unsigned vector = 1) {
    events::Site s;
    s.kind = kind;
    s.space = space;
    s.element_bytes = static_cast<std::uint8_t>(bytes);
    s.vector = static_cast<std::uint8_t>(vector);
    s.instruction = static_cast<std::uint32_t>(facts.sites.size());
    facts.sites.push_back(s);
    return counts.sites.emplace_back();
  }
  // `times` full-warp accesses to consecutive elements.
  void contiguous(events::SiteKind kind, unsigned bytes, unsigned vector, std::uint64_t times) {
    events::SiteCounts& c = site(kind, StateSpace::global, bytes, vector);
    std::int64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = std::int64_t{l} * bytes * vector;
    const AccessType type = kind == events::SiteKind::load ? AccessType::load : AccessType::store;
    c.global.add(global_cost(h200().rules, type, offsets, kFullMask, bytes * vector), times);
    c.requests = c.global_requests = times;
    c.lanes = c.global_lanes = 32 * times;
  }
  Values values() const { return launch_values(shape, facts, counts); }
};

// A metric computed from a modelled counter is not exact itself. The test changes each modelled counter and checks
// every metric that then changes.
TEST(MetricTable, DerivedRowsAreNoBetterThanTheirParts) {
  for (std::size_t part = 0; part < kMetrics; ++part) {
    const MetricRow& changed = metric_table()[part];
    if (changed.kind != MetricKind::sum || changed.origin == Origin::exact) continue;
    Values before, after;
    for (std::size_t k = 0; k < kMetrics; ++k) {
      if (metric_table()[k].kind == MetricKind::derived) continue;
      before.set(static_cast<MetricId>(k), static_cast<double>(k + 7));
      after.set(static_cast<MetricId>(k), static_cast<double>(k == part ? 10 * k + 99 : k + 7));
    }
    derive(before);
    derive(after);
    for (std::size_t k = 0; k < kMetrics; ++k) {
      const auto id = static_cast<MetricId>(k);
      if (before.get(id) == after.get(id)) continue;
      EXPECT_GE(row(id).origin, changed.origin) << row(id).name << " from " << changed.name;
    }
  }
}

// The same for the cost of atomics (rounds of lanes on one address and their passes), by launch and by line.
TEST(MetricTable, CostsOfAtomicsAreModelled) {
  for (const auto kind : {events::SiteKind::atomic, events::SiteKind::reduction})
    for (const bool global : {true, false}) {
      const auto values_with = [&](std::uint64_t more, Values* line) {
        Example e;
        e.block(10, 320, 0, 4);
        events::SiteCounts& c = e.site(kind, global ? StateSpace::global : StateSpace::shared, 4);
        AccessCost& cost = global ? c.global : c.shared;
        (global ? c.global_requests : c.shared_requests) = c.requests = 10;
        (global ? c.global_lanes : c.shared_lanes) = c.lanes = 320;
        cost.bytes_asked = 1280;
        cost.ideal_sectors = cost.ideal_wavefronts = cost.distinct_sectors = cost.distinct_lines = 40;
        if (global)
          cost.sectors = cost.lines = cost.transactions = cost.bytes_moved = 2000 + more;
        else
          cost.wavefronts = cost.bank_conflicts = 2000 + more;
        *line = site_values(e.facts.sites[0], c);
        return e.values();
      };
      Values line, other_line;
      const Values launch = values_with(0, &line), other_launch = values_with(500, &other_line);
      unsigned follow = 0;
      for (std::size_t k = 0; k < kMetrics; ++k) {
        const auto id = static_cast<MetricId>(k);
        if (launch.get(id) == other_launch.get(id) && line.get(id) == other_line.get(id)) continue;
        ++follow;
        EXPECT_NE(row(id).origin, Origin::exact) << row(id).name;
      }
      EXPECT_GT(follow, 4u);
    }
}

TEST(KernelCounters, InstructionsAndLanes) {
  Example e;
  e.block(80, 2560, 10, 0);
  e.block(40, 640, 0, 2);  // half of the lanes
  const Values v = e.values();
  EXPECT_EQ(v.get(MetricId::inst), 880);
  EXPECT_EQ(v.get(MetricId::thread_inst), 25600 + 1280);
  EXPECT_EQ(v.get(MetricId::inst_integer), 800);
  EXPECT_EQ(v.get(MetricId::thread_inst_fp32), 1280);
  EXPECT_DOUBLE_EQ(v.get(MetricId::lanes_per_inst), 26880.0 / 880);
  EXPECT_EQ(v.get(MetricId::ffma), 1280);
  EXPECT_EQ(v.get(MetricId::flop), 2560);
}

TEST(KernelCounters, GuardsTakeLanesOff) {
  Example e;
  e.block(10, 320, 1, 1);
  events::GuardFacts g;
  g.block = 0;
  g.instruction_class = events::InstructionClass::fp32;
  g.flop_kind = 3;
  e.facts.guards.push_back(g);
  e.counts.guard_lanes.push_back(100);
  const Values v = e.values();
  EXPECT_EQ(v.get(MetricId::thread_inst), 640);
  EXPECT_EQ(v.get(MetricId::thread_inst_on), 420);
  EXPECT_EQ(v.get(MetricId::thread_inst_fp32), 100);
  EXPECT_EQ(v.get(MetricId::ffma), 100);
  EXPECT_EQ(v.get(MetricId::inst_fp32), 10);
}

// ld.const counts at its line as a constant load. The global counters include global memory only.
TEST(KernelCounters, ConstantMemoryIsNotGlobal) {
  Example e;
  events::SiteCounts& c = e.site(events::SiteKind::load, StateSpace::constant, 4);
  const std::int64_t offsets[kWarpSize] = {};
  const AccessForm form{StateSpace::constant, AccessType::load, 4};
  c.add(StateSpace::constant, access_cost(h200().rules, form, offsets, kFullMask), kFullMask, 7);
  const Values v = e.values();
  EXPECT_EQ(v.get(MetricId::const_requests), 7);
  EXPECT_EQ(v.get(MetricId::const_wavefronts), 7);
  EXPECT_EQ(v.get(MetricId::theoretical_sectors), 0);
  const Values line = site_values(e.facts.sites[0], c);
  EXPECT_EQ(line.get(MetricId::site_inst), 7);
  for (const MetricId id : {MetricId::tag_requests_global, MetricId::theoretical_sectors, MetricId::ideal_sectors,
                            MetricId::excessive_sectors})
    EXPECT_FALSE(line.has(id)) << row(id).name;
}

// One lane copies 256 bytes into shared memory, five times.
TEST(KernelCounters, BulkCopies) {
  Example e;
  events::SiteCounts& c = e.site(events::SiteKind::bulk_copy, StateSpace::shared, 1);
  const AccessCost read = stretch_cost(h200().rules, StateSpace::global, AccessType::load, 32, 256);
  const AccessCost written = stretch_cost(h200().rules, StateSpace::shared, AccessType::store, 0, 256);
  c.add(StateSpace::global, read, 1, 5);
  c.add(StateSpace::shared, written, 1, 5);
  const Values v = e.values();
  EXPECT_EQ(v.get(MetricId::bulk_copies), 5);
  EXPECT_EQ(v.get(MetricId::bulk_bytes), 5 * 256);
  EXPECT_EQ(v.get(MetricId::bulk_read_sectors), 5 * 8);
  EXPECT_EQ(v.get(MetricId::bulk_written_sectors), 0);
  EXPECT_EQ(v.get(MetricId::bulk_wavefronts), 5 * 2);
  EXPECT_EQ(v.get(MetricId::global_ld_requests), 0);
  EXPECT_EQ(v.get(MetricId::shared_st_requests), 0);
  EXPECT_EQ(site_values(e.facts.sites[0], c).get(MetricId::site_inst), 5);
}

// Partial warps take as many registers as full ones.
TEST(KernelCounters, RegistersOfPartialWarps) {
  Example e;
  e.shape.block = {48, 1, 1};
  EXPECT_DOUBLE_EQ(e.values().get(MetricId::registers_allocated), 32.0 * 64 / 48);
  e.shape.block = {64, 1, 1};
  EXPECT_DOUBLE_EQ(e.values().get(MetricId::registers_allocated), 32);
}

TEST(KernelCounters, GlobalMemory) {
  Example e;
  e.contiguous(events::SiteKind::load, 4, 1, 100);
  e.contiguous(events::SiteKind::load, 4, 4, 10);
  e.contiguous(events::SiteKind::store, 4, 1, 50);
  const Values v = e.values();
  EXPECT_EQ(v.get(MetricId::global_ld_requests), 110);
  EXPECT_EQ(v.get(MetricId::global_ld_sectors), 400 + 160);
  EXPECT_EQ(v.get(MetricId::global_ld_lines), 100 + 40);
  EXPECT_DOUBLE_EQ(v.get(MetricId::global_ld_sectors_per_request), 560.0 / 110);
  EXPECT_EQ(v.get(MetricId::global_ld_accesses), 3200 + 1280);
  EXPECT_EQ(v.get(MetricId::global_st_sectors), 200);
  EXPECT_DOUBLE_EQ(v.get(MetricId::global_st_efficiency), 100);
  EXPECT_EQ(v.get(MetricId::theoretical_sectors), 760);
  EXPECT_EQ(v.get(MetricId::excessive_sectors), 0);
  EXPECT_EQ(v.get(MetricId::global_red_requests), 0);
  EXPECT_TRUE(v.has(MetricId::global_red_requests));
  EXPECT_TRUE(v.has(MetricId::global_red_sectors_per_request));  // 0, as Nsight Compute prints it
  EXPECT_FALSE(v.has(MetricId::global_red_efficiency));
}

// The ratio of the course documents: 1 for the naive product, W for tiles of width W (without the final store).
TEST(KernelCounters, ComputeToGlobalMemoryAccessRatio) {
  const unsigned n = 64;
  Example naive;
  naive.block(n, 32 * n, 0, 1);
  naive.contiguous(events::SiteKind::load, 4, 1, 2 * n);
  EXPECT_DOUBLE_EQ(naive.values().get(MetricId::cgma), 1);
  Example tiled;
  tiled.block(n, 32 * n, 0, 1);
  tiled.contiguous(events::SiteKind::load, 4, 1, 2 * n / 16);
  tiled.contiguous(events::SiteKind::store, 4, 1, 1);
  EXPECT_DOUBLE_EQ(tiled.values().get(MetricId::cgma_loads), 16);
  EXPECT_LT(tiled.values().get(MetricId::cgma), 16);
}

TEST(KernelCounters, SharedMemory) {
  Example e;
  events::SiteCounts& c = e.site(events::SiteKind::load, StateSpace::shared, 4);
  std::int64_t column[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) column[l] = std::int64_t{l} * 128;
  c.shared.add(shared_cost(h200().rules, AccessType::load, column, kFullMask, 4), 5);
  c.requests = c.shared_requests = 5;
  c.lanes = c.shared_lanes = 160;
  const Values v = e.values();
  EXPECT_EQ(v.get(MetricId::shared_ld_wavefronts), 160);
  EXPECT_EQ(v.get(MetricId::shared_conflicts), 155);
  EXPECT_EQ(v.get(MetricId::shared_ld_ways), 32);
  EXPECT_EQ(v.get(MetricId::shared_ideal), 5);
  EXPECT_DOUBLE_EQ(v.get(MetricId::shared_efficiency), 100.0 / 32);
  const Values s = site_values(e.facts.sites[0], e.counts.sites[0]);
  EXPECT_EQ(s.get(MetricId::site_nway), 32);
  EXPECT_EQ(s.get(MetricId::shared_excessive), 155);
}

TEST(KernelCounters, LaunchesAddUpBeforeRatios) {
  Example one, two;
  one.contiguous(events::SiteKind::load, 4, 1, 10);
  two.contiguous(events::SiteKind::load, 4, 4, 10);
  Values sum = one.values();
  sum.add(two.values());
  derive(sum);
  EXPECT_EQ(sum.get(MetricId::launches), 2);
  EXPECT_EQ(sum.get(MetricId::grid_size), 10);  // of the first launch
  EXPECT_DOUBLE_EQ(sum.get(MetricId::global_ld_sectors_per_request), 200.0 / 20);
}

TEST(KernelCounters, OriginFollowsTheRegisterCount) {
  Example e;
  EXPECT_EQ(e.values().origin(MetricId::occupancy), Origin::exact);
  e.shape.registers_from_binary = false;
  EXPECT_EQ(e.values().origin(MetricId::occupancy), Origin::estimated);
  EXPECT_EQ(e.values().origin(MetricId::global_ld_requests), Origin::exact);
  EXPECT_EQ(e.values().occupancy_limiter, "warps");
}

TEST(KernelCounters, Branches) {
  Example e;
  e.facts.branches.resize(2);
  e.counts.branches = {{100, 10, 0}, {100, 0, 0}};
  EXPECT_EQ(e.values().get(MetricId::divergent_branches), 10);
  EXPECT_DOUBLE_EQ(e.values().get(MetricId::branch_efficiency), 95);
  EXPECT_DOUBLE_EQ(branch_values(e.counts.branches[0]).get(MetricId::branch_efficiency), 90);
}

}  // namespace
}  // namespace warpgrind::counters
