// The common path of all memory accesses: every kind of access is checked, counted and published once. Small PTX
// kernels run through the whole device.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/memory/texture.h"
#include "device_fixture.h"
#include "keep_events.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

using events::AccessPath;
using events::SiteKind;

// An observer that requests all events and stores them.
class Recorder : public events::Observer {
 public:
  events::Wants wants() const override {
    events::Wants all;
    all.counts = all.edges = true;
#define WG_EVENT(name, wanted, Type) all.wanted = true;
#include "events/events.inc"
#undef WG_EVENT
    return all;
  }
  struct Seen {
    StateSpace space;
    AccessType type;
    AccessPath path;
    events::MemoryOrder order;
    events::MemoryScope scope;
    LaneMask mask;
    std::uint32_t bytes;  // from the lowest lane on
    auto operator<=>(const Seen&) const = default;
  };
  void on_access(const events::Access& a, unsigned) override {
    const std::lock_guard lock(mutex);
    const auto lane = static_cast<unsigned>(std::countr_zero(a.mask));
    accesses.push_back({a.space, a.type, a.path, a.order, a.scope, a.mask, a.bytes_of(lane)});
    addresses.push_back(a.addresses[lane]);
  }
  WG_KEEP(barrier, Barrier)
  WG_KEEP(barrier_passed, BarrierPassed)
  WG_KEEP(warp_sync, WarpSync)
  WG_KEEP(exit, Exit)
  void on_cluster_barrier(const events::ClusterBarrier& b, unsigned) override {
    const std::lock_guard lock(mutex);
    clusters.insert(b.launch->cluster.x);  // `launch` is only valid during the launch
    cluster_barrier.push_back(b);
  }
  WG_KEEP(fence, Fence)
  WG_KEEP(mbarrier, MBarrier)
  WG_KEEP(async_group, AsyncGroup)
  WG_KEEP(block_begin, BlockEvent)
  WG_KEEP(block_end, BlockEvent)
  void on_allocation(const events::Allocation& a, unsigned) override {
    keep(a, allocation);
  }
  void on_deallocation(const events::Allocation& a, unsigned) override {
    keep(a, deallocation);
  }
  WG_KEEP(host_copy, HostCopy)
  WG_KEEP(host_fill, HostFill)
  WG_KEEP(stream_work, StreamWork)
  WG_KEEP(host_wait, HostWait)
  bool saw(const Seen& what) const {
    return std::find(accesses.begin(), accesses.end(), what) != accesses.end();
  }

  void keep(const events::Allocation& a, std::vector<events::Allocation>& in) {
    const std::lock_guard lock(mutex);
    if (a.kind == events::Allocation::Kind::kernel_heap && on_lane) on_lane(a);  // `by` is only valid during the event
    in.push_back(a);
  }

  std::mutex mutex;
  std::vector<Seen> accesses;
  std::vector<std::uint64_t> addresses;
  std::vector<events::Allocation> allocation, deallocation;
  std::vector<events::ClusterBarrier> cluster_barrier;
  std::set<std::uint32_t> clusters;  // their widths
  std::function<void(const events::Allocation&)> on_lane;
};

constexpr auto kWeak = events::MemoryOrder::weak;
constexpr auto kNone = events::MemoryScope::none;

//

// A copy of 256 bytes into shared memory by the copy engine. All threads wait for it.
const std::string kBulkCopy = R"(
    mov.u32 %r2, memory; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r2+1024], 32;
    bar.sync 0;
    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2+1024], 256;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1+4096], 256, [%r2+1024];
    mbarrier.arrive.shared.b64 %rd5, [%r2+1024];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+1024], 0;
    @!%p2 bra WAIT;)";

TEST(Access, BulkCopiesAreCounted) {
  Kernel in(kBulkCopy);
  const events::SiteCounts* c = nullptr;
  const LaunchResult r = in.run(32);
  ASSERT_NE(c = counts_at(r, SiteKind::bulk_copy), nullptr);
  EXPECT_EQ(c->global_requests, 1u);
  EXPECT_EQ(c->global.sectors, 8u);
  EXPECT_EQ(c->global.lines, 2u);
  EXPECT_EQ(c->global.bytes_moved, 256u);
  EXPECT_EQ(c->shared_requests, 1u);
  EXPECT_EQ(c->shared.wavefronts, 2u);
  EXPECT_EQ(c->shared.bytes_asked, 256u);

  Kernel out(R"(
    mov.u32 %r2, memory; setp.eq.u32 %p1, %r1, 0; add.u64 %rd2, %rd1, 16;
    st.shared.u32 [memory], 77;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 48;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)");
  const LaunchResult w = out.run(1);
  EXPECT_EQ(out.data[4], 77u);
  ASSERT_NE(c = counts_at(w, SiteKind::bulk_copy), nullptr);
  EXPECT_EQ(c->global.sectors, 2u);  // bytes 16 to 63
  EXPECT_EQ(c->shared.wavefronts, 1u);
}

// ---- ld.param with an address in a register: clang's code for a structure passed by value

