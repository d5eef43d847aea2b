// Invalid accesses under an observer: they are not carried out, everything else goes on, and the observer gets the
// problem and the lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <vector>

#include "events/observer.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

using Event = events::InvalidAccess;
using Problem = Event::Problem;
using Object = Event::Object;

class Watcher : public events::Observer {
 public:
  explicit Watcher(bool every_access = false) : every_access_(every_access) {}
  events::Wants wants() const override {
    events::Wants w;
    w.invalid_accesses = w.heap_problems = true;
    w.accesses = every_access_;
    return w;
  }
  struct Seen {
    Problem problem;
    Object object;
    AccessType type;
    StateSpace space;
    LaneMask mask;
    std::uint32_t bytes;
    std::uint64_t low, high;
    std::int64_t from_low;  // from `low` to the first bad lane
    std::string name;       // of the origin
  };
  void on_invalid_access(const Event& e, unsigned) override {
    const std::lock_guard lock(mutex);
    const auto lane = static_cast<unsigned>(std::countr_zero(e.mask));
    seen.push_back({e.problem, e.object, e.type, e.space, e.mask, e.bytes_of(lane), e.low, e.high,
                    static_cast<std::int64_t>(e.addresses[lane] - e.low), e.origin ? e.origin->name : ""});
  }
  void on_heap_problem(const events::HeapProblem& e, unsigned) override {
    const std::lock_guard lock(mutex);
    heap.push_back(e.kind);
  }
  std::mutex mutex;
  std::vector<Seen> seen;
  std::vector<events::HeapProblem::Kind> heap;

 private:
  const bool every_access_;
};

constexpr std::uint64_t kBytes = Kernel::kBytes;
constexpr LaneMask kUpper = 0xffff0000u;

// Parameter: accesses go through the inline cache (false), or every access is observed (true).
class InvalidAccess : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ways, InvalidAccess, testing::Bool());

TEST_P(InvalidAccess, BadLanesOfAStoreAreLeftOut) {
  Watcher w(GetParam());
  Kernel k(kOwnWord + "add.u32 %r2, %r1, 100; st.global.u32 [%rd3+65472], %r2; st.global.u32 [%rd3], %r2;", 1, &w);
  const LaunchResult r = k.try_run(32);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].problem, Problem::outside);
  EXPECT_EQ(w.seen[0].object, Object::allocation);
  EXPECT_EQ(w.seen[0].type, AccessType::store);
  EXPECT_EQ(w.seen[0].mask, kUpper);
  EXPECT_EQ(w.seen[0].high - w.seen[0].low, kBytes);
  EXPECT_EQ(w.seen[0].from_low, static_cast<std::int64_t>(kBytes));
  ASSERT_TRUE(r.fault);  // the error that the program gets
  EXPECT_TRUE(r.survived);
  EXPECT_EQ(r.fault->kind, FaultKind::illegal_address);
  EXPECT_EQ(r.fault->thread.x, 16u);
  EXPECT_EQ(k.data[kBytes / 4 - 1], 115u);
  EXPECT_EQ(k.data[31], 131u);
  EXPECT_FALSE(k.try_run(16).fault);  // the next launch starts without an error
}

TEST_P(InvalidAccess, BadLanesOfALoadGetZero) {
  Watcher w(GetParam());
  Kernel k(kOwnWord + "ld.global.u32 %r2, [%rd3+65472]; st.global.u32 [%rd3], %r2;", 1, &w);
  std::fill_n(k.data, kBytes / 4, 7u);
  k.try_run(32);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].mask, kUpper);
  EXPECT_EQ(k.data[15], 7u);
  EXPECT_EQ(k.data[16], 0u);
}

// An address that advances: valid for a long time, through the inline cache, and then invalid.
TEST_P(InvalidAccess, LoopsRunOverTheEnd) {
  Watcher w(GetParam());
  Kernel k(kOwnWord + R"(
    mov.u32 %r3, 0;
    LOOP: ld.global.u32 %r4, [%rd3]; add.u64 %rd3, %rd3, 128; add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 515; @%p1 bra LOOP;)",
           1, &w);
  k.try_run(32);
  EXPECT_EQ(w.seen.size(), 3u);
  for (const auto& s : w.seen) EXPECT_EQ(s.mask, kFullMask);
}

