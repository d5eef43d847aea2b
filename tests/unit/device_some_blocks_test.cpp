// Launches that run only some blocks: the choice of blocks, and their counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "device/execution/block_classes.h"
#include "device/execution/some_blocks.h"
#include "device_fixture.h"

namespace warpgrind::device {
namespace {

TEST(BlockClasses, CoverTheGridOnce) {
  for (const Dim3& grid : {Dim3{1, 1, 1}, Dim3{2, 1, 1}, Dim3{5, 1, 1}, Dim3{4, 3, 1}, Dim3{2, 5, 3}, Dim3{1, 7, 1}}) {
    std::set<std::uint64_t> drawn;
    std::uint64_t all = 0;
    for (const BlockClass& c : classes_of(grid)) {
      all += c.count();
      EXPECT_EQ(ClassDraw(grid, c).next(c.count() + 5, drawn).size(), c.count());
    }
    EXPECT_EQ(all, grid.count());
    EXPECT_EQ(drawn.size(), grid.count());
    EXPECT_EQ(*drawn.rbegin(), grid.count() - 1);
    EXPECT_EQ(classes_of(grid).front().count(), 1u);
  }
  EXPECT_EQ(classes_of({9, 1, 1}).size(), 3u);
  EXPECT_EQ(classes_of({9, 9, 1}).size(), 9u);
  EXPECT_EQ(classes_of({9, 9, 9}).size(), 27u);
}

TEST(ClassDraw, IsSpreadOverRowsAndColumns) {
  const Dim3 grid{512, 512, 1};
  const BlockClass inner = classes_of(grid)[4];
  EXPECT_EQ(inner.count(), 510u * 510);
  std::set<std::uint64_t> drawn, columns, rows;
  ClassDraw draw(grid, inner);
  for (unsigned part = 0; part < 4; ++part)
    for (const std::uint64_t b : draw.next(16, drawn)) {
      columns.insert(b % 512 / 32);
      rows.insert(b / 512 / 32);
      EXPECT_NE(b % 512, 0u);
      EXPECT_LT(b / 512, 511u);
    }
  EXPECT_EQ(drawn.size(), 64u);
  EXPECT_EQ(columns.size(), 16u);
  EXPECT_EQ(rows.size(), 16u);
}

BlockTotals totals(std::uint64_t blocks, double first, double second, double base = 0) {
  return {blocks, {first, second}, {0, base}};
}

TEST(Disagreement, IsTheStandardErrorOfTheWorstTotal) {
  EXPECT_EQ(disagreement({totals(4, 40, 8), totals(2, 20, 4)}), 0);
  EXPECT_EQ(disagreement({totals(4, 40, 0), totals(4, 40, 0)}), 0);
  // Means 9 and 11 of two equal parts: deviation sqrt(2), error 1 of 10.
  EXPECT_NEAR(disagreement({totals(4, 40, 9 * 4), totals(4, 40, 11 * 4)}), 0.1, 1e-12);
  // The same of a twentieth of a base of 4000.
  EXPECT_NEAR(disagreement({totals(4, 40, 9 * 4, 2000), totals(4, 40, 11 * 4, 2000)}), 0.1 * 80 / 200, 1e-12);
}

// A virtual GPU that runs about `blocks` blocks of each launch; 0: all.
struct Part {
  explicit Part(std::uint64_t blocks, const std::string& text) {
    Options options;
    options.workers = 2;
    options.blocks = blocks;
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    auto parsed = ptx::parse(text, "test.ptx");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    auto loaded = device->load(*parsed);
    EXPECT_TRUE(loaded.ok());
    module = *loaded;
  }
  // The kernel's parameters are an array and its number of elements.
  LaunchResult run(const Dim3& grid, unsigned n) {
    void* data = reinterpret_cast<void*>(*device->allocate(std::uint64_t{4} * n));
    void* pointers[] = {&data, &n, nullptr};
    auto result = device->launch(module, 0, shape(grid, {256, 1, 1}), pointers);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.take() : LaunchResult{};
  }
  std::unique_ptr<Device> device;
  LoadedModule* module = nullptr;
};

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
         ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;\n"
         "mad.lo.u32 %r4, %r2, 256, %r3; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n" +
         body + "E: ret;\n}\n";
}
// One load and one store of each element. The last block is not full.
const std::string kEach = kernel(
    "setp.ge.u32 %p1, %r4, %r1; @%p1 bra E; ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, 1;\n"
    "st.global.u32 [%rd3], %r5;\n");

TEST(SomeBlocks, CountWhatTheWholeGridWould) {
  constexpr unsigned kElements = 1000 * 256 - 100;
  for (const std::uint64_t blocks : {0, 16}) {
    Part part(blocks, kEach);
    const LaunchResult r = part.run({1000, 1, 1}, kElements);
    EXPECT_EQ(r.why_all_blocks, "");
    const auto loads = total(r, events::SiteKind::load), stores = total(r, events::SiteKind::store);
    EXPECT_EQ(loads.global_requests, (kElements + 31) / 32);
    EXPECT_EQ(loads.lanes, kElements);
    EXPECT_EQ(stores.global.sectors, (kElements * 4 + 31) / 32);
    EXPECT_EQ(r.counts.threads_launched, 256'000u);
    EXPECT_EQ(r.counts.blocks_run, blocks == 0 ? 0u : 66u);
  }
}

TEST(SomeBlocks, SmallGridsRunWhole) {
  EXPECT_EQ(Part(16, kEach).run({31, 1, 1}, 31 * 256).counts.blocks_run, 0u);
  EXPECT_NE(Part(16, kEach).run({320, 1, 1}, 320 * 256).counts.blocks_run, 0u);
}

// Block b loads b / 32 + 1 times: more blocks are drawn than in a grid whose blocks are alike.
TEST(SomeBlocks, MoreAreDrawnIfTheyDiffer) {
  Part part(16, kernel("shr.u32 %r7, %r2, 5;\n"
                       "L: ld.global.u32 %r5, [%rd3]; add.u32 %r6, %r6, 1; setp.le.u32 %p1, %r6, %r7; @%p1 bra L;\n"));
  const LaunchResult r = part.run({32000, 1, 1}, 32000 * 256);
  EXPECT_EQ(r.why_all_blocks, "");
  EXPECT_GT(r.counts.blocks_run, 32u);
  EXPECT_LT(r.counts.blocks_run, 8000u);
  const double loads = 8.0 * 32 * 1000 * 1001 / 2;
  EXPECT_NEAR(static_cast<double>(total(r, events::SiteKind::load).global_requests), loads, 0.01 * loads);
}

// Every third block works: so many would have to be drawn that all run.
TEST(SomeBlocks, AllRunIfTheyDifferTooMuch) {
  Part part(16, kernel("rem.u32 %r5, %r2, 3; setp.ne.u32 %p1, %r5, 0; @%p1 bra E;\n"
                       "ld.global.u32 %r6, [%rd3]; st.global.u32 [%rd3], %r6;\n"));
  const LaunchResult r = part.run({300, 1, 1}, 300 * 256);
  EXPECT_EQ(r.why_all_blocks, "its blocks differ too much from each other");
  EXPECT_EQ(r.counts.blocks_run, 0u);
  EXPECT_EQ(total(r, events::SiteKind::load).global_requests, 800u);
}

TEST(SomeBlocks, KernelsThatDependOnDataRunWhole) {
  Part part(16, kernel("ld.global.u32 %r5, [%rd3]; setp.ne.u32 %p1, %r5, 0; @%p1 bra E;\n"
                       "st.global.u32 [%rd3], %r4;\n"));
  const LaunchResult r = part.run({100, 1, 1}, 100 * 256);
  EXPECT_EQ(r.why_all_blocks, "it depends on data: a branch in PTX line 8, by what PTX line 8 reads");
  EXPECT_EQ(r.counts.blocks_run, 0u);
  EXPECT_EQ(total(r, events::SiteKind::store).global_requests, 800u);
}

TEST(ScaleCounts, EveryCount) {
  events::LaunchCounts counts;
  counts.sites.resize(1);
  counts.sites[0].requests = 3;
  counts.sites[0].global.sectors = 12;
  counts.sites[0].shared.ideal_wavefronts = 1;
  counts.blocks = {{6, 192}};
  counts.branches = {{9, 3, 6, 3}};
  counts.guard_lanes = {33};
  counts.warps_launched = 6;
  scale_counts(counts, 100, 3);
  EXPECT_EQ(counts.sites[0].requests, 100u);
  EXPECT_EQ(counts.sites[0].global.sectors, 400u);
  EXPECT_EQ(counts.sites[0].shared.ideal_wavefronts, 33u);
  EXPECT_EQ(counts.blocks[0].lanes, 6400u);
  EXPECT_EQ(counts.branches[0].divergent, 100u);
  EXPECT_EQ(counts.guard_lanes[0], 1100u);
  EXPECT_EQ(counts.warps_launched, 200u);
}

}  // namespace
}  // namespace warpgrind::device
