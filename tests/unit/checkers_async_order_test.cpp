// Order of copies by the async proxy, products (wgmma) and mbarriers, from events as the device publishes them.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>

#include "checkers/race_launch.h"

namespace warpgrind::checkers {
namespace {

using Operation = events::MBarrierOperation;

enum : std::uint32_t { kCopy, kWait, kRead, kWrite, kFence, kProduct, kCommit, kWaitGroup, kStore, kSites };
constexpr std::uint64_t kOther = std::uint64_t{1} << kClusterShift;  // from block 0 to block 1 of the cluster
constexpr std::uint64_t kBarrier = 4096;

// Two blocks of a cluster, of two warps each.
class AsyncOrder : public testing::Test {
 protected:
  AsyncOrder() {
    facts_.sites.resize(kSites);
    const auto site = [&](std::uint32_t at, SiteKind kind, const char* text) {
      facts_.sites[at].kind = kind;
      facts_.sites[at].space = StateSpace::shared;
      facts_.sites[at].text = text;
    };
    site(kCopy, SiteKind::bulk_copy, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], ...;");
    site(kWait, SiteKind::mbarrier, "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;");
    site(kRead, SiteKind::load, "ld.shared.u32 %r1, [%r2];");
    site(kWrite, SiteKind::store, "st.shared.u32 [%r2], %r1;");
    site(kFence, SiteKind::fence, "fence.proxy.async.shared::cta;");
    site(kProduct, SiteKind::matrix, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ...;");
    site(kCommit, SiteKind::matrix, "wgmma.commit_group.sync.aligned;");
    site(kWaitGroup, SiteKind::matrix, "wgmma.wait_group.sync.aligned 1;");
    site(kStore, SiteKind::bulk_copy, "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;");
    launch_.facts = &facts_;
    launch_.grid = {2, 1, 1};
    launch_.cluster = {2, 1, 1};
    launch_.block = {2 * kWarpSize, 1, 1};
    races_ = std::make_unique<LaunchRaces>(launch_, nullptr);
    for (std::uint32_t b = 0; b < 2; ++b) {
      events::BlockEvent e;
      e.launch = &launch_;
      e.block = {b, 0, 0};
      races_->begin_block(e);
    }
  }
  template <class Event>
  Event event(std::uint32_t site, std::uint32_t block, std::uint32_t warp) const {
    Event e;
    static_cast<events::WarpEvent&>(e) = {&launch_, site, {block, 0, 0}, warp, ~LaneMask{0}};
    return e;
  }
  void access(std::uint32_t site, std::uint32_t block, std::uint32_t warp, AccessType type, std::uint64_t address,
              std::uint32_t bytes = 4, LaneMask mask = ~LaneMask{0}) {
    std::array<std::uint64_t, kWarpSize> addresses;
    for (unsigned l = 0; l < kWarpSize; ++l) addresses[l] = address + std::uint64_t{l} * bytes;
    events::Access a{&launch_, site, StateSpace::shared, {block, 0, 0}, warp, mask, addresses, type};
    a.bytes = bytes;
    if (facts_.sites[site].kind == SiteKind::bulk_copy || site == kProduct) a.path = events::AccessPath::bulk_copy;
    races_->access(a);
  }
  void mbarrier(Operation operation, std::uint32_t site, std::uint32_t block, std::uint32_t warp, std::uint64_t offset,
                std::uint32_t parity_after) {
    std::array<std::uint64_t, kWarpSize> offsets, results, numbers{}, bytes{};
    std::array<std::uint32_t, kWarpSize> phases;
    offsets.fill(offset);
    results.fill(1);
    phases.fill(parity_after);
    auto e = event<events::MBarrier>(site, block, warp);
    if (!events::is_wait(operation)) e.mask = 1;
    e.operation = operation;
    e.order = events::is_wait(operation) ? events::MemoryOrder::acquire : events::MemoryOrder::release;
    e.offsets = offsets.data();
    e.results = results.data();
    e.phases = phases.data();
    e.numbers = numbers.data();
    e.bytes = bytes.data();
    races_->order().mbarrier(*races_->find(block), e);
  }
  void barrier(std::uint32_t block) {
    for (std::uint32_t w = 0; w < 2; ++w) {
      auto e = event<events::Barrier>(kWait, block, w);
      e.live = e.mask;
      races_->order().barrier(*races_->find(block), e);
    }
    races_->order().barrier_passed(*races_->find(block), 0);
  }
  void product_operation(std::uint32_t site, std::uint32_t warp) {
    auto e = event<events::WarpSync>(site, 0, warp);
    e.operation = SiteKind::matrix;
    e.members = e.together = e.live = e.mask;
    races_->order().warp_sync(*races_->find(0), e);
  }
  void product(std::uint32_t warp, std::uint64_t address) {
    product_operation(kProduct, warp);
    access(kProduct, 0, warp, AccessType::load, address, 16);
  }
  void proxy_fence(std::uint32_t warp, LaneMask mask = ~LaneMask{0}) {
    auto e = event<events::Fence>(kFence, 0, warp);
    e.mask = mask;
    e.proxy = true;
    races_->order().fence(*races_->find(0), e);
  }
  // Writes the box to both blocks of the cluster and completes at the mbarrier of each, as .multicast::cluster does.
  void multicast() {
    access(kCopy, 0, 0, AccessType::store, 0, 512, 1);
    mbarrier(Operation::complete, kCopy, 0, 0, kBarrier, 1);
    access(kCopy, 0, 0, AccessType::store, kOther, 512, 1);
    mbarrier(Operation::complete, kCopy, 0, 0, kOther + kBarrier, 1);
  }
  std::set<RaceKind> kinds() const {
    std::set<RaceKind> all;
    for (const auto& [key, race] : races_->races()) all.insert(race.kind);
    return all;
  }

  events::KernelFacts facts_;
  events::Launch launch_;
  std::unique_ptr<LaunchRaces> races_;
};

TEST_F(AsyncOrder, MulticastCompletesInEachBlock) {
  multicast();
  for (std::uint32_t block = 0; block < 2; ++block) {
    mbarrier(Operation::try_wait_parity, kWait, block, 1, kBarrier, 1);
    access(kRead, block, 1, AccessType::load, 128);
  }
  EXPECT_EQ(kinds(), std::set<RaceKind>{});
}

TEST_F(AsyncOrder, MulticastIsNotWaitedForInOtherBlock) {
  multicast();
  mbarrier(Operation::try_wait_parity, kWait, 0, 1, kBarrier, 1);
  access(kRead, 1, 1, AccessType::load, 128);  // block 1 has not waited
  EXPECT_EQ(kinds(), std::set{RaceKind::async_copy});
}

TEST_F(AsyncOrder, ProductsOfTwoGroupsWithOnePending) {
  product(0, 0);
  product_operation(kCommit, 0);
  product(0, 1024);
  product_operation(kCommit, 0);
  product_operation(kWaitGroup, 0);  // 1 may be pending: the first is complete
  barrier(0);
  access(kWrite, 0, 1, AccessType::store, 0);
  EXPECT_EQ(kinds(), std::set<RaceKind>{});
  access(kWrite, 0, 1, AccessType::store, 1024);
  EXPECT_EQ(kinds(), std::set{RaceKind::product});
}

TEST_F(AsyncOrder, ProductNeedsProxyFenceOfEachWriter) {
  access(kWrite, 0, 0, AccessType::store, 0);
  access(kWrite, 0, 1, AccessType::store, 128);
  proxy_fence(0);
  proxy_fence(1, 0xffff0000u);  // the lower lanes do not fence: bytes 128 to 191
  barrier(0);
  product(0, 0);
  EXPECT_EQ(kinds(), std::set{RaceKind::proxy});
  const Race& race = races_->races().begin()->second;
  EXPECT_EQ(race.first.stamp.warp, 1);
  EXPECT_GE(race.address, 128u);
  EXPECT_LT(race.address, 192u);
}

TEST_F(AsyncOrder, ThirdThreadFences) {
  access(kWrite, 0, 1, AccessType::store, 0);
  barrier(0);
  proxy_fence(0);
  barrier(0);
  access(kStore, 0, 1, AccessType::load, 0, 64, 1);
  EXPECT_EQ(kinds(), std::set<RaceKind>{});
}

TEST_F(AsyncOrder, MBarrierOfAnotherBlockIsUsedBeforeItsInitialisationIsKnown) {
  mbarrier(Operation::init, kWait, 1, 0, kBarrier, 0);
  mbarrier(Operation::arrive, kWait, 0, 0, kOther + kBarrier, 0);
  ASSERT_EQ(races_->order().early_uses().size(), 1u);
  EXPECT_EQ(races_->order().early_uses()[0].made.stamp.block, 1u);
  EXPECT_EQ(races_->order().early_uses()[0].use.block, 0u);
}

TEST_F(AsyncOrder, WaitForThePhaseBefore) {
  mbarrier(Operation::try_wait_parity, kWait, 0, 1, kBarrier, 0);  // parity 1, of the phase before the first
  access(kCopy, 0, 0, AccessType::store, 0, 512, 1);
  access(kRead, 0, 1, AccessType::load, 128);
  mbarrier(Operation::complete, kCopy, 0, 0, kBarrier, 1);
  access(kRead, 0, 1, AccessType::load, 256);
  ASSERT_EQ(kinds(), std::set{RaceKind::async_copy});
  // Of the copy's phase nothing is known until it has completed; then the wait is known to be for an earlier one.
  const LaunchOrder& order = races_->order();
  const WrongWait wrong = order.wrong_wait(races_->races().begin()->second.first.stamp, 0, 1);
  EXPECT_EQ(wrong.kind, WrongWait::Kind::phase_before);
  EXPECT_EQ(wrong.phase, -1);
}

}  // namespace
}  // namespace warpgrind::checkers