// The address lies in the second allocation, but its pointer came from the first parameter.
struct TwoPointers {
  explicit TwoPointers(const std::string& body, events::Observer* observer, unsigned workers = 1) {
    Options options;
    options.workers = workers;
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    device->add_observer(observer);
    auto parsed = ptx::parse(
        ".version 8.6\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n)\n{\n"
        ".reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<4>;\n"
        "ld.param.u64 %rd8, [a]; ld.param.u64 %rd9, [b]; ld.param.u64 %rd10, [n];\n"
        "cvta.to.global.u64 %rd1, %rd8; cvta.to.global.u64 %rd2, %rd9;\n"
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n" +
            body + "\nret;\n}\n",
        "two.ptx");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    module = *parsed;
    handle = *device->load(module);
    a = *device->allocate(4096);
    b = *device->allocate(4096);
  }
  LaunchResult run(std::uint64_t pa, std::uint64_t pb, std::uint64_t n, unsigned blocks = 1) {
    LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {32, 1, 1};
    void* parameters[] = {&pa, &pb, &n, nullptr};
    auto result = device->launch(handle, 0, config, parameters);
    EXPECT_TRUE(result.ok());
    return result.take();
  }
  std::unique_ptr<Device> device;
  std::shared_ptr<const ptx::Module> module;
  LoadedModule* handle = nullptr;
  std::uint64_t a = 0, b = 0;
};

TEST_P(InvalidAccess, NeighboursAreFoundByTheParameter) {
  Watcher w(GetParam());
  TwoPointers k(
      "mul.lo.s64 %rd4, %rd10, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], 7;", &w);
  ASSERT_EQ((k.b - k.a) % 4, 0u);
  const LaunchResult r = k.run(k.a, k.b, (k.b - k.a) / 4);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].problem, Problem::neighbour);
  EXPECT_EQ(w.seen[0].name, "a");
  EXPECT_EQ(w.seen[0].low, k.a);
  EXPECT_EQ(w.seen[0].high, k.a + 4096);
  EXPECT_EQ(w.seen[0].mask, kFullMask);
  EXPECT_FALSE(r.fault);  // the hardware sees no error
  EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(k.b), 0u);
  w.seen.clear();
  k.run(k.a + 400, k.b, ~std::uint64_t{0} - 49);   // p + 100, read at [-50]: inside
  k.run(k.b, k.a, 0);                              // another launch, other allocations
  k.run(k.a + 4096, k.b, ~std::uint64_t{0} - 63);  // backwards from the end: no finding
  EXPECT_TRUE(w.seen.empty());
}

TEST_P(InvalidAccess, OnlyWhatIsSureHasNeighbours) {
  const struct {
    const char* what;
    const char* body;
  } cases[] = {
      {"loaded", "ld.global.u64 %rd4, [%rd1]; add.s64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], 7;"},
      {"an offset from memory",
       "ld.global.u64 %rd4, [%rd1+8]; add.s64 %rd5, %rd4, %rd1; add.s64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], 7;"},
      {"selected",
       "setp.gt.u32 %p1, %r1, 99; selp.b64 %rd4, %rd1, %rd2, %p1; add.s64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], 7;"},
      {"a difference",
       "sub.s64 %rd4, %rd2, %rd1; add.s64 %rd5, %rd1, %rd4; add.s64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], 7;"},
      {"a difference in elements",
       "sub.s64 %rd4, %rd2, %rd1; shr.s64 %rd4, %rd4, 2; shl.b64 %rd4, %rd4, 2; add.s64 %rd5, %rd1, %rd4; "
       "add.s64 %rd5, %rd5, %rd3; st.global.u32 [%rd5], 7;"},
      {"two halves",
       "ld.global.v2.u32 {%r2, %r3}, [%rd1]; mov.b64 %rd4, {%r2, %r3}; add.s64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], "
       "7;"},
  };
  for (const auto& c : cases) {
    Watcher w(GetParam());
    TwoPointers k(c.body, &w);
    auto* words = reinterpret_cast<std::uint64_t*>(k.a);
    words[0] = k.b;
    words[1] = k.b - k.a;
    const LaunchResult r = k.run(k.a, k.b, 0);
    EXPECT_TRUE(w.seen.empty()) << c.what;
    EXPECT_FALSE(r.fault) << c.what;
    EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(k.b + 124), 7u) << c.what;
  }
}

