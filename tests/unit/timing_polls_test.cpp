// Waits for mbarriers in the time model: handwritten code, as PTX has it (a test, a branch out, a branch back).
#include <gtest/gtest.h>

#include "timing/polls.h"

namespace warpgrind::timing {
namespace {

using sass::Instruction;
using sass::Pipe;

Instruction of(Pipe pipe, bool store = false) {
  Instruction i;
  i.pipe = pipe;
  i.store = store;
  return i;
}
Instruction poll() {
  Instruction i = of(Pipe::shared);
  i.load = i.polls = true;
  return i;
}

constexpr std::uint32_t kLeaves = sass::Edge::kLeaves;

// Blocks and the warps on each of their edges.
struct Loops {
  sass::Code code;
  sass::Flow flow;
  void add(std::vector<Instruction> instructions, std::vector<std::pair<std::uint32_t, double>> ways, double warps) {
    sass::Block block;
    block.instructions = std::move(instructions);
    block.facts_blocks = {static_cast<std::uint32_t>(code.blocks.size())};
    std::vector<double> edges;
    for (const auto& [to, n] : ways) block.successors.push_back({to, {}}), edges.push_back(n);
    code.blocks.push_back(std::move(block));
    flow.warps.push_back(warps), flow.lanes.push_back(32 * warps), flow.edges.push_back(edges);
    flow.loop_share.push_back(1);
  }
};

// A warp takes `phases` places of a ring, one after the other. It tests `early` times before a phase is complete.
Loops ring(double phases, double early) {
  Loops l;
  l.add({of(Pipe::alu)}, {{1, 1}}, 1);
  l.add({poll(), of(Pipe::control)}, {{3, phases}, {2, early}}, phases + early);
  l.add({of(Pipe::control)}, {{1, early}}, early);
  l.add({of(Pipe::tensor_half), of(Pipe::shared, true)}, {{1, phases - 1}, {4, 1}}, phases);
  l.add({of(Pipe::control)}, {{kLeaves, 1}}, 1);
  return l;
}

TEST(Polls, AWaitIsOneTurnHoweverOftenItWasTested) {
  for (const double early : {0.0, 7.0, 100000.0}) {
    const Loops l = ring(64, early);
    const sass::Flow flow = without_polls(l.code, l.flow);
    EXPECT_EQ(flow.warps, (std::vector<double>{1, 64, 0, 64, 1}));
    EXPECT_EQ(flow.lanes[1], 32 * 64);
    EXPECT_EQ(flow.edges[1], (std::vector<double>{64, 0}));
    EXPECT_EQ(flow.edges[3], l.flow.edges[3]);
  }
}

// At the end of a kernel, a loop waits for the copies that are still under way: one turn for each of them.
TEST(Polls, ALoopAroundAWaitKeepsItsTurns) {
  Loops l;
  l.add({of(Pipe::alu)}, {{1, 4}, {3, 1}}, 5);
  l.add({poll(), of(Pipe::control)}, {{0, 4}, {2, 9}}, 13);
  l.add({of(Pipe::control)}, {{1, 9}}, 9);
  l.add({of(Pipe::control)}, {{kLeaves, 1}}, 1);
  const sass::Flow flow = without_polls(l.code, l.flow);
  EXPECT_EQ(flow.warps, (std::vector<double>{5, 4, 0, 1}));
}

// while (*flag == 0) {}: the flag's register 2, its comparison 3. `counts`: the loop counts its turns in register 4.
Loops spin(double turns, bool counts) {
  Instruction load = of(Pipe::global), test = of(Pipe::alu), count = of(Pipe::alu);
  load.load = load.observes = true;
  load.reads = {1}, load.writes = {2};
  test.reads = {2}, test.writes = {3};
  count.reads = count.writes = {4};
  Instruction branch = of(Pipe::control);
  branch.reads = {3};
  Loops l;
  l.add({of(Pipe::alu)}, {{1, 1}}, 1);
  l.add({load, test}, {{2, turns}}, turns);
  l.add(counts ? std::vector{count, branch} : std::vector{branch}, {{1, turns - 1}, {3, 1}}, turns);
  l.add({of(Pipe::control)}, {{kLeaves, 1}}, 1);
  return l;
}

TEST(Polls, AWaitForAWordIsOneTurn) {
  EXPECT_EQ(without_polls(spin(500, false).code, spin(500, false).flow).warps, (std::vector<double>{1, 1, 1, 1}));
}

TEST(Polls, ALoopThatCountsIsNoWait) {
  const Loops l = spin(500, true);
  EXPECT_EQ(without_polls(l.code, l.flow).warps, l.flow.warps);
}

TEST(Polls, ALoopThatStoresIsNoWait) {
  Loops l;
  l.add({of(Pipe::alu)}, {{1, 1}}, 1);
  l.add({poll(), of(Pipe::global, true), of(Pipe::control)}, {{1, 9}, {2, 1}}, 10);
  l.add({of(Pipe::control)}, {{kLeaves, 1}}, 1);
  EXPECT_EQ(without_polls(l.code, l.flow).warps, l.flow.warps);
}

}  // namespace
}  // namespace warpgrind::timing