// A structure of 16 words and one more parameter: 80 bytes. Thread i reads element i % 16, an element that is the same
// for all threads, and a vector.
struct WithStructure {
  explicit WithStructure(const std::string& body, events::Observer* observer = nullptr) {
    Options options;
    options.workers = 1;
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    if (observer) device->add_observer(observer);
    auto parsed = ptx::parse(R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .align 16 .b8 words[64], .param .u64 data, .param .u64 by)
{
  .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data]; ld.param.u64 %rd9, [by];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
  mov.b64 %rd4, words;
  and.b32 %r2, %r1, 15; mul.wide.u32 %rd5, %r2, 4; add.u64 %rd6, %rd4, %rd5;
)" + body + "\nst.global.u32 [%rd3], %r3; ret;\n}\n",
                             "test.ptx");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    if (!parsed.ok()) return;
    module = *parsed;
    auto loaded = device->load(module);
    EXPECT_TRUE(loaded.ok());
    if (loaded.ok()) handle = *loaded;
    data = reinterpret_cast<std::uint32_t*>(*device->allocate(4096));
  }
  LaunchResult run(std::uint64_t by = 0) {
    std::uint32_t words[16];
    for (std::uint32_t k = 0; k < 16; ++k) words[k] = 100 + k;
    auto address = reinterpret_cast<std::uint64_t>(data);
    void* parameters[] = {words, &address, &by};
    LaunchConfig config;
    config.grid = {1, 1, 1};
    config.block = {32, 1, 1};
    auto result = device->launch(handle, 0, config, parameters);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.take() : LaunchResult{};
  }
  std::unique_ptr<Device> device;
  std::shared_ptr<const ptx::Module> module;
  LoadedModule* handle = nullptr;
  std::uint32_t* data = nullptr;
};

const std::string kReadStructure = R"(
  ld.param.u32 %r3, [%rd6];
  add.u64 %rd7, %rd4, %rd9;
  ld.param.u32 %r4, [%rd7+8]; add.u32 %r3, %r3, %r4;
  ld.param.v2.u32 {%r4, %r5}, [%rd7+16]; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5;
  setp.lt.u32 %p1, %r1, 16; mul.wide.u32 %rd8, %r1, 4; add.u64 %rd8, %rd4, %rd8;
  @%p1 ld.param.u32 %r4, [%rd8]; @%p1 add.u32 %r3, %r3, %r4;)";

TEST(ParameterByAddress, IsReadAndIsNoTraffic) {
  for (const bool observed : {false, true}) {
    Recorder seen;
    WithStructure k(kReadStructure, observed ? &seen : nullptr);
    const LaunchResult r = k.run();
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (std::uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(k.data[i], 100 + i % 16 + 102 + 104 + 105 + (i < 16 ? 100 + i : 0)) << i;
    const events::SiteCounts loads = total(r, SiteKind::load);
    EXPECT_EQ(loads.global_requests, 0u);
    EXPECT_EQ(loads.requests, 0u);
    EXPECT_EQ(total(r, SiteKind::store).global_requests, 1u);
    if (!observed) continue;
    const auto saw = [&](LaneMask mask, std::uint32_t bytes) {
      return seen.saw({StateSpace::param, AccessType::load, AccessPath::instruction, kWeak, kNone, mask, bytes});
    };
    EXPECT_TRUE(saw(kFullMask, 4) && saw(kFullMask, 8) && saw(0xffff, 4));
    EXPECT_EQ(seen.accesses.size(), 5u);
    EXPECT_EQ(seen.addresses[1], 8u);  // bytes from the start of the parameters
    EXPECT_EQ(seen.addresses[2], 16u);
  }
}

TEST(ParameterByAddress, OutsideIsAFault) {
  struct Case {
    std::string body;
    std::uint64_t by;
    std::string message;
    bool good = false;
  };
  const std::string uniform = "add.u64 %rd7, %rd4, %rd9; ld.param.u32 %r3, [%rd7];";
  const std::string varying = "add.u64 %rd7, %rd6, %rd9; ld.param.u32 %r3, [%rd7];";
  const std::string vector = "add.u64 %rd7, %rd4, %rd9; ld.param.v4.u32 {%r3, %r4, %r5, %r6}, [%rd7];";
  const Case cases[] = {
      {uniform, 76, "", true},
      {uniform, 80, "read of 4 bytes at offset 80, just past the end of the kernel's parameters; they have 80 bytes"},
      {uniform, std::uint64_t(-4),
       "read of 4 bytes at offset -4, 4 bytes before the beginning of the kernel's parameters; they have 80 bytes"},
      {uniform, 2, "not a multiple of 4"},
      {varying, 16, "", true},
      {varying, 24, "read of 4 bytes at offset 80, just past the end of the kernel's parameters; they have 80 bytes"},
      {vector, 64, "", true},
      {vector, 80, "read of 16 bytes at offset 80, just past the end of the kernel's parameters; they have 80 bytes"},
  };
  for (const Case& c : cases) {
    WithStructure k(c.body);
    const LaunchResult r = k.run(c.by);
    EXPECT_EQ(!r.fault, c.good) << c.body << c.by;
    if (!r.fault) continue;
    EXPECT_NE(r.fault->message.find(c.message), std::string::npos) << r.fault->message;
  }
}

TEST(Access, EveryPathIsPublished) {
  Recorder seen;
  Kernel k(kOwnWord + R"(
    ld.global.u32 %r5, [%rd3];
    ld.acquire.gpu.global.u32 %r5, [%rd3];
    st.release.sys.global.u32 [%rd3], %r5;
    ld.volatile.global.u32 %r5, [%rd3];
    atom.acq_rel.cta.global.add.u32 %r6, [%rd3], 1; add.u32 %r6, %r6, 1;
    red.shared.add.u32 [memory], 1;
    ld.const.u32 %r7, [table+4];
    fence.acq_rel.gpu; membar.sys; fence.proxy.async;
    mov.u32 %r2, memory; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;
    cp.async.ca.shared.global [%r3], [%rd3], 4; cp.async.commit_group; cp.async.wait_group 3;)" +
               kBulkCopy + "bar.arrive 1, 64;",
           1, &seen, ".const .u32 table[4] = {1, 2, 3, 4};");
  ASSERT_FALSE(k.run(32, 2).fault);
  using O = events::MemoryOrder;
  using S = events::MemoryScope;
  constexpr auto kGlobal = StateSpace::global, kShared = StateSpace::shared;
  const Recorder::Seen expected[] = {
      {kGlobal, AccessType::load, AccessPath::instruction, kWeak, kNone, kFullMask, 4},
      {kGlobal, AccessType::load, AccessPath::instruction, O::acquire, S::gpu, kFullMask, 4},
      {kGlobal, AccessType::store, AccessPath::instruction, O::release, S::system, kFullMask, 4},
      {kGlobal, AccessType::load, AccessPath::instruction, O::volatile_, S::system, kFullMask, 4},
      {kGlobal, AccessType::atomic, AccessPath::instruction, O::acquire_release, S::cta, kFullMask, 4},
      {kShared, AccessType::reduction, AccessPath::instruction, O::relaxed, S::gpu, kFullMask, 4},
      {StateSpace::constant, AccessType::load, AccessPath::instruction, kWeak, kNone, kFullMask, 4},
      {kGlobal, AccessType::load, AccessPath::async_copy, kWeak, kNone, kFullMask, 4},
      {kShared, AccessType::store, AccessPath::async_copy, kWeak, kNone, kFullMask, 4},
      {kGlobal, AccessType::load, AccessPath::bulk_copy, kWeak, kNone, 1, 256},
      {kShared, AccessType::store, AccessPath::bulk_copy, kWeak, kNone, 1, 256},
  };
  for (const Recorder::Seen& e : expected)
    EXPECT_TRUE(seen.saw(e)) << name(e.space) << " type " << static_cast<int>(e.type) << " path "
                             << static_cast<int>(e.path) << " order " << static_cast<int>(e.order);

  ASSERT_EQ(seen.fence.size(), 6u);  // two blocks of one warp
  EXPECT_EQ(seen.fence[0].order, O::acquire_release);
  EXPECT_EQ(seen.fence[0].scope, S::gpu);
  EXPECT_EQ(seen.fence[1].order, O::sequential);
  EXPECT_EQ(seen.fence[1].scope, S::system);
  EXPECT_TRUE(seen.fence[2].proxy);
  ASSERT_EQ(seen.async_group.size(), 4u);
  EXPECT_EQ(seen.async_group[0].operation, events::AsyncGroupOperation::commit);
  EXPECT_EQ(seen.async_group[1].operation, events::AsyncGroupOperation::wait);
  EXPECT_EQ(seen.async_group[1].pending, 3u);
  std::set<events::MBarrierOperation> operations;
  for (const events::MBarrier& m : seen.mbarrier) operations.insert(m.operation);
  using B = events::MBarrierOperation;
  EXPECT_EQ(operations, (std::set<B>{B::init, B::expect, B::complete, B::arrive, B::try_wait_parity}));
  ASSERT_EQ(seen.barrier.size(), 4u);
  EXPECT_EQ(seen.barrier[0].barrier, 0u);
  EXPECT_TRUE(seen.barrier[0].waits);
  EXPECT_EQ(seen.barrier[1].barrier, 1u);
  EXPECT_EQ(seen.barrier[1].threads, 64u);
  EXPECT_FALSE(seen.barrier[1].waits);
  ASSERT_EQ(seen.block_begin.size(), 2u);
  ASSERT_EQ(seen.block_end.size(), 2u);
  EXPECT_EQ(seen.block_begin[1].block, (Dim3{1, 0, 0}));
  EXPECT_EQ(seen.block_end[1].shared_bytes, 4096u);
}