// Any 32-bit number loaded from memory counts as an index.
TEST_P(InvalidAccess, GatheredIndexesHaveNeighbours) {
  Watcher w(GetParam());
  TwoPointers k(
      "ld.global.s32 %r2, [%rd2]; mul.wide.s32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5];", &w);
  *reinterpret_cast<std::int32_t*>(k.b) = static_cast<std::int32_t>((k.b - k.a) / 4 + 1);
  k.run(k.a, k.b, 0);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].problem, Problem::neighbour);
  EXPECT_EQ(w.seen[0].name, "a");
}

TEST_P(InvalidAccess, FreedMemoryIsNamed) {
  Watcher w(GetParam());
  TwoPointers k("add.s64 %rd5, %rd1, %rd3; ld.global.u32 %r3, [%rd5];", &w);
  k.device->free(k.a);
  const std::uint64_t again = *k.device->allocate(4096);
  EXPECT_NE(again, k.a);
  k.run(k.a, k.b, 0);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].problem, Problem::outside);
  EXPECT_EQ(w.seen[0].object, Object::freed);
  EXPECT_EQ(w.seen[0].low, k.a);
  k.run(0, k.b, 0);
  ASSERT_EQ(w.seen.size(), 2u);
  EXPECT_EQ(w.seen[1].object, Object::none);
  EXPECT_EQ(w.seen[1].name, "a");
  EXPECT_EQ(w.seen[1].mask, kFullMask);
}

TEST_P(InvalidAccess, SharedVariablesHaveBounds) {
  Watcher w(GetParam());
  Kernel k(
      ".shared .align 4 .b8 first[128]; .shared .align 4 .b8 second[128];"
      "mov.u32 %r2, first; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2+64], %r1;"
      "st.shared.u32 [second], %r1;",
      1, &w);
  const LaunchResult r = k.try_run(32);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].problem, Problem::neighbour);
  EXPECT_EQ(w.seen[0].object, Object::shared);
  EXPECT_EQ(w.seen[0].name, "first");
  EXPECT_EQ(w.seen[0].mask, kUpper);
  EXPECT_EQ(w.seen[0].high - w.seen[0].low, 128u);
  EXPECT_FALSE(r.fault);
}

TEST_P(InvalidAccess, LocalArraysEndWithTheFrame) {
  Watcher w(GetParam());
  Kernel k(
      ".local .align 4 .b8 depot[40];"
      "mov.u64 %rd2, depot; ld.global.u32 %r2, [%rd1]; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd2, %rd3;"
      "st.local.u32 [%rd4], %r1; cvta.local.u64 %rd5, %rd4; st.u32 [%rd5], %r1;",
      1, &w);
  k.device->set_stack_size(1024);
  k.data[0] = 9;
  k.try_run(32);
  EXPECT_TRUE(w.seen.empty());
  k.data[0] = 10;
  k.try_run(32);
  ASSERT_EQ(w.seen.size(), 2u);
  for (const auto& s : w.seen) {
    EXPECT_EQ(s.object, Object::local);
    EXPECT_EQ(s.space, StateSpace::local);
    EXPECT_EQ(s.high - s.low, 40u);
    EXPECT_EQ(s.from_low, 40);
  }
}

// The frame of a called function can be anywhere on the stack. The bound is the size of all frames together.
TEST_P(InvalidAccess, LocalMemoryIsNoLargerThanTheFrames) {
  Watcher w(GetParam());
  const std::string callee =
      ".func callee(.param .b32 index)\n{\n.local .align 16 .b8 depot[32];\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
      "ld.param.u32 %r1, [index]; mov.u64 %rd1, depot; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
      "st.local.u32 [%rd3], %r1; ret;\n}\n";
  Kernel k("ld.global.u32 %r2, [%rd1]; { .param .b32 p; st.param.b32 [p], %r2; call.uni callee, (p); }", 1, &w, callee);
  k.device->set_stack_size(1024);
  k.data[0] = 7;
  k.try_run(32);
  EXPECT_TRUE(w.seen.empty());
  k.data[0] = 8;
  k.try_run(32);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].object, Object::local);
}

