// Undefined bits: followed through registers and memory, and reported with their origin when they decide something.
#include <algorithm>
#include <bit>
#include <vector>

#include "device_fixture.h"
#include "keep_events.h"

namespace warpgrind::device {
namespace {

using Use = events::UndefinedUse::Use;
using Origin = events::UndefinedOrigin::Kind;

struct Watch final : events::Observer {
  events::Wants wants() const override {
    events::Wants w;
    w.undefined_uses = w.undefined_copies = true;
    return w;
  }
  WG_KEEP(undefined_use, UndefinedUse)
  WG_KEEP(undefined_copy, UndefinedCopy)
  std::mutex mutex;
};

struct Definedness : testing::Test {
  explicit Definedness(unsigned workers = 1) : gpu(workers, 60, "definedness.ptx", &watch) {}
  std::uint32_t* defined(std::size_t n) {
    auto* words = gpu.array<std::uint32_t>(n);
    fill(words, n * 4);
    return words;
  }
  void fill(void* at, std::uint64_t bytes) {
    events::HostFill f;
    f.to = reinterpret_cast<std::uint64_t>(at);
    f.bytes = f.pitch = f.slice = bytes;
    gpu.device->publish(f);
  }
  template <class... A>
  void run(const char* kernel, A... arguments) {
    const LaunchResult r = gpu.run(kernel, shape({1, 1, 1}, {32, 1, 1}), arguments...);
    ASSERT_FALSE(r.fault) << r.fault->message;
  }
  // The only use.
  const events::UndefinedUse& use() {
    EXPECT_EQ(watch.undefined_use.size(), 1u);
    static const events::UndefinedUse none;
    return watch.undefined_use.empty() ? none : watch.undefined_use[0];
  }
  std::uint64_t address(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

  Watch watch;
  Gpu gpu;
};

TEST_F(Definedness, ABranchByFreshMemory) {
  auto* fresh = gpu.array<std::uint32_t>(32);
  run("branch_on", fresh, defined(32));
  EXPECT_EQ(use().use, Use::branch);
  EXPECT_EQ(use().mask, ~0u);
  EXPECT_EQ(use().origin.kind, Origin::memory);
  EXPECT_EQ(use().origin.address, address(fresh));
  const auto& kernel = gpu.text->functions[0];
  EXPECT_EQ(ptx::info(kernel.body[use().instruction].opcode).text, "setp");
}

TEST_F(Definedness, OnlyTheLanesWhoseWordsAreUndefined) {
  auto* words = gpu.array<std::uint32_t>(32);
  fill(words, 20);
  fill(words + 6, 104);
  run("branch_on", words, defined(32));
  EXPECT_EQ(use().mask, 1u << 5);
  EXPECT_EQ(use().origin.address, address(words + 5));
}

TEST_F(Definedness, NothingOfWhatIsWritten) {
  run("branch_on", defined(32), defined(32));
  run("moved", defined(32), defined(32));
  run("index", defined(32), defined(32));
  run("count", defined(32));
  EXPECT_TRUE(watch.undefined_use.empty());
}

TEST_F(Definedness, MovedThroughRegistersSharedMemoryAndLanes) {
  auto* words = gpu.array<std::uint32_t>(32);
  fill(words, 20);
  fill(words + 6, 104);
  run("moved", words, defined(32));
  EXPECT_EQ(use().mask, 1u << 4);
  EXPECT_EQ(use().origin.kind, Origin::memory);
  EXPECT_EQ(use().origin.address, address(words + 5));
  EXPECT_EQ(use().origin.way.size(), 1u);  // the store to shared memory
}

TEST_F(Definedness, BitsThatAreMaskedAwayDecideNothing) {
  run("masked", gpu.array<std::uint32_t>(32), defined(32));
  EXPECT_TRUE(watch.undefined_use.empty());
}

TEST_F(Definedness, OneBitDecides) {
  run("bit_eight", gpu.array<std::uint32_t>(32), defined(32));
  EXPECT_EQ(use().use, Use::branch);
}

TEST_F(Definedness, AnAddressOnceOnly) {
  run("index", gpu.array<std::uint32_t>(32), defined(32));
  EXPECT_EQ(use().use, Use::address);
  EXPECT_EQ(use().mask, ~0u);
}

TEST_F(Definedness, TheOldValueOfAnAtomic) {
  auto* bins = gpu.array<std::uint32_t>(4);
  run("count", bins);
  EXPECT_EQ(use().use, Use::update);
  EXPECT_EQ(use().origin.address, address(bins));
  run("count", bins);
  EXPECT_EQ(watch.undefined_use.size(), 1u);  // after the report it counts as defined
}

TEST_F(Definedness, ARegisterThatSomeLanesDoNotWrite) {
  run("one_path", defined(32));
  EXPECT_EQ(use().mask, 0xffffff00u);
  EXPECT_EQ(use().origin.kind, Origin::register_);
  EXPECT_EQ(use().origin.object, "v");
}

TEST_F(Definedness, LocalAndSharedArrays) {
  run("arrays", defined(32));
  ASSERT_EQ(watch.undefined_use.size(), 2u);
  EXPECT_EQ(watch.undefined_use[0].origin.kind, Origin::local);
  EXPECT_EQ(watch.undefined_use[0].origin.address, 8u);
  EXPECT_EQ(watch.undefined_use[1].origin.kind, Origin::shared);
  EXPECT_EQ(watch.undefined_use[1].origin.address, 12u);
  EXPECT_EQ(watch.undefined_use[1].origin.object, "common");
}

TEST_F(Definedness, LanesThatMeetFromTwoWays) {
  run("met", gpu.array<std::uint32_t>(32), defined(32));
  EXPECT_EQ(use().mask, 1u << 4);
}

TEST_F(Definedness, ACopyOnTheDeviceTakesThemAlong) {
  auto* fresh = gpu.array<std::uint32_t>(32);
  auto* second = gpu.array<std::uint32_t>(32);
  events::HostCopy copy;
  copy.work = 9;
  copy.to.address = address(second);
  copy.from.address = address(fresh);
  copy.bytes = 128;
  gpu.device->publish(copy);
  run("branch_on", second, defined(32));
  EXPECT_EQ(use().origin.address, address(fresh));
  ASSERT_EQ(use().origin.way.size(), 1u);
  EXPECT_EQ(use().origin.way[0].work, 9u);
}

TEST_F(Definedness, CopiesToTheHost) {
  auto* words = gpu.array<std::uint32_t>(256);
  fill(words, 600);
  events::HostCopy copy;
  copy.to.memory = events::CopyMemory::pageable;
  copy.from.address = address(words);
  copy.bytes = 600;
  gpu.device->publish(copy);
  EXPECT_TRUE(watch.undefined_copy.empty());
  copy.bytes = 1024;
  gpu.device->publish(copy);
  ASSERT_EQ(watch.undefined_copy.size(), 1u);
  EXPECT_EQ(watch.undefined_copy[0].bytes, 424u);
  EXPECT_EQ(watch.undefined_copy[0].longest, 424u);
  EXPECT_EQ(watch.undefined_copy[0].first, address(words) + 600);
  EXPECT_FALSE(watch.undefined_copy[0].holes);
}

TEST_F(Definedness, HolesOfStructuresAreNamedSo) {
  auto* bytes = gpu.array<std::uint8_t>(16384);
  for (int k = 0; k < 1024; ++k) {  // {char; 3; int; short; 6}
    fill(bytes + 16 * k, 1);
    fill(bytes + 16 * k + 4, 6);
  }
  events::HostCopy copy;
  copy.to.memory = events::CopyMemory::pageable;
  copy.from.address = address(bytes);
  copy.bytes = 16384;
  gpu.device->publish(copy);
  ASSERT_EQ(watch.undefined_copy.size(), 1u);
  EXPECT_TRUE(watch.undefined_copy[0].holes);
  EXPECT_EQ(watch.undefined_copy[0].bytes, 9u * 1024);
}

TEST_F(Definedness, MemoryThatIsFreedAndAllocatedAgainIsNew) {
  auto* words = defined(32);
  gpu.device->free(address(words));
  auto* again = gpu.array<std::uint32_t>(32);
  run("branch_on", again, defined(32));
  EXPECT_EQ(use().origin.address, address(again));
}

TEST_F(Definedness, MasksOfMembers) {
  run("undefined_members", gpu.array<std::uint32_t>(32), defined(32));
  ASSERT_EQ(watch.undefined_use.size(), 4u);  // bar.warp.sync, vote, match, redux
  for (const events::UndefinedUse& u : watch.undefined_use) EXPECT_EQ(u.use, Use::operand);
}

}  // namespace
}  // namespace warpgrind::device
