// Events that observers get in a launch: those that they request for that launch, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device_fixture.h"
#include "keep_events.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

// An observer whose wants for each launch come from `narrow`.
class Narrowing : public events::Observer {
 public:
  using Narrow = std::function<events::Wants(const events::Launch&, events::Wants)>;
  Narrowing(events::Wants all, Narrow narrow) : all_(all), narrow_(std::move(narrow)) {}
  events::Wants wants() const override { return all_; }
  events::Wants wants_of(const events::Launch& launch) override { return narrow_(launch, all_); }
  void on_access(const events::Access& a, unsigned) override {
    const std::lock_guard lock(mutex);
    ++accesses[a.launch->facts->name];
    spaces.push_back(a.space);
  }
  bool on_affine_access(const events::AffineAccess& a, unsigned) override {
    const std::lock_guard lock(mutex);
    ++affine[a.launch->id];
    return true;
  }
  WG_KEEP(barrier, Barrier)
  WG_KEEP(barrier_passed, BarrierPassed)
  WG_KEEP(exit, Exit)
  WG_KEEP(block_end, BlockEvent)
  std::mutex mutex;
  std::map<std::string, unsigned> accesses;  // by kernel
  std::map<std::uint64_t, unsigned> affine;  // by launch
  std::vector<StateSpace> spaces;

 private:
  const events::Wants all_;
  const Narrow narrow_;
};

events::Wants meetings() {
  events::Wants w;
  w.barriers = w.barriers_passed = w.exits = w.blocks_ended = true;
  return w;
}
events::Wants accesses() {
  events::Wants w;
  w.accesses = true;
  return w;
}

TEST(Wants, EachLaunchIsAskedForItself) {
  std::vector<std::uint64_t> launches;
  Narrowing seen(meetings(), [&](const events::Launch& l, events::Wants w) {
    launches.push_back(l.id);
    w.barriers_passed = w.exits = false;
    return l.block.count() > 32 ? w : events::Wants{};
  });
  Kernel k("bar.sync 0;", 1, &seen);
  k.run(64, 2);
  EXPECT_EQ(seen.barrier.size(), 4u);
  EXPECT_EQ(seen.block_end.size(), 2u);
  k.run(32, 2);
  EXPECT_EQ(seen.barrier.size(), 4u);
  EXPECT_EQ(seen.block_end.size(), 2u);
  k.run(96);
  EXPECT_EQ(seen.barrier.size(), 7u);
  EXPECT_TRUE(seen.barrier_passed.empty());
  EXPECT_TRUE(seen.exit.empty());
  EXPECT_EQ(launches.size(), 3u);
}

TEST(Wants, OneObserverDoesNotDecideForAnother) {
  Narrowing nothing(meetings(), [](const events::Launch&, events::Wants) { return events::Wants{}; });
  Narrowing all(meetings(), [](const events::Launch&, events::Wants w) { return w; });
  Kernel k("bar.sync 0;", 1, &nothing);
  k.device->add_observer(&all);
  k.run(64);
  EXPECT_TRUE(nothing.barrier.empty());
  EXPECT_EQ(all.barrier.size(), 2u);
  EXPECT_EQ(all.exit.size(), 2u);
}

TEST(Wants, GridsOfKernelsAreAskedForThemselves) {
  Narrowing seen(accesses(), [](const events::Launch& l, events::Wants w) {
    return l.facts->name == "child" ? w : events::Wants{};
  });
  Gpu gpu(1, 0, "advanced.ptx", &seen);
  auto* out = gpu.array<std::uint32_t>(1024);
  const LaunchResult r = gpu.run("parent", shape({3, 1, 1}, {64, 1, 1}), out);
  ASSERT_EQ(r.children.size(), 12u);
  EXPECT_GT(seen.accesses["child"], 0u);
  EXPECT_EQ(seen.accesses["parent"], 0u);
}

const char* const kBothSpaces = R"(
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; shl.b32 %r2, %r1, 2; mov.u32 %r3, memory; add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd3], %r4;)";

TEST(Wants, NoSharedMemory) {
  for (const bool only_written : {false, true}) {
    events::Wants wants = accesses();
    wants.only_written = only_written;
    wants.no_shared = true;
    Narrowing global(wants, [](const events::Launch&, events::Wants w) { return w; });
    wants.no_shared = false;
    Narrowing both(wants, [](const events::Launch&, events::Wants w) { return w; });
    Kernel k(kBothSpaces, 1, &global);
    k.device->add_observer(&both);
    k.run(32, 3);
    EXPECT_EQ(std::count(global.spaces.begin(), global.spaces.end(), StateSpace::shared), 0);
    EXPECT_GT(std::count(global.spaces.begin(), global.spaces.end(), StateSpace::global), 0);
    EXPECT_GT(std::count(both.spaces.begin(), both.spaces.end(), StateSpace::shared), 0);
    std::uint64_t of_global = global.accesses["k"], of_both = both.accesses["k"];
    for (const auto& [launch, n] : global.affine) of_global += n;
    for (const auto& [launch, n] : both.affine) of_both += n;
    EXPECT_EQ(of_global, 3u);
    EXPECT_EQ(of_both, 9u);
  }
}