TEST_P(InvalidAccess, ParametersAreConstant) {
  Watcher w(GetParam());
  Kernel k("mov.u64 %rd2, data; cvta.param.u64 %rd3, %rd2; st.u32 [%rd3], 1;", 1, &w);
  k.try_run(1);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].problem, Problem::constant);
  EXPECT_EQ(w.seen[0].object, Object::parameters);
  EXPECT_EQ(w.seen[0].high - w.seen[0].low, 8u);
}

TEST_P(InvalidAccess, ConstantArraysHaveBounds) {
  Watcher w(GetParam());
  Kernel k(
      "mov.u64 %rd2, table; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; ld.const.u32 %r2, [%rd4];"
      "cvta.const.u64 %rd5, %rd2; st.u32 [%rd5], 1;",
      1, &w, ".const .align 4 .b8 table[108];");
  const LaunchResult r = k.try_run(32);
  ASSERT_EQ(w.seen.size(), 2u);
  EXPECT_EQ(w.seen[0].name, "table");
  EXPECT_EQ(w.seen[0].mask, 0xf8000000u);
  EXPECT_EQ(w.seen[0].space, StateSpace::constant);
  EXPECT_EQ(w.seen[1].problem, Problem::constant);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->thread.x, 27u);  // the first bad lane of the warp
}

TEST_P(InvalidAccess, AtomicsGiveZero) {
  Watcher w(GetParam());
  Kernel k(kOwnWord + R"(
    atom.global.add.u32 %r2, [%rd3+65472], 5; st.global.u32 [%rd3], %r2;
    add.u64 %rd4, %rd1, 65536; red.global.add.u32 [%rd4], 1;
    shl.b32 %r4, %r1, 7; mov.u32 %r5, memory; add.u32 %r5, %r5, %r4; atom.shared.add.u32 %r6, [%r5+128], 1;)",
           1, &w);
  std::fill_n(k.data, kBytes / 4, 9u);
  k.try_run(32);
  ASSERT_EQ(w.seen.size(), 3u);
  EXPECT_EQ(w.seen[0].type, AccessType::atomic);
  EXPECT_EQ(w.seen[0].mask, kUpper);
  EXPECT_EQ(k.data[15], 9u);
  EXPECT_EQ(k.data[16], 0u);
  EXPECT_EQ(k.data[kBytes / 4 - 1], 14u);
  EXPECT_EQ(w.seen[1].mask, kFullMask);  // one address for all lanes
  EXPECT_EQ(w.seen[2].mask, 0x80000000u);
  EXPECT_EQ(w.seen[2].object, Object::shared);
}

TEST_P(InvalidAccess, CopiesOfBadLanesAreLeftOut) {
  Watcher w(GetParam());
  Kernel k(kOwnWord + R"(
    shl.b32 %r4, %r1, 2; mov.u32 %r5, memory; add.u32 %r5, %r5, %r4;
    st.shared.u32 [%r5], 3; st.shared.u32 [%r5+128], 3;
    cp.async.ca.shared.global [%r5], [%rd3+65472], 4; cp.async.wait_all;
    ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd3], %r6;
    mul.lo.u32 %r7, %r1, 252; add.u32 %r7, %r7, %r5;
    cp.async.ca.shared.global [%r7], [%rd3+1024], 4; cp.async.wait_all;)",
           1, &w);
  std::fill_n(k.data, kBytes / 4, 9u);
  k.try_run(32);
  ASSERT_EQ(w.seen.size(), 2u);
  EXPECT_EQ(w.seen[0].type, AccessType::load);
  EXPECT_EQ(w.seen[0].mask, kUpper);
  EXPECT_EQ(k.data[15], 9u);
  EXPECT_EQ(k.data[16], 0u);
  EXPECT_EQ(w.seen[1].space, StateSpace::shared);
  EXPECT_EQ(w.seen[1].type, AccessType::store);
}

TEST_P(InvalidAccess, BulkCopiesOutsideDoNotMove) {
  Watcher w(GetParam());
  Kernel k(R"(
    setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, memory; add.u64 %rd2, %rd1, 65504;
    st.shared.u32 [memory], 77;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 48;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)",
           1, &w);
  const LaunchResult r = k.try_run(32);
  ASSERT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.seen[0].mask, 1u);
  EXPECT_EQ(w.seen[0].bytes, 48u);
  EXPECT_EQ(k.data[65504 / 4], 0u);
  EXPECT_TRUE(r.survived);
}