TEST(Access, MemoryIsPublished) {
  Recorder seen;
  Kernel k("", 1, &seen, ".global .align 4 .u32 word[4]; .const .align 4 .u32 bank[2];");
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(k.data);
  using Kind = events::Allocation::Kind;
  ASSERT_EQ(seen.allocation.size(), 3u);
  EXPECT_EQ(seen.allocation[0].kind, Kind::variable);
  EXPECT_EQ(seen.allocation[0].name, "word");
  EXPECT_EQ(seen.allocation[0].bytes, 16u);
  EXPECT_EQ(seen.allocation[1].name, "bank");
  EXPECT_EQ(seen.allocation[2].kind, Kind::device);
  EXPECT_EQ(seen.allocation[2].address, address);
  EXPECT_EQ(seen.allocation[2].bytes, Kernel::kBytes);
  ASSERT_TRUE(k.device->free(address));
  ASSERT_EQ(seen.deallocation.size(), 1u);
  EXPECT_EQ(seen.deallocation[0].bytes, Kernel::kBytes);
  k.device->unload(k.handle);
  ASSERT_EQ(seen.deallocation.size(), 3u);
  EXPECT_EQ(seen.deallocation[1].address, seen.allocation[0].address);
}

// Published meetings: lanes that run together, lanes of two masks, and lanes that come from both sides of a branch to
// two different instructions. Shuffles and votes are published too, with their kind.
TEST(Access, MeetingsOfLanesArePublished) {
  Recorder seen;
  Kernel k(R"(
    bar.warp.sync 0xffffffff;
    setp.lt.u32 %p1, %r1, 16; selp.b32 %r2, 0x0000ffff, 0xffff0000, %p1;
    vote.sync.any.pred %p2, %p1, %r2;
    setp.eq.u32 %p3, %r1, 31;
    @%p3 bra OUT;
    @%p1 bra LOW;
    shfl.sync.idx.b32 %r3, %r1, 0, 31, 0x7fffffff;
    bra JOIN;
    LOW: shfl.sync.idx.b32 %r3, %r1, 1, 31, 0x7fffffff;
    JOIN: redux.sync.add.u32 %r4, %r1, 0xffffffff;
    OUT:)",
           1, &seen);
  ASSERT_FALSE(k.run(32).fault);
  struct Expected {
    SiteKind operation;
    LaneMask mask, members, together, live;
  };
  const Expected expected[] = {
      {SiteKind::warp_barrier, kFullMask, kFullMask, kFullMask, kFullMask},
      {SiteKind::vote, 0x0000ffff, 0x0000ffff, 0x0000ffff, kFullMask},
      {SiteKind::vote, 0xffff0000, 0xffff0000, 0xffff0000, kFullMask},
      {SiteKind::shuffle, 0x0000ffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {SiteKind::shuffle, 0x7fff0000, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {SiteKind::redux, 0x7fffffff, kFullMask, 0x7fffffff, 0x7fffffff},
  };
  ASSERT_EQ(seen.warp_sync.size(), std::size(expected));
  for (std::size_t n = 0; n < std::size(expected); ++n) {
    const events::WarpSync& s = seen.warp_sync[n];
    const Expected& e = expected[n];
    EXPECT_EQ(s.operation, e.operation) << n;
    EXPECT_EQ(s.mask, e.mask) << n;
    EXPECT_EQ(s.members, e.members) << n;
    EXPECT_EQ(s.together, e.together) << n;
    EXPECT_EQ(s.live, e.live) << n;
  }
  EXPECT_NE(seen.warp_sync[3].site, seen.warp_sync[4].site);
}

// Matrix operations need all lanes. A partial warp is reported.
TEST(Access, MatrixOperationsAreMeetings) {
  Recorder seen;
  Kernel k(R"(
    mov.u32 %r2, memory; mov.b32 %r3, 0; mov.b32 %r4, 0;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];
    movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r5;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra OUT;
    mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r3, %r4}, {%r5}, {%r5}, {%r3, %r4};
    OUT: st.global.u32 [%rd1], %r3;)",
           1, &seen);
  ASSERT_FALSE(k.run(32).fault);
  struct Expected {
    SiteKind operation;
    LaneMask mask;
  };
  const Expected expected[] = {
      {SiteKind::load, kFullMask}, {SiteKind::matrix, kFullMask}, {SiteKind::matrix, 0xffffff00}};
  ASSERT_EQ(seen.warp_sync.size(), std::size(expected));
  for (std::size_t n = 0; n < std::size(expected); ++n) {
    const events::WarpSync& s = seen.warp_sync[n];
    EXPECT_EQ(s.operation, expected[n].operation) << n;
    EXPECT_EQ(s.mask, expected[n].mask) << n;
    EXPECT_EQ(s.members, kFullMask) << n;
    EXPECT_EQ(s.together, expected[n].mask) << n;
    EXPECT_EQ(s.live, kFullMask) << n;
  }
}