// Machine code reports through the same code in the next launch, where no observer wants the event.
TEST(Wants, MachineCodeOfTheNextLaunch) {
  bool wanted = true;
  events::Wants wants = accesses();
  wants.only_written = true;
  Narrowing seen(wants, [&](const events::Launch&, events::Wants w) { return wanted ? w : events::Wants{}; });
  Kernel k(kBothSpaces, 1, &seen);
  k.run(32, 10);
  const std::size_t first = seen.affine.size(), spaces_before = seen.spaces.size();
  EXPECT_EQ(first, 1u);
  wanted = false;
  k.run(32, 10);
  EXPECT_EQ(seen.affine.size(), first);
  EXPECT_EQ(seen.spaces.size(), spaces_before);
  wanted = true;
  k.run(32, 10);
  EXPECT_EQ(seen.affine.size(), 2u);
}

// ---- Whole blocks

struct Whole : Narrowing {
  Whole()
      : Narrowing(
            [] {
              events::Wants w = meetings();
              w.whole_blocks = true;
              return w;
            }(),
            [](const events::Launch&, events::Wants w) { return w; }) {}
};

TEST(WholeBlocks, ABarrierOfAllIsOneEvent) {
  Whole seen;
  Kernel k("bar.sync 0; bar.sync 0;", 1, &seen);
  k.run(80, 2);
  EXPECT_TRUE(seen.barrier.empty());
  EXPECT_TRUE(seen.exit.empty());
  ASSERT_EQ(seen.barrier_passed.size(), 4u);
  const auto& sites = k.device->compiled(k.handle, 0, {80, 1, 1}).take()->facts().sites;
  for (const events::BarrierPassed& p : seen.barrier_passed) {
    ASSERT_LT(p.site, sites.size());
    EXPECT_EQ(sites[p.site].kind, events::SiteKind::barrier);
  }
  EXPECT_NE(seen.barrier_passed[0].site, seen.barrier_passed[1].site);
}

// The last warp arrives at another site. The waiting warps are then reported one by one, the first one first.
TEST(WholeBlocks, TwoSites) {
  Whole seen;
  Kernel k("setp.ge.u32 %p1, %r1, 64; @%p1 bra OTHER; bar.sync 0; bra.uni END; OTHER: bar.sync 0; END:", 1, &seen);
  k.run(96);
  ASSERT_EQ(seen.barrier.size(), 3u);
  for (unsigned w = 0; w < 3; ++w) {
    EXPECT_EQ(seen.barrier[w].warp, w);
    EXPECT_EQ(seen.barrier[w].mask, kFullMask);
    EXPECT_EQ(seen.barrier[w].live, kFullMask);
    EXPECT_TRUE(seen.barrier[w].waits);
  }
  EXPECT_EQ(seen.barrier[0].site, seen.barrier[1].site);
  EXPECT_NE(seen.barrier[1].site, seen.barrier[2].site);
  ASSERT_EQ(seen.barrier_passed.size(), 1u);
  EXPECT_EQ(seen.barrier_passed[0].site, events::BarrierPassed::kEach);
}

// Warps that have left are reported just before the block passes a barrier without them, not earlier.
TEST(WholeBlocks, WarpsThatHaveLeft) {
  Whole seen;
  Kernel k("setp.lt.u32 %p1, %r1, 32; @%p1 ret; bar.sync 0;", 1, &seen);
  k.run(96);
  ASSERT_EQ(seen.exit.size(), 1u);
  EXPECT_EQ(seen.exit[0].warp, 0u);
  EXPECT_EQ(seen.exit[0].mask, kFullMask);
  EXPECT_EQ(seen.exit[0].live, 0u);
  EXPECT_EQ(seen.barrier.size(), 2u);
  ASSERT_EQ(seen.barrier_passed.size(), 1u);
  EXPECT_EQ(seen.barrier_passed[0].site, events::BarrierPassed::kEach);
}

// A warp leaves while the others wait. Those have not been reported yet.
TEST(WholeBlocks, ReleasedByAnExit) {
  Whole seen;
  Kernel k("setp.ge.u32 %p1, %r1, 64; @%p1 ret; bar.sync 0;", 1, &seen);
  k.run(96, 2);
  EXPECT_EQ(seen.barrier.size(), 4u);
  EXPECT_EQ(seen.exit.size(), 2u);
  EXPECT_EQ(seen.barrier_passed.size(), 2u);
}

// Some lanes of a warp leave. This is reported at once, and the block no longer counts as whole.
TEST(WholeBlocks, PartOfAWarpLeaves) {
  Whole seen;
  Kernel k("setp.lt.u32 %p1, %r1, 8; @%p1 ret; bar.sync 0;", 1, &seen);
  k.run(64);
  ASSERT_EQ(seen.exit.size(), 2u);  // the rest of that warp too
  EXPECT_EQ(seen.exit[0].mask, 0xffu);
  EXPECT_EQ(seen.exit[0].live, ~LaneMask{0xff});
  EXPECT_EQ(seen.barrier.size(), 2u);
}

TEST(WholeBlocks, SingleEventsGoToObserversThatWantThem) {
  Whole seen;
  Narrowing each(meetings(), [](const events::Launch&, events::Wants w) { return w; });
  Kernel k("bar.sync 0;", 1, &seen);
  k.device->add_observer(&each);
  k.run(64);
  EXPECT_EQ(each.barrier.size(), 2u);
  EXPECT_EQ(each.exit.size(), 2u);
  EXPECT_EQ(seen.barrier.size(), 2u);
}

}  // namespace
}  // namespace warpgrind::device
