// The door to memory: every way of access is checked, counted and published once. Small PTX kernels through the whole
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/memory/texture.h"
#include "events/observer.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

using events::AccessPath;
using events::SiteKind;

// Wants everything, keeps it.
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
    std::uint32_t bytes;  // of the lowest lane on
    auto operator<=>(const Seen&) const = default;
  };
  void on_access(const events::Access& a, unsigned) override {
    const std::lock_guard lock(mutex);
    const auto lane = static_cast<unsigned>(std::countr_zero(a.mask));
    accesses.push_back({a.space, a.type, a.path, a.order, a.scope, a.mask, a.bytes_of(lane)});
    addresses.push_back(a.addresses[lane]);
  }
#define WG_KEEP(name, Type)                                      \
  void on_##name(const events::Type& event, unsigned) override { \
    const std::lock_guard lock(mutex);                           \
    name.push_back(event);                                       \
  }                                                              \
  std::vector<events::Type> name;
  WG_KEEP(barrier, Barrier)
  WG_KEEP(warp_sync, WarpSync)
  WG_KEEP(fence, Fence)
  WG_KEEP(mbarrier, MBarrier)
  WG_KEEP(async_group, AsyncGroup)
  WG_KEEP(block_begin, BlockEvent)
  WG_KEEP(block_end, BlockEvent)
  WG_KEEP(allocation, Allocation)
  WG_KEEP(deallocation, Allocation)
  WG_KEEP(host_copy, HostCopy)
  WG_KEEP(host_fill, HostFill)
  WG_KEEP(stream_order, StreamOrder)
#undef WG_KEEP
  bool saw(const Seen& what) const {
    return std::find(accesses.begin(), accesses.end(), what) != accesses.end();
  }

  std::mutex mutex;
  std::vector<Seen> accesses;
  std::vector<std::uint64_t> addresses;
};

constexpr auto kWeak = events::MemoryOrder::weak;
constexpr auto kNone = events::MemoryScope::none;

// Each thread's own word of `data`: %rd3.
const std::string kOwnWord = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ";

// A copy of 256 bytes into shared memory by the copy engine, waited for by all threads.
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

TEST(Access, TheHostIsPublished) {
  Recorder seen;
  Kernel k("", 1, &seen);
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(k.data);
  ASSERT_EQ(seen.allocation.size(), 1u);
  EXPECT_EQ(seen.allocation[0].address, address);
  EXPECT_EQ(seen.allocation[0].bytes, Kernel::kBytes);
  k.device->observe(events::HostCopy{0, 0, address, address + 64, 16});
  k.device->observe(events::HostFill{0, 0, address, 16});
  k.device->observe(events::StreamOrder{0, 3, events::StreamOrder::kHost});
  EXPECT_EQ(seen.host_copy.size(), 1u);
  EXPECT_EQ(seen.host_fill.size(), 1u);
  ASSERT_EQ(seen.stream_order.size(), 1u);
  EXPECT_EQ(seen.stream_order[0].earlier, 3u);
  ASSERT_TRUE(k.device->free(address));
  ASSERT_EQ(seen.deallocation.size(), 1u);
  EXPECT_EQ(seen.deallocation[0].bytes, Kernel::kBytes);
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

TEST(Access, TexturesAndSurfacesArePublished) {
  ArrayShape shape;
  shape.width = 8;
  shape.height = 4;
  ChannelFormat format;
  format.bits[0] = 32;
  const std::shared_ptr<Array> array = Array::create(format, shape);
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
  // Between four texels each: x 0.5 .. 3.5, y 1.5.
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

// A fault leaves the fiber for good: nothing that it found may be held then.
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
  const LaunchResult r = k.try_run(2);  // thread 0's is good
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::invalid_texture);
  destroy_texture(texture);
  EXPECT_TRUE(watched.expired());
}

// cudaMemcpyAsync in a kernel: only global memory lives on when the copy is carried out.
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

// Lanes repeat their pattern (far below and far above the first lane) at an address where its ends wrap round 2^64.
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
  // Small pieces do not take its place at once.
  for (int i = 0; i < 100; ++i) EXPECT_NE(*k.device->allocate(100), freed);
  std::memcpy(k.data, &freed, 8);
  const LaunchResult r = k.try_run(32);
  ASSERT_TRUE(r.fault);
  EXPECT_NE(r.fault->message.find("is 40 bytes inside a 1000-byte allocation that was freed by cudaFreeAsync"),
            std::string::npos)
      << r.fault->message;
  EXPECT_NE(r.fault->advice.find("freed"), std::string::npos) << r.fault->advice;
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
    if (!parsed.ok()) continue;  // refused before: good too
    auto loaded = device.load(*parsed);
    ASSERT_TRUE(loaded.ok());
    void* none[] = {nullptr};
    auto result = device.launch(*loaded, 0, {{1, 1, 1}, {32, 1, 1}}, none);
    ASSERT_FALSE(result.ok()) << bytes;
    EXPECT_NE(result.error().message.find("local memory a thread"), std::string::npos) << result.error().message;
  }
  // A limit beyond all bounds is the most there is.
  Kernel k(
      ".local .align 4 .b8 own[64]; mov.u32 %r2, own; add.u32 %r2, %r2, %r1; st.local.u8 [%r2], %r1; "
      "ld.local.u8 %r5, [%r2]; st.global.u32 [%rd1], %r5;");
  k.device->set_stack_size(std::uint64_t{1} << 59);
  k.run(32);
  EXPECT_EQ(k.data[0], 31u);
}

// 16 bytes a lane at once.
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

// The kind that the compiler gives an atomic decides its wavefronts: 32 lanes on one word.
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
