// events::Launch::own: the claim that no other thread accesses a site's memory, checked against the real accesses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

// The threads and sites that touched each byte of global memory.
class Bytes : public events::Observer {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.only_written = true;
    return w;
  }
  void on_launch_begin(const events::Launch& launch) override {
    touched_.clear();
    own.assign(launch.own.begin(), launch.own.end());
  }
  events::Wants wants_of(const events::Launch&) override {
    events::Wants all;  // also unwatched sites
    all.accesses = true;
    return all;
  }
  void on_access(const events::Access& a, unsigned) override {
    if (a.space != StateSpace::global) return;
    const std::lock_guard lock(mutex_);
    const std::uint64_t block = (std::uint64_t{a.block.z} * 64 + a.block.y) * 64 + a.block.x;
    for (unsigned l = 0; l < kWarpSize; ++l)
      for (std::uint32_t b = 0; (a.mask >> l & 1) != 0 && b < a.bytes_of(l); ++b)
        touched_[a.addresses[l] + b].insert({a.site, (block << 16) + a.warp * kWarpSize + l});
  }
  // Bytes of claimed sites that another thread has touched too.
  std::size_t wrong() const {
    std::size_t count = 0;
    for (const auto& [address, touchers] : touched_) {
      bool claimed = false;
      std::set<std::uint64_t> threads;
      for (const auto& [site, thread] : touchers) {
        claimed |= site < own.size() && own[site] != 0;
        threads.insert(thread);
      }
      count += claimed && threads.size() > 1;
    }
    return count;
  }
  bool anything() const { return !touched_.empty(); }
  std::vector<std::uint8_t> own;

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::set<std::pair<std::uint32_t, std::uint64_t>>> touched_;
};

// One digit for each memory access site: "1" claimed, "0" not.
std::string claims(const std::string& body, Dim3 grid, Dim3 block) {
  Bytes seen;
  Kernel k(body, 1, &seen);
  LaunchConfig config;
  config.grid = grid;
  config.block = block;
  k.run(config);
  EXPECT_TRUE(seen.anything());
  EXPECT_EQ(seen.wrong(), 0u);
  std::string text;
  for (const std::uint8_t o : seen.own) text += o ? '1' : '0';
  return text;
}

// %rd3 = data + 4 * (ctaid.x * ntid.x + tid.x)
const std::string kLinear =
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.s32 %rd2, %r4, 4; "
    "add.s64 %rd3, %rd1, %rd2;\n";

TEST(OwnElements, OfTheThreadsNumber) {
  EXPECT_EQ(claims(kLinear + "st.global.u32 [%rd3], %r1;", {4, 1, 1}, {64, 1, 1}), "1");
  EXPECT_EQ(claims(kLinear + "ld.global.u32 %r5, [%rd3]; st.global.u32 [%rd3], %r5;", {4, 1, 1}, {64, 1, 1}), "11");
  EXPECT_EQ(claims(kLinear + "setp.lt.u32 %p1, %r1, 7; @%p1 st.global.u32 [%rd3], %r1;", {4, 1, 1}, {64, 1, 1}), "1");
}

TEST(OwnElements, NotWhereNeighboursCome) {
  EXPECT_EQ(claims(kLinear + "ld.global.u32 %r5, [%rd3+4]; st.global.u32 [%rd3], %r5;", {4, 1, 1}, {64, 1, 1}), "00");
  EXPECT_EQ(claims(kLinear + "st.global.u64 [%rd3], %rd3;", {1, 1, 1}, {1, 1, 1}), "1");
  EXPECT_EQ(
      claims("mul.wide.s32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2; st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};",
             {1, 1, 1}, {1, 1, 1}),
      "1");
  EXPECT_EQ(
      claims("mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;", {2, 1, 1}, {64, 1, 1}),
      "0");  // all blocks write the same elements
  EXPECT_EQ(claims(kLinear + "atom.global.add.u32 %r5, [%rd3], 1;", {4, 1, 1}, {64, 1, 1}), "0");
  EXPECT_EQ(claims(kLinear + "st.volatile.global.u32 [%rd3], %r1;", {4, 1, 1}, {64, 1, 1}), "0");
}