// Each lane exits once, also from a function. The rest of the warp exits at the end of the code.
TEST(Access, ExitsArePublished) {
  Recorder seen;
  Kernel k(R"(
    setp.lt.u32 %p1, %r1, 4; @%p1 exit;
    setp.lt.u32 %p2, %r1, 8; @!%p2 bra ON;
    call leave, ();
    ON: setp.lt.u32 %p3, %r1, 16; @%p3 bra END;
    st.global.u32 [%rd1], %r1;
    END:)",
           1, &seen, ".func leave() { exit; }");
  ASSERT_FALSE(k.run(40).fault);
  std::vector<std::tuple<std::uint32_t, LaneMask, LaneMask>> exits;
  for (const events::Exit& e : seen.exit) exits.emplace_back(e.warp, e.mask, e.live);
  std::sort(exits.begin(), exits.end());
  const std::vector<std::tuple<std::uint32_t, LaneMask, LaneMask>> expected = {
      {0, 0x0000000f, 0xfffffff0}, {0, 0x000000f0, 0xffffff00}, {0, 0xffffff00, 0}, {1, 0x000000ff, 0}};
  EXPECT_EQ(exits, expected);
}

TEST(Access, BarriersArePublishedWhenTheyArePassed) {
  Recorder seen;
  Kernel k("setp.ge.u32 %p1, %r1, 64; @%p1 ret; bar.sync 3;", 1, &seen);
  ASSERT_FALSE(k.run(96).fault);
  ASSERT_EQ(seen.barrier.size(), 2u);
  EXPECT_EQ(seen.barrier[0].live, kFullMask);
  ASSERT_EQ(seen.barrier_passed.size(), 1u);
  EXPECT_EQ(seen.barrier_passed[0].barrier, 3u);
}

TEST(Access, BarriersOfClustersArePublished) {
  Recorder seen;
  Kernel k("barrier.cluster.arrive.relaxed; barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait;", 1,
           &seen);
  LaunchConfig config;
  config.grid = {4, 1, 1};
  config.block = {64, 1, 1};
  config.cluster = {2, 1, 1};
  ASSERT_FALSE(k.run(config).fault);
  using O = events::MemoryOrder;
  std::map<std::tuple<bool, O, std::uint32_t, std::uint32_t>, int> times;
  for (const events::ClusterBarrier& b : seen.cluster_barrier) {
    EXPECT_EQ(b.rank, b.block.x % 2);
    ++times[{b.waits, b.order, b.generation, b.block.x}];
  }
  EXPECT_EQ(seen.clusters, std::set<std::uint32_t>{2});
  EXPECT_EQ(times.size(), 16u);
  for (std::uint32_t block = 0; block < 4; ++block) {  // two warps each
    EXPECT_EQ((times[{false, O::relaxed, 1, block}]), 2);
    EXPECT_EQ((times[{true, O::acquire, 1, block}]), 2);
    EXPECT_EQ((times[{false, O::release, 2, block}]), 2);
    EXPECT_EQ((times[{true, O::acquire, 2, block}]), 2);
  }
}

// launch__shared_mem_per_block_static of an H200: the size up to the start of the extern array.
TEST(Access, StaticSharedMemoryReachesToTheExternArray) {
  const auto bytes = [](const std::string& body) {
    Kernel k(body, 1, nullptr, ".shared .align 4 .u32 flag; .extern .shared .align 128 .b8 dynamic[];");
    const auto compiled = k.device->compiled(k.handle, 0, {32, 1, 1});
    EXPECT_TRUE(compiled.ok());
    return (*compiled)->static_shared_bytes;
  };
  EXPECT_EQ(bytes("st.shared.u32 [flag], 1;"), 16u + 4096);
  EXPECT_EQ(bytes("st.shared.u32 [flag], 1; st.shared.u32 [dynamic], 1;"), 4224u);
}

