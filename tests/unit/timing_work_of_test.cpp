// The reader of launches: what it keeps of a kernel, and when it forgets it.
#include <gtest/gtest.h>

#include "events/kernels_gone.h"
#include "timing/work_of.h"
#include "timing_models.h"

namespace warpgrind::timing {
namespace {

// A kernel without branches: `length` sums, each of which needs the one before, on registers from `first` on.
sass::Code chain(unsigned length, ptx::RegId first) {
  sass::Code code;
  code.registers = first + 2;
  code.blocks.resize(1);
  code.block_of = {0};
  code.blocks[0].facts_blocks = {0};
  for (unsigned k = 0; k < length; ++k) {
    sass::Instruction i;
    i.pipe = sass::Pipe::fma;
    i.issue = 1;
    i.latency = 4;
    i.reads = {first};
    i.writes = {first};
    code.blocks[0].instructions.push_back(i);
  }
  return code;
}

LaunchWork read(WorkReader& reader, const sass::Code& code, const events::KernelFacts& facts) {
  events::LaunchCounts counts;
  counts.blocks = {{1, 32}};
  counts.warps_launched = 1;
  LaunchSeen seen;
  seen.code = &code;
  seen.facts = &facts;
  seen.counts = &counts;
  return reader.read(seen);
}

// A module was unloaded, and the next kernel's facts have the address of the old ones. Its order of instructions and
// its registers are others.
TEST(WorkReader, ForgetsKernelsThatAreGone) {
  const GpuModel model = h200();
  events::KernelFacts facts;
  facts.blocks.resize(1);
  const sass::Code small = chain(3, 1), large = chain(300, 5000);
  WorkReader reader(model), fresh(model);
  read(reader, small, facts);
  ++events::kernels_gone;
  EXPECT_EQ(read(reader, large, facts).path_0, read(fresh, large, facts).path_0);
  ++events::kernels_gone;
  WorkReader third(model);
  EXPECT_EQ(read(reader, small, facts).path_0, read(third, small, facts).path_0);
}

// Instructions of a block of four warps, each of which adds once to a word in shared memory.
double instructions_of_sum(unsigned bytes, std::uint64_t wavefronts) {
  const GpuModel model = h200();
  events::KernelFacts facts;
  facts.blocks.resize(1);
  facts.sites.resize(1);
  events::Site& site = facts.sites[0];
  site.kind = events::SiteKind::atomic;
  site.space = StateSpace::shared;
  site.element_bytes = static_cast<std::uint8_t>(bytes);
  site.shared_atomic = SharedAtomic::loop;
  const sass::Code code = chain(1, 1);
  events::LaunchCounts counts;
  counts.blocks = {{4, 128}};
  counts.warps_launched = 4;
  counts.sites.resize(1);
  counts.sites[0].shared_requests = 4;
  counts.sites[0].shared_lanes = 128;
  counts.sites[0].shared.wavefronts = 4 * wavefronts;
  LaunchSeen seen;
  seen.code = &code;
  seen.facts = &facts;
  seen.counts = &counts;
  seen.threads_per_block = 128;
  return WorkReader(model).read(seen).instructions;
}

// All lanes add to one word, and warps contend. On an H200, a double takes 604 instructions (aop of HeCBench).
TEST(WorkReader, SumsInSharedMemoryTryAgain) {
  EXPECT_NEAR(instructions_of_sum(8, 96), 604, 40);
  EXPECT_NEAR(instructions_of_sum(4, 64), 32 * (1 + 3 * 0.27) * 8, 40);
  EXPECT_NEAR(instructions_of_sum(8, 4), 8, 8);  // 32 words
}

}  // namespace
}  // namespace warpgrind::timing