TEST_P(InvalidAccess, MisalignedAndBarriersThatAreNotThere) {
  Watcher w(GetParam());
  Kernel k(R"(
    ld.global.u64 %rd2, [%rd1+4];
    mov.u32 %r2, 60000; mbarrier.init.shared.b64 [%r2], 1;
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;)",
           1, &w);
  const LaunchResult r = k.try_run(1);
  ASSERT_EQ(w.seen.size(), 3u);
  EXPECT_EQ(w.seen[0].problem, Problem::misaligned);
  EXPECT_EQ(w.seen[0].object, Object::allocation);
  EXPECT_EQ(w.seen[1].object, Object::shared);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::misaligned_address);
}

TEST_P(InvalidAccess, TheHeapOfKernels) {
  Watcher w(GetParam());
  Kernel k(R"(
    { .param .b64 size; .param .b64 p; st.param.b64 [size], 16; call.uni (p), malloc, (size); ld.param.b64 %rd2, [p]; }
    st.u32 [%rd2+16], 1; st.u32 [%rd2], 1;
    { .param .b64 p; st.param.b64 [p], %rd2; call.uni free, (p); }
    { .param .b64 p; st.param.b64 [p], %rd2; call.uni free, (p); }
    ld.u32 %r2, [%rd2];
    { .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); }
    { .param .b64 size; .param .b64 p; st.param.b64 [size], 1000000000; call.uni (p), malloc, (size); ld.param.b64 %rd2, [p]; }
    st.u32 [%rd2], 1;)",
           1, &w, ".extern .func (.param .b64 p) malloc (.param .b64 size); .extern .func free (.param .b64 p);");
  k.try_run(1);
  ASSERT_EQ(w.seen.size(), 3u);
  EXPECT_EQ(w.seen[0].object, Object::piece);
  EXPECT_EQ(w.seen[0].high - w.seen[0].low, 16u);
  EXPECT_EQ(w.seen[0].from_low, 16);
  EXPECT_EQ(w.seen[1].object, Object::freed_piece);
  EXPECT_EQ(w.seen[2].object, Object::none);
  using Kind = events::HeapProblem::Kind;
  EXPECT_EQ(w.heap, (std::vector<Kind>{Kind::freed_before, Kind::no_piece, Kind::no_room}));
}

TEST_P(InvalidAccess, TheFirstFaultIsTheSameForAnyNumberOfWorkers) {
  for (const unsigned workers : {1u, 2u}) {
    Watcher w(GetParam());
    TwoPointers k(
        "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd4, %r2, 128; add.s64 %rd5, %rd1, %rd4; add.s64 %rd5, %rd5, %rd3;"
        "st.global.u32 [%rd5], 7;",
        &w, workers);
    const LaunchResult r = k.run(k.a, 0, 0, 200);
    EXPECT_EQ(w.seen.size(), 168u) << workers;
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->block.x, 32u) << workers;
  }
}

TEST_P(InvalidAccess, VeryManyEndTheLaunch) {
  Watcher w(GetParam());
  Kernel k("LOOP: ld.global.u32 %r2, [%rd1+65536]; setp.eq.u32 %p1, %r2, 0; @%p1 bra LOOP;", 1, &w);
  const LaunchResult r = k.try_run(32);
  EXPECT_EQ(w.seen.size(), Event::kMostAccesses + 1);
  EXPECT_TRUE(r.fault);
  EXPECT_TRUE(r.survived);
}

// Without an observer, the first invalid access ends the launch, as on a GPU.
TEST(InvalidAccesses, EndTheLaunchWithoutObservers) {
  Kernel k(kOwnWord + "st.global.u32 [%rd3+65472], 1; st.global.u32 [%rd1], 7;");
  const LaunchResult r = k.try_run(32);
  ASSERT_TRUE(r.fault);
  EXPECT_FALSE(r.survived);
  EXPECT_EQ(k.data[0], 0u);
}

}  // namespace
}  // namespace warpgrind::device