TEST(Access, MemoryOfKernelsIsPublished) {
  Recorder seen;
  Kernel k(R"({
    .param .b64 size; .param .b64 piece;
    mov.u64 %rd5, 40; st.param.b64 [size], %rd5; call.uni (piece), malloc, (size); ld.param.b64 %rd6, [piece];
    } {
    .param .b64 piece; st.param.b64 [piece], %rd6; call.uni free, (piece);
    })",
           1, &seen,
           ".extern .func (.param .b64 r) malloc(.param .b64 size);\n.extern .func free(.param .b64 piece);\n");
  seen.on_lane = [&](const events::Allocation& a) {
    ASSERT_NE(a.by, nullptr);
    EXPECT_EQ(a.by->mask & (a.by->mask - 1), 0u);
    EXPECT_EQ(a.by->block, (Dim3{0, 0, 0}));
    EXPECT_EQ(a.bytes, 40u);
  };
  ASSERT_FALSE(k.run(4).fault);
  const auto of_kernels = [](const std::vector<events::Allocation>& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const events::Allocation& a) { return a.kind == events::Allocation::Kind::kernel_heap; });
  };
  EXPECT_EQ(of_kernels(seen.allocation), 4);
  EXPECT_EQ(of_kernels(seen.deallocation), 4);
}

TEST(Access, CallsOfKernelsArePublished) {
  Recorder seen;
  Kernel k(R"({
    .param .b64 format; .param .b64 arguments; .param .b32 result;
    cvta.global.u64 %rd5, text; st.param.b64 [format], %rd5; mov.u64 %rd6, 0; st.param.b64 [arguments], %rd6;
    call.uni (result), vprintf, (format, arguments);
    })",
           1, &seen,
           ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
           ".global .align 1 .b8 text[3] = {104, 105, 0};");
  ASSERT_FALSE(k.run(1).fault);
  EXPECT_TRUE(seen.saw({StateSpace::global, AccessType::load, AccessPath::call, kWeak, kNone, 1, 1}));
}

// An array of 8 x 4 elements of 32 bits.
std::shared_ptr<Array> array_of_words() {
  ArrayShape shape;
  shape.width = 8;
  shape.height = 4;
  ChannelFormat format;
  format.bits[0] = 32;
  return Array::create(format, shape);
}

TEST(Access, TexturesAndSurfacesArePublished) {
  const std::shared_ptr<Array> array = array_of_words();
  TextureResource resource;
  resource.array = array;
  TextureDescription linear;
  linear.linear_filter = true;
  const std::uint64_t texture = create_texture(resource, linear), surface = create_surface(array);
  Recorder seen;
  Kernel k(R"(
    ld.global.u64 %rd5, [%rd1]; ld.global.u64 %rd6, [%rd1+8];
    cvt.rn.f32.u32 %f1, %r1; add.f32 %f1, %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd5, {%f1, %f2}];
    shl.b32 %r2, %r1, 2; mov.u32 %r3, 1;
    sust.b.2d.b32.zero [%rd6, {%r2, %r3}], %r1;)",
           1, &seen);
  std::memcpy(k.data, &texture, 8);
  std::memcpy(k.data + 2, &surface, 8);
  const LaunchResult r = k.run(4);
  // Each lane reads between four texels: x 0.5 .. 3.5, y 1.5.
  const Recorder::Seen texel{StateSpace::texture, AccessType::load, AccessPath::texture, kWeak, kNone, 15, 4};
  EXPECT_EQ(std::count(seen.accesses.begin(), seen.accesses.end(), texel), 4);
  EXPECT_TRUE(seen.saw({StateSpace::texture, AccessType::store, AccessPath::surface, kWeak, kNone, 15, 4}));
  // Columns 0 to 4 of rows 1 and 2, in tiles of 4 columns x 2 rows: 2 x 2 sectors, one request.
  const events::SiteCounts* c = counts_at(r, SiteKind::texture);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->requests, 1u);
  EXPECT_EQ(c->lanes, 4u);
  EXPECT_EQ(c->global_requests, 1u);
  EXPECT_EQ(c->global.sectors, 4u);
  destroy_texture(texture);
  destroy_surface(surface);
}

// A quad reads 64 texels of two levels. The levels have 16^3 and 8^3 floats in tiles of 4 columns x 2 rows. In the
// first level, the lanes' own columns in rows 1 and 2 and slices 1 and 2 are 16 sectors. In the second, two lanes share
// the columns, and rows 0 and 1 are one tile: 4 sectors. For levels of 8^3 and 4^3 it is 4 sectors and, in the middle
// of one texel each, 1. Two quads at once read from different levels, lane by lane.
TEST(Access, AQuadOfTwoLevelsInThreeDimensions) {
  TextureResource resource;
  ArrayShape shape;
  ChannelFormat format;
  format.bits[0] = 32;
  format.kind = ChannelFormat::Kind::floating;
  for (const std::uint64_t size : {16, 8, 4}) {
    shape.width = shape.height = shape.depth = size;
    resource.levels.push_back(Array::create(format, shape));
  }
  resource.array = resource.levels.front();
  TextureDescription description;
  description.linear_filter = description.linear_levels = description.normalized_coordinates = true;
  description.most_level = 2;
  const std::uint64_t texture = create_texture(resource, description);
  for (const unsigned quads : {1u, 2u}) {
    Kernel k(R"(
      ld.global.u64 %rd5, [%rd1];
      and.b32 %r2, %r1, 3; cvt.rn.f32.u32 %f1, %r2; fma.rn.f32 %f1, %f1, 0f3E800000, 0f3E000000; mov.f32 %f2, 0f3E000000;
      shr.u32 %r3, %r1, 2; cvt.rn.f32.u32 %f3, %r3; add.f32 %f3, %f3, 0f3F000000;
      tex.level.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd5, {%f1, %f2, %f2, %f2}], %f3;
      mul.wide.u32 %rd6, %r1, 4; add.u64 %rd6, %rd6, %rd1; st.global.f32 [%rd6+64], %f4;)");
    std::memcpy(k.data, &texture, 8);
    const LaunchResult r = k.run(4 * quads);
    const events::SiteCounts* c = counts_at(r, SiteKind::texture);
    ASSERT_NE(c, nullptr);
    EXPECT_EQ(c->global_requests, quads);
    EXPECT_EQ(c->global.bytes_asked, quads == 1 ? 256u : 400u);
    EXPECT_EQ(c->global.sectors, quads == 1 ? 20u : 25u);
    EXPECT_EQ(c->global.ideal_sectors, quads == 1 ? 8u : 13u);
  }
  destroy_texture(texture);
}

