// The critical path of a warp, on handwritten code.
#include <gtest/gtest.h>

#include "sass/classify.h"
#include "timing/schedule.h"
#include "timing/warp_path.h"
#include "timing_models.h"

namespace warpgrind::timing {
namespace {

using sass::Instruction;
using sass::Pipe;

Instruction fma(ptx::RegId to, std::vector<ptx::RegId> from) {
  Instruction i;
  i.pipe = Pipe::fma;
  i.latency = 4.5F;
  i.writes = {to};
  i.reads = std::move(from);
  return i;
}
Instruction load(ptx::RegId to, ptx::RegId address) {
  Instruction i;
  i.pipe = Pipe::global;
  i.load = true;
  i.site = 0;
  i.result_words = 1;
  i.writes = {to};
  i.reads = {address};
  return i;
}
Instruction barrier() {
  Instruction i;
  i.pipe = Pipe::barrier;
  return i;
}

// cp.async of one lane's part, the end of a group, a wait that leaves `left` groups under way.
Instruction copy_async() {
  Instruction i;
  i.pipe = Pipe::global;
  i.load = i.store = true;
  i.site = 0;
  i.async = sass::AsyncStep::copy;
  return i;
}
Instruction async_step(sass::AsyncStep step, unsigned left = 0) {
  Instruction i;
  i.pipe = Pipe::control;
  i.async = step;
  i.groups_left = static_cast<std::uint8_t>(left);
  return i;
}

// One straight block that every warp runs `times` times; a loop if that is more than once.
struct Kernel {
  sass::Code code;
  sass::Flow flow;
  Kernel(std::vector<Instruction> instructions, double times = 1) {
    sass::Block block;
    block.instructions = std::move(instructions);
    block.facts_blocks = {0};
    if (times > 1) block.successors.push_back({0, {}});
    block.successors.push_back({sass::Edge::kLeaves, {}});
    code.blocks = {block};
    code.registers = 64;
    flow.warps = flow.lanes = {times};
    flow.edges = {{}};
    if (times > 1) flow.edges[0].push_back(times - 1);
    flow.edges[0].push_back(1);
  }
  WarpPath path(double new_sectors = 1) const {
    SiteFacts sites;
    sites.waiting_part = [=](std::uint32_t) { return new_sectors; };
    return warp_path(h200(), code, flow, {1, 8}, sites);
  }
};

// `all` by every warp of a grid of 125 blocks of 8 warps, then `some` by `entering` of the 1000 warps.
WarpPath path_of_some(std::vector<Instruction> all, std::vector<Instruction> some, double entering) {
  sass::Code code;
  code.blocks.resize(2);
  code.registers = 64;
  code.blocks[0].instructions = std::move(all);
  code.blocks[0].successors = {{1, {}}, {sass::Edge::kLeaves, {}}};
  code.blocks[1].instructions = std::move(some);
  code.blocks[1].successors = {{sass::Edge::kLeaves, {}}};
  for (std::uint32_t b = 0; b < 2; ++b) code.blocks[b].facts_blocks = {b};
  sass::Flow flow;
  flow.warps = flow.lanes = {1000, entering};
  flow.edges = {{entering, 1000 - entering}, {entering}};
  return warp_path(h200(), code, flow, {1000, 8}, {});
}

// The second block is timed alone, because few warps enter it. Its cycles are kept for equal costs.
TEST(WarpPath, KeptCyclesOfABlockChangeNothing) {
  sass::Code code;
  code.blocks.resize(2);
  code.registers = 64;
  code.blocks[0].instructions = {fma(1, {1})};
  code.blocks[0].successors = {{1, {}}, {sass::Edge::kLeaves, {}}};
  code.blocks[1].instructions = {load(2, 30), fma(3, {2}), fma(3, {3})};
  code.blocks[1].successors = {{sass::Edge::kLeaves, {}}};
  for (std::uint32_t b = 0; b < 2; ++b) code.blocks[b].facts_blocks = {b};
  sass::Flow flow;
  flow.warps = flow.lanes = {1000, 10};
  flow.edges = {{10, 990}, {10}};
  ScheduledBlocks kept;
  std::vector<double> seen;
  for (const double waiting : {1.0, 1.0, 0.0, 1.0}) {
    SiteFacts sites;
    sites.waiting_part = [&](std::uint32_t) { return waiting; };
    const WarpPath path = warp_path(h200(), code, flow, {1000, 8}, sites, kept);
    EXPECT_EQ(path.cycles, warp_path(h200(), code, flow, {1000, 8}, sites).cycles);
    seen.push_back(path.cycles[3]);
  }
  EXPECT_LT(seen[2], seen[1]);
  EXPECT_EQ(seen[3], seen[0]);
}

// The order of blocks is kept from launch to launch. Another flow, and other costs, need another one.
TEST(WarpPath, KeptBlocksChangeNothing) {
  std::vector<Instruction> body;
  for (unsigned k = 0; k < 8; ++k) body.push_back(fma(1 + k % 3, {1 + k % 2}));
  const Kernel once(body), loop(body, 50);
  ScheduledBlocks kept;
  for (const Kernel* k : {&once, &once, &loop, &once})
    for (const double warps_per_block : {1.0, 8.0}) {
      const WarpPath path = warp_path(h200(), k->code, k->flow, {1, warps_per_block}, {}, kept);
      EXPECT_EQ(path.cycles, warp_path(h200(), k->code, k->flow, {1, warps_per_block}, {}).cycles);
    }
}

TEST(WarpPath, AChainTakesItsLatencies) {
  std::vector<Instruction> chain;
  for (unsigned k = 0; k < 8; ++k) chain.push_back(fma(1, {1}));
  // The eighth is issued after seven latencies. Its own result only matters for the next.
  EXPECT_NEAR(Kernel(chain).path().cycles[0], 7 * 4.5 + 1, 0.1);
  std::vector<Instruction> apart;
  for (unsigned k = 0; k < 8; ++k) apart.push_back(fma(1 + k, {20 + k}));
  EXPECT_NEAR(Kernel(apart).path().cycles[0], 8, 0.1);
  // In a loop, each round waits for the one before.
  EXPECT_NEAR(Kernel({fma(1, {1})}, 100).path().cycles[0], 99 * 4.5 + 1, 10);
}

// What is part of its reader's machine instruction takes neither a slot of its pipe nor a latency.
TEST(WarpPath, PartsOfOtherInstructionsAreFree) {
  std::vector<Instruction> alone, with_parts;
  for (unsigned k = 0; k < 8; ++k) {
    Instruction part = fma(40, {1});
    part.pipe = Pipe::alu;
    part.issue = part.latency = 0;
    Instruction whole = fma(1, {40});
    whole.pipe = Pipe::alu;
    with_parts.push_back(part);
    with_parts.push_back(whole);
    whole.reads = {1};
    alone.push_back(whole);
  }
  EXPECT_EQ(Kernel(with_parts).path().cycles, Kernel(alone).path().cycles);
}

TEST(WarpPath, IndependentLoadsShareOneLatency) {
  std::vector<Instruction> loads;
  for (unsigned k = 0; k < 8; ++k) loads.push_back(load(1 + k, 30));
  for (unsigned k = 0; k < 8; ++k) loads.push_back(fma(20, {20, 1 + k}));
  const WarpPath p = Kernel(loads).path();
  EXPECT_NEAR(p.cycles[2] - p.cycles[0], 290, 20);
  // Those that DRAM answers differ: the last of eight comes three doublings later, 7 cycles after the first was issued.
  EXPECT_NEAR(p.cycles[3] - p.cycles[0], 700 + 3 * kSpreadOfDram, 40);
  // Eight, one after the other.
  std::vector<Instruction> chain;
  for (unsigned k = 0; k < 8; ++k) chain.push_back(load(1, 1));
  chain.push_back(fma(2, {1}));
  const WarpPath q = Kernel(chain).path();
  EXPECT_NEAR(q.cycles[3] - q.cycles[0], 8 * 700, 60);
}

TEST(WarpPath, WhatTheWarpHasHadComesFromL1) {
  const Kernel k({load(1, 30), fma(2, {1})});
  EXPECT_NEAR(k.path(0).cycles[4], h200().timing.l1_latency_cycles + 2, 5);
  EXPECT_NEAR(k.path(1).cycles[4], 1000 + 2, 5);
}

TEST(WarpPath, LoadsKeepToTheRegistersThereAre) {
  // 32 loads of 4 words each cannot all be in flight before the first result is used.
  std::vector<Instruction> code;
  for (unsigned k = 0; k < 32; ++k) {
    code.push_back(load(1 + k, 60));
    code.push_back(fma(50, {50, 1 + k}));
    code.back().needs = {1 + k, 50};
  }
  Kernel kernel(code);
  kernel.code.register_words.assign(64, 4);
  kernel.code.blocks[0].entering_words = 4;
  const auto waits = [&](double registers) {
    const WarpPath p = warp_path(h200(), kernel.code, kernel.flow, {1, 8, registers}, {});
    return (p.cycles[2] - p.cycles[0]) / 290;
  };
  EXPECT_GT(waits(32), 5);  // 32 - 10 words hold values
  EXPECT_LT(waits(32), 12);
  EXPECT_LT(waits(96), 3);
  EXPECT_NEAR(waits(255), 1, 0.2);
}

// A load moves above a store that writes other bytes, or if nothing writes what it reads.
TEST(WarpPath, LoadsPassStoresElsewhere) {
  const auto waits = [](sass::MemoryPlace stored, sass::MemoryPlace loaded, bool of_constants) {
    Instruction store;
    store.pipe = Pipe::global;
    store.store = true;
    store.bytes = 4;
    store.place = stored;
    store.reads = {1};
    Instruction second = load(2, 31);
    second.bytes = 4;
    second.place = loaded;
    second.of_constants = of_constants;
    const WarpPath p = Kernel({load(1, 30), store, second, fma(3, {2})}).path();
    return (p.cycles[2] - p.cycles[0]) / 290;
  };
  EXPECT_NEAR(waits({}, {}, false), 2, 0.1);
  EXPECT_NEAR(waits({}, {}, true), 1, 0.1);
  EXPECT_NEAR(waits({0, 0}, {0, 4}, false), 1, 0.1);
  EXPECT_NEAR(waits({0, 0}, {0, 2}, false), 2, 0.1);
  EXPECT_NEAR(waits({0, 0}, {1, 4}, false), 2, 0.1) << "another base";
}

// A division with a branch to its slow path divides the block.
TEST(WarpPath, NothingPassesASlowPath) {
  const auto cycles = [](bool branches) {
    Instruction division = fma(20, {21});
    division.issue = 10;
    division.latency = 60;
    division.branches = branches;
    return Kernel({division, load(2, 30), fma(3, {2, 20})}).path().cycles[2];
  };
  EXPECT_NEAR(cycles(true) - cycles(false), 60, 5);
}

// A comparison takes another's predicate as soon as a sum takes a number; a guard waits longer.
TEST(WarpPath, SelectionsTakePredicatesSoon) {
  const auto cycles = [](bool selects) {
    std::vector<Instruction> chain;
    for (unsigned k = 0; k < 8; ++k) {
      Instruction comparison = fma(1, {2});
      comparison.sets_predicate = true;
      Instruction choice = fma(2, {1});
      choice.selects = selects;
      chain.insert(chain.end(), {comparison, choice});
    }
    return Kernel(chain).path().cycles[0];
  };
  EXPECT_NEAR(cycles(false) - cycles(true), 8 * (sass::kPredicateCycles - 4.5), 12);
}

// A barrier waits for the slowest of eight warps, if they wait for DRAM.
TEST(WarpPath, ABarrierWaitsForTheSlowestLoads) {
  Instruction store;
  store.pipe = Pipe::shared;
  store.store = true;
  store.reads = {1};
  const WarpPath once = Kernel({load(1, 30), store, load(1, 1), store, barrier()}).path();
  const WarpPath twice = Kernel({load(1, 30), store, barrier(), load(1, 1), store, barrier()}).path();
  EXPECT_NEAR(twice.cycles[3] - once.cycles[3], twice.cycles[2] - once.cycles[2] + 3 * kSpreadOfDram, 10);
  // So does the end of a block of many warps.
  const Kernel end({load(1, 30), store});
  const auto cycles = [&](double warps) { return warp_path(h200(), end.code, end.flow, {1, warps}, {}).cycles[3]; };
  EXPECT_NEAR(cycles(8), cycles(1), 10);
  EXPECT_NEAR(cycles(32) - cycles(8), 2 * 2 * kSpreadOfDram, 10);
}

TEST(WarpPath, ABarrierOrders) {
  const WarpPath p = Kernel({load(1, 30), barrier(), load(2, 31), fma(3, {1, 2})}).path();
  const WarpPath q = Kernel({load(1, 30), load(2, 31), fma(3, {1, 2})}).path();
  const double cost = h200().timing.barrier_cycles + 8 * h200().timing.barrier_cycles_per_warp;
  EXPECT_NEAR(p.cycles[0] - q.cycles[0], cost + 1, 2);
}

// cp.async: the warp goes on, and a wait ends all groups but the last ones (PTX ISA, cp.async.wait_group).
TEST(WarpPath, AWaitEndsGroupsOfAsynchronousCopies) {
  using Step = sass::AsyncStep;
  const auto cycles = [](std::vector<Instruction> code, double times = 1) {
    const WarpPath p = Kernel(std::move(code), times).path();
    return p.cycles[2] - p.cycles[0];  // at 290 cycles and at 0
  };
  const Instruction copy = copy_async(), commit = async_step(Step::commit);
  EXPECT_NEAR(cycles({copy, copy, commit}), 0, 1);
  EXPECT_NEAR(cycles({copy, copy, commit, async_step(Step::wait)}), 290, 10);
  EXPECT_NEAR(cycles({copy, commit, copy, commit, async_step(Step::wait, 2)}), 0, 1);
  EXPECT_NEAR(cycles({copy, async_step(Step::wait)}), 0, 1) << "a copy of no group";
  EXPECT_NEAR(cycles({copy, async_step(Step::wait_all)}), 290, 10);
  // A round of a loop waits for its own copies, or for those of three rounds before.
  EXPECT_NEAR(cycles({copy, commit, async_step(Step::wait)}, 100) / 100, 290, 30);
  EXPECT_NEAR(cycles({copy, commit, async_step(Step::wait, 3)}, 100) / 100, 290 / 4.0, 30);
}

TEST(WarpPath, LoopsGoOnAsTheyBegan) {
  const Kernel once({load(1, 30), fma(2, {2, 1})}), often({load(1, 30), fma(2, {2, 1})}, 100000);
  const double one = once.path().cycles[3], many = often.path().cycles[3];
  EXPECT_NEAR(many, 1e5 * one, 0.1e5 * one);  // each round waits for its load
}

// One warp of each block sums up for the others; the block waits for it.
TEST(WarpPath, ABlockWaitsForItsSlowestWarp) {
  std::vector<Instruction> chain;
  for (unsigned k = 0; k < 100; ++k) chain.push_back(fma(1, {1}));
  const WarpPath p = path_of_some({fma(2, {2})}, chain, 125);
  EXPECT_NEAR(p.cycles[2] + p.slowest[2], 450, 30);
  EXPECT_TRUE(p.in_each_block);
  // A warp of every other block: only these last longer, which matters at the end.
  const WarpPath few = path_of_some({fma(2, {2})}, chain, 62);
  EXPECT_NEAR(few.cycles[2] + few.slowest[2], 225, 30);
  EXPECT_FALSE(few.in_each_block);
}

// The last of 125 blocks sums up for all: a warp of 1000, which the others' path leaves out.
TEST(WarpPath, WhatTheLastBlockDoesAlone) {
  std::vector<Instruction> chain;
  for (unsigned k = 0; k < 100; ++k) chain.push_back(fma(1, {1}));
  EXPECT_NEAR(path_of_some({fma(2, {2})}, chain, 1).last[2], 450, 30);
  EXPECT_EQ(path_of_some({fma(2, {2})}, chain, 15).last[2], 0) << "more warps than a block has";
}

// A floating-point addition to shared memory holds its warp for each round of its loop.
TEST(WarpPath, ALoopHoldsItsWarp) {
  Instruction add;
  add.pipe = Pipe::atomic_shared;
  add.atomic = true;
  add.site = 0;
  const Kernel k({add, fma(1, {1})});
  SiteFacts sites;
  const double none = warp_path(h200(), k.code, k.flow, {1, 8}, sites).cycles[0];
  sites.loop_rounds = [](std::uint32_t) { return 32.0; };
  const double rounds = warp_path(h200(), k.code, k.flow, {1, 8}, sites).cycles[0];
  EXPECT_NEAR(rounds - none, 32 * h200().timing.shared_cas_latency_cycles, 1);
}

// The model is the only place of a latency that is measured.
TEST(WarpPath, LatenciesAreThoseOfTheModel) {
  ptx::Instruction add;
  add.opcode = ptx::Opcode::add;
  add.types = {ptx::ScalarType::s32};
  GpuModel gpu = h200();
  EXPECT_FLOAT_EQ(sass::classify(add, gpu).latency, static_cast<float>(gpu.timing.integer_latency_cycles));
  gpu.timing.integer_latency_cycles = 12;
  EXPECT_FLOAT_EQ(sass::classify(add, gpu).latency, 12);
  // A conversion to double takes as many times longer on the pipe as the model says.
  ptx::Instruction widen;
  widen.opcode = ptx::Opcode::cvt;
  widen.types = {ptx::ScalarType::f64, ptx::ScalarType::f32};
  gpu.timing.special_lanes = 16;
  gpu.timing.fp64_conversion_lanes = 2;
  EXPECT_FLOAT_EQ(sass::classify(widen, gpu).work, 8);
  // On a V100 an integer becomes a float at four times the rate of the special functions.
  widen.types = {ptx::ScalarType::f32, ptx::ScalarType::s32};
  EXPECT_FLOAT_EQ(sass::classify(widen, **find_gpu_model("v100")).work, 0.25F);
}

TEST(WarpPath, NoCodeNoPath) {
  EXPECT_EQ(warp_path(h200(), {}, {}, {1, 1}, {}).cycles[4], 0);
}

// 16 fences held a warp for 2.0 us on an H200; one of the block costs nothing.
TEST(WarpPath, AFenceHoldsItsWarp) {
  Instruction fence;
  fence.pipe = Pipe::fence;
  const double of_block = Kernel({fence, fma(1, {1})}).path().cycles[0];
  fence.on_pipe[static_cast<std::size_t>(sass::CountedPipe::tex)] = 1;
  EXPECT_NEAR(Kernel({fence, fma(1, {1})}).path().cycles[0], of_block + 250, 5);
}

}  // namespace
}  // namespace warpgrind::timing