TEST(OwnElements, NotWhatIsNotKnown) {
  // A loaded value, a loaded pointer, a value with two definitions, a value of a loop.
  EXPECT_EQ(claims("ld.global.u32 %r2, [%rd1]; mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 "
                   "[%rd3], %r1;",
                   {1, 1, 1}, {64, 1, 1}),
            "00");
  EXPECT_EQ(claims(kLinear + "setp.lt.u32 %p1, %r1, 7; @%p1 mov.u64 %rd3, %rd1; st.global.u32 [%rd3], %r1;", {1, 1, 1},
                   {64, 1, 1}),
            "0");
  EXPECT_EQ(
      claims(kLinear + "mov.u32 %r5, 0; L: st.global.u32 [%rd3], %r1; add.s64 %rd3, %rd3, 4; add.s32 %r5, %r5, 1; "
                       "setp.lt.u32 %p1, %r5, 3; @%p1 bra L;",
             {1, 1, 1}, {64, 1, 1})
          .front(),
      '0');
  // The same kernel also has a store to any address.
  EXPECT_EQ(claims(kLinear + "st.global.u32 [%rd3], %r1; ld.global.u64 %rd4, [%rd1+4096]; add.s64 %rd5, %rd4, %rd1; "
                             "setp.eq.u32 %p1, %r1, 99; @%p1 st.u32 [%rd4], %r1;",
                   {1, 1, 1}, {64, 1, 1})
                .substr(0, 1),
            "0");
}

TEST(OwnElements, NotWhatWrapsAround) {
  // 65536 * 65536 is 0 in 32 bits, so all blocks write the same elements.
  EXPECT_EQ(
      claims("mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 16; shl.b32 %r4, %r3, 14; add.s32 %r5, %r4, %r1; "
             "and.b32 %r5, %r5, 255; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;",
             {8, 1, 1}, {32, 1, 1}),
      "0");
  EXPECT_EQ(claims("mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 30; add.s32 %r5, %r3, %r1; mul.lo.s32 %r5, %r5, 4; "
                   "cvt.u64.u32 %rd2, %r5; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;",
                   {8, 1, 1}, {32, 1, 1}),
            "0");
}

// Tiles, several instructions, any shape: every claim must be true, and many sites must be claimed.
TEST(OwnElements, RandomAddresses) {
  std::mt19937 random(7);
  const auto any = [&](std::initializer_list<int> from) { return *(from.begin() + random() % from.size()); };
  unsigned claimed = 0;
  constexpr unsigned kTimes = 250;
  for (unsigned t = 0; t < kTimes; ++t) {
    const auto bx = static_cast<unsigned>(any({1, 2, 4, 8, 32})), by = static_cast<unsigned>(any({1, 2, 3, 4}));
    const auto gx = static_cast<unsigned>(any({1, 2, 3})), gy = static_cast<unsigned>(any({1, 2}));
    const int width = static_cast<int>(bx * gx), row = any({width, width, width + 1, 1, 7});
    const int steps[] = {any({1, 1, 1, 2, 0, -1}), any({row, row, row * 2, static_cast<int>(bx), 1}),
                         any({static_cast<int>(bx), static_cast<int>(bx), width, 1}),
                         any({static_cast<int>(by) * row, static_cast<int>(by) * row, row, 3})};
    std::string body = fmt::format(
        "mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mul.lo.s32 %r10, %r1, {}; "
        "mad.lo.s32 %r11, %r2, {}, %r10; mad.lo.s32 %r12, %r3, {}, %r11; mad.lo.s32 %r13, %r4, {}, %r12; "
        "add.s32 %r14, %r13, 1000; {}",
        steps[0], steps[1], steps[2], steps[3],
        any({0, 1}) ? "mul.wide.s32 %rd2, %r14, 4; add.s64 %rd3, %rd1, %rd2;\n"
                    : "shl.b32 %r15, %r14, 2; cvt.s64.s32 %rd2, %r15; add.s64 %rd3, %rd2, %rd1;\n");
    const int apart = any({4, 8, 4 * row, 4 * row * static_cast<int>(by), 4096});
    for (int k = 0, count = any({1, 1, 2, 4}); k < count; ++k)
      body += any({0, 0, 1}) ? fmt::format("ld.global.u32 %r20, [%rd3+{}];\n", k * apart)
                             : fmt::format("st.global.u32 [%rd3+{}], %r1;\n", k * apart);
    if (any({0, 0, 0, 1})) body += "st.global.u32 [%rd1+8000], %r1;\n";
    SCOPED_TRACE(body);
    const std::string c = claims(body, {gx, gy, 1}, {bx, by, 1});
    claimed += c.find('1') != std::string::npos;
  }
  EXPECT_GT(claimed, kTimes / 10);
}

}  // namespace
}  // namespace warpgrind::device