TEST(Access, LanesWriteSurfacesOfTheirOwn) {
  const std::shared_ptr<Array> arrays[] = {array_of_words(), array_of_words()};
  const std::uint64_t surfaces[] = {create_surface(arrays[0]), create_surface(arrays[1])};
  Kernel k(R"(
    and.b32 %r2, %r1, 1; shl.b32 %r3, %r2, 3; cvt.u64.u32 %rd6, %r3; add.u64 %rd6, %rd1, %rd6;
    ld.global.u64 %rd5, [%rd6]; shl.b32 %r2, %r1, 2; mov.u32 %r3, 1; add.u32 %r4, %r1, 100;
    sust.b.2d.b32.zero [%rd5, {%r2, %r3}], %r4;)");
  std::memcpy(k.data, surfaces, sizeof surfaces);
  ASSERT_FALSE(k.run(12).fault);  // the last four lanes are outside
  for (unsigned x = 0; x < 8; ++x)
    for (unsigned y = 0; y < 4; ++y)
      for (unsigned a = 0; a < 2; ++a) {
        std::uint32_t word;
        std::memcpy(&word, arrays[a]->data() + (y * 8 + x) * sizeof word, sizeof word);
        EXPECT_EQ(word, y == 1 && x % 2 == a ? 100 + x : 0) << x << ", " << y << " of " << a;
      }
  for (const std::uint64_t surface : surfaces) destroy_surface(surface);
}

// The advice for a negative x was to multiply it by the element size.
TEST(Access, SurfaceFaultsNameTheirRepair) {
  const std::uint64_t surface = create_surface(array_of_words());
  for (const std::int32_t x : {-4, 32}) {
    Kernel k(R"(
      ld.global.u64 %rd5, [%rd1]; ld.global.u32 %r2, [%rd1+8]; mov.u32 %r3, 1;
      suld.b.2d.b32.trap {%r4}, [%rd5, {%r2, %r3}]; st.global.u32 [%rd1+16], %r4;)");
    std::memcpy(k.data, &surface, 8);
    std::memcpy(k.data + 2, &x, 4);
    const LaunchResult r = k.try_run(1);
    ASSERT_TRUE(r.fault);
    EXPECT_NE(r.fault->advice.find(x < 0 ? "negative x" : "multiply the index by the element size"), std::string::npos)
        << r.fault->advice;
  }
  destroy_surface(surface);
}

// A fault leaves the fiber without unwinding, so no found texture may still be held then.
TEST(Access, AFaultKeepsNoTexture) {
  ArrayShape shape;
  shape.width = 4;
  ChannelFormat format;
  format.bits[0] = 32;
  const std::shared_ptr<Array> array = Array::create(format, shape);
  TextureResource resource;
  resource.array = array;
  const std::uint64_t texture = create_texture(resource, {});
  const std::weak_ptr<const Texture> watched = find_texture(texture);
  Kernel k(R"(
    ld.global.u64 %rd5, [%rd1]; setp.eq.u32 %p1, %r1, 1; mov.u64 %rd6, 123456789; selp.b64 %rd5, %rd6, %rd5, %p1;
    mov.f32 %f1, 0f00000000; tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd5, {%f1}];)");
  std::memcpy(k.data, &texture, 8);
  const LaunchResult r = k.try_run(2);  // thread 0's is valid
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::invalid_texture);
  destroy_texture(texture);
  EXPECT_TRUE(watched.expired());
}

// cudaMemcpyAsync in a kernel: only global memory still exists when the copy is carried out.
TEST(Access, QueuedCopiesTakeGlobalMemoryOnly) {
  const std::string declarations =
      ".extern .func (.param .b32 r) cudaMemcpyAsync(.param .b64 d, .param .b64 s, .param .b64 n, .param .b32 k, "
      ".param .b64 t);\n"
      ".extern .func (.param .b32 r) cudaMemsetAsync(.param .b64 d, .param .b32 v, .param .b64 n, .param .b64 t);\n";
  const auto copy = [](const char* to, const char* from, const char* result) {
    return std::string(
               "{ .param .b64 d; .param .b64 s; .param .b64 n; .param .b32 k; .param .b64 t; .param .b32 r;\n") +
           "st.param.b64 [d], " + to + "; st.param.b64 [s], " + from +
           "; st.param.b64 [n], 16; st.param.b32 [k], 3; st.param.b64 [t], 0;\n"
           "call.uni (r), cudaMemcpyAsync, (d, s, n, k, t); ld.param.b32 %r5, [r]; st.global.u32 [%rd1+" +
           result + "], %r5; }\n";
  };
  Kernel k(
      ".local .align 8 .b8 own[16]; mov.u64 %rd6, memory; cvta.shared.u64 %rd6, %rd6; mov.u64 %rd7, own; "
      "cvta.local.u64 %rd7, %rd7; add.u64 %rd8, %rd1, 64; add.u64 %rd9, %rd1, 128;\n" +
          copy("%rd8", "%rd6", "0") + copy("%rd6", "%rd8", "4") + copy("%rd7", "%rd8", "8") +
          copy("%rd8", "%rd9", "12") +
          "{ .param .b64 d; .param .b32 v; .param .b64 n; .param .b64 t; .param .b32 r;\n"
          "st.param.b64 [d], %rd6; st.param.b32 [v], 5; st.param.b64 [n], 16; st.param.b64 [t], 0;\n"
          "call.uni (r), cudaMemsetAsync, (d, v, n, t); ld.param.b32 %r5, [r]; st.global.u32 [%rd1+16], %r5; }",
      1, nullptr, declarations);
  k.data[32] = 4711;
  ASSERT_FALSE(k.run(1).fault);
  constexpr std::uint32_t kInvalidValue = 1;
  EXPECT_EQ(k.data[0], kInvalidValue);
  EXPECT_EQ(k.data[1], kInvalidValue);
  EXPECT_EQ(k.data[2], kInvalidValue);
  EXPECT_EQ(k.data[3], 0u);
  EXPECT_EQ(k.data[4], kInvalidValue);
  EXPECT_EQ(k.data[16], 4711u);
}

// Lanes repeat their pattern (far below and far above the first lane) at an address where the ends wrap around 2^64.
TEST(Access, ARepeatedPatternDoesNotWrap) {
  Kernel k(R"(
    setp.eq.u32 %p1, %r1, 0; selp.u64 %rd5, 0, 32768, %p1; mul.wide.u32 %rd6, %r1, 132;
    xor.b64 %rd6, %rd6, 68; sub.u64 %rd7, %rd6, %rd5; add.u64 %rd2, %rd1, 32768; mov.u32 %r4, 0;
    LOOP:
    add.u64 %rd3, %rd2, %rd7;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 3; mov.u64 %rd2, 256; @%p2 bra LOOP;
    st.global.u32 [%rd1], %r5;)");
  const LaunchResult r = k.try_run(32);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::illegal_address);
  EXPECT_NE(r.fault->message.find("read of 4 bytes"), std::string::npos) << r.fault->message;
}

TEST(Access, UseAfterFreeNamesTheFreedAllocation) {
  Kernel k("ld.global.u64 %rd5, [%rd1]; ld.global.u32 %r5, [%rd5+40]; st.global.u32 [%rd1], %r5;");
  const std::uint64_t freed = *k.device->allocate(1000);
  ASSERT_TRUE(k.device->free(freed, "cudaFreeAsync"));
  // Small allocations do not reuse its address at once.
  for (int i = 0; i < 100; ++i) EXPECT_NE(*k.device->allocate(100), freed);
  std::memcpy(k.data, &freed, 8);
  const LaunchResult r = k.try_run(32);
  ASSERT_TRUE(r.fault);
  EXPECT_NE(r.fault->message.find("is 40 bytes inside a 1000-byte allocation that was freed by cudaFreeAsync"),
            std::string::npos)
      << r.fault->message;
  EXPECT_NE(r.fault->advice.find("free the memory after"), std::string::npos) << r.fault->advice;
}

// What a worker has learnt of a site's memory serves the next launch, too.
TEST(Access, WindowsEndWithTheirMemory) {
  Kernel k(
      "ld.global.u64 %rd5, [%rd1]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd6, %rd5, %rd2; st.global.u32 [%rd6], %r1;");
  std::uint64_t freed = *k.device->allocate(1024);
  std::memcpy(k.data, &freed, 8);
  const LaunchResult first = k.run(64, 8), second = k.run(64, 8);
  const events::SiteCounts *a = counts_at(first, SiteKind::store), *b = counts_at(second, SiteKind::store);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->requests, 16u);
  EXPECT_EQ(b->requests, 16u);
  EXPECT_EQ(a->global.sectors, b->global.sectors);
  EXPECT_EQ(k.run(32, 2).counts.sites.back().requests, 2u);
  ASSERT_TRUE(k.device->free(freed));
  const LaunchResult r = k.try_run(64, 8);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::illegal_address);
}

TEST(Access, WindowsOfSharedMemoryEndWithItsSize) {
  Kernel k("st.shared.u32 [dynamic+252], %r1;", 1, nullptr, ".extern .shared .align 16 .b8 dynamic[];");
  LaunchConfig config;
  config.block = {32, 1, 1};
  config.dynamic_shared = 256;
  k.run(config);
  k.run(config);
  config.dynamic_shared = 128;
  EXPECT_TRUE(k.try_run(config).fault);
}

TEST(Access, BlocksOfOneWarpPassTheirBarriers) {
  // Each thread reads what another one has stored. Some threads leave before the last barrier.
  const std::string body =
      "mov.u32 %r2, memory; mad.lo.u32 %r3, %r1, 4, %r2; mul.lo.u32 %r4, %r1, 3; st.shared.u32 [%r3], %r4; "
      "bar.sync 0; sub.u32 %r5, 12, %r1; mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u32 %r6, [%r5]; "
      "setp.gt.u32 %p1, %r1, 7; @%p1 bra end; bar.sync 0; st.shared.u32 [%r3], %r6; bar.sync 0; "
      "ld.shared.u32 %r6, [%r2+28]; end: " +
      kOwnWord + "st.global.u32 [%rd3], %r6;";
  Kernel k(body);
  const LaunchResult r = k.run(13, 3);
  for (std::uint32_t t = 0; t < 13; ++t) EXPECT_EQ(k.data[t], t > 7 ? 3 * (12 - t) : 15u) << t;
  EXPECT_EQ(r.counts.warps_launched, 3u);
}

TEST(Access, LocalMemoryIsBounded) {
  for (const char* bytes : {"524289", "1073741824", "576460752303423488"}) {
    const std::string body = std::string(".local .b8 much[") + bytes +
                             "]; mov.u32 %r2, much; add.u32 %r2, %r2, %r1; st.local.u8 [%r2], %r1;";
    Options options;
    Device device(0, **find_gpu_model("h200"), options);
    const std::string text =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\nmov.u32 %r1, "
        "%tid.x;\n" +
        body + "\nret;\n}\n";
    auto parsed = ptx::parse(text, "test.ptx");
    if (!parsed.ok()) continue;  // refused earlier: fine too
    auto loaded = device.load(*parsed);
    ASSERT_TRUE(loaded.ok());
    void* none[] = {nullptr};
    auto result = device.launch(*loaded, 0, {{1, 1, 1}, {32, 1, 1}}, none);
    ASSERT_FALSE(result.ok()) << bytes;
    EXPECT_NE(result.error().message.find("local memory per thread"), std::string::npos) << result.error().message;
  }
  // A limit that is too large counts as the largest possible one.
  Kernel k(
      ".local .align 4 .b8 own[64]; mov.u32 %r2, own; add.u32 %r2, %r2, %r1; st.local.u8 [%r2], %r1; "
      "ld.local.u8 %r5, [%r2]; st.global.u32 [%rd1], %r5;");
  k.device->set_stack_size(std::uint64_t{1} << 59);
  k.run(32);
  EXPECT_EQ(k.data[0], 31u);
}

std::uint64_t pages(bool resident) {
  std::ifstream in("/proc/self/statm");
  std::uint64_t size = 0, there = 0;
  in >> size >> there;
  return resident ? there : size;
}

// The largest stack is 16 MiB a warp, 512 MiB for this block. It is address space; a kernel uses only what it writes.
TEST(Access, LocalMemoryIsTakenWhenItIsWritten) {
  Kernel k(
      ".local .align 4 .b8 own[64]; and.b32 %r3, %r1, 63; mov.u32 %r2, own; add.u32 %r2, %r2, %r3; "
      "st.local.u8 [%r2], %r3; bar.sync 0; ld.local.u8 %r5, [%r2]; mul.wide.u32 %rd2, %r1, 4; "
      "add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r5;");
  k.run(1024);
  k.device->set_stack_size(std::uint64_t{1} << 59);
  // Without enough address space, the launch reports that.
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{std::min<rlim_t>(pages(false) * page + (std::uint64_t{100} << 20), before.rlim_max),
                     before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const LaunchResult r = k.try_run(1024);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::out_of_resources);
  EXPECT_NE(r.fault->message.find("local memory"), std::string::npos) << r.fault->message;

  const std::uint64_t resident = pages(true);
  k.run(1024);
  EXPECT_LT((pages(true) - resident) * page, std::uint64_t{64} << 20);
  for (unsigned t = 0; t < 1024; ++t) EXPECT_EQ(k.data[t], t % 64) << t;
}

// 16 bytes a lane in one access.
TEST(Access, Wide) {
  Kernel k(R"(
    .reg .b128 %q<8>;
    mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2;
    ld.global.b128 %q1, [%rd3]; st.global.b128 [%rd3+1024], %q1;
    mov.b64 %rd4, 1; mov.b64 %rd5, 2; mov.b128 %q2, {%rd4, %rd5};
    atom.global.exch.b128 %q3, [%rd3], %q2; st.global.b128 [%rd3+2048], %q3;
    mov.b64 %rd6, 3; mov.b64 %rd7, 4; mov.b128 %q4, {%rd6, %rd7};
    atom.global.cas.b128 %q5, [%rd3], %q2, %q4; mov.b128 {%rd8, %rd9}, %q5; st.global.v2.u64 [%rd3+3072], {%rd8, %rd9};)");
  for (std::uint32_t i = 0; i < 128; ++i) k.data[i] = i * 3 + 1;
  k.run(32);
  const auto* words = reinterpret_cast<const std::uint64_t*>(k.data);
  for (std::uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(k.data[256 + i], i * 3 + 1) << i;
    EXPECT_EQ(k.data[512 + i], i * 3 + 1) << i;
  }
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(words[2 * l], 3u);
    EXPECT_EQ(words[2 * l + 1], 4u);
    EXPECT_EQ(words[384 + 2 * l], 1u);
    EXPECT_EQ(words[384 + 2 * l + 1], 2u);
  }
}

// The compiler's kind of an atomic decides its wavefronts: 32 lanes on one word.
TEST(Access, SharedAtomicsByOperation) {
  const auto wavefronts = [](const std::string& atomic) {
    Kernel k(atomic);
    const LaunchResult r = k.run(32);
    std::uint64_t sum = 0;
    for (const events::SiteCounts& c : r.counts.sites) sum += c.shared.wavefronts;
    return sum;
  };
  EXPECT_EQ(wavefronts("atom.shared.add.u32 %r5, [memory], 1;"), 1u);
  EXPECT_EQ(wavefronts("red.shared.add.s32 [memory], 1;"), 1u);
  EXPECT_EQ(wavefronts("red.shared.add.u32 [memory], 2;"), 32u);
  EXPECT_EQ(wavefronts("atom.shared.add.u32 %r5, [memory], 1; st.global.u32 [%rd1], %r5;"), 32u);
  EXPECT_EQ(wavefronts("red.shared.max.s32 [memory], %r1;"), 32u);
  EXPECT_EQ(wavefronts("atom.shared.exch.b32 %r5, [memory], %r1;"), 32u);
  EXPECT_EQ(wavefronts("atom.shared.cas.b32 %r5, [memory], 0, %r1;"), 64u);
  EXPECT_EQ(wavefronts("mov.f32 %f1, 0f3F800000; red.shared.add.f32 [memory], %f1;"), 64u);
  EXPECT_EQ(wavefronts("mov.u64 %rd5, 1; red.shared.add.u64 [memory], %rd5;"), 96u);
  EXPECT_EQ(wavefronts("mov.u64 %rd5, 1; atom.shared.exch.b64 %rd6, [memory], %rd5;"), 32u);
}

}  // namespace
}  // namespace warpgrind::device
