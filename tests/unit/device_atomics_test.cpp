// Atomics, warp operations, asynchronous copies and mbarriers: small PTX kernels through the whole device. Expected
// values of floating-point atomics are an H200's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

struct AtomicCase {
  const char* operation;  // "add.u32"
  std::uint64_t value, b, c, after;
};

unsigned bytes_of(const std::string& type) {
  if (type.ends_with("64")) return 8;
  if (type.ends_with("16") || type == "b16") return 2;
  return 4;
}

enum class Memory { global, shared, local };

// Runs every case in one kernel: value, b, c at data + 64 i, the old value beside them. Local memory has a generic
// address, and the warp's other lanes change variables of their own.
void check_cases(const std::vector<AtomicCase>& cases, Memory memory) {
  const bool shared = memory == Memory::shared, local = memory == Memory::local;
  std::string body = "mov.u32 %r2, memory;\n";
  if (local) body += ".local .align 16 .b8 mine[32];\nmov.u64 %rd20, mine;\ncvta.local.u64 %rd20, %rd20;\n";
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const std::string operation = cases[n].operation;
    const std::string type = operation.substr(operation.rfind('.') + 1);
    const unsigned bytes = bytes_of(type);
    const char* reg = bytes == 8 ? "%rd" : bytes == 2 ? "%h" : "%r";
    const std::size_t at = 64 * n;
    const auto load = [&](int r, std::size_t offset) {
      return fmt::format("ld.global.b{} {}{}, [%rd1+{}];\n", 8 * bytes, reg, r, at + offset);
    };
    body += load(10, 0) + load(11, 16) + load(12, 32);
    const bool cas = operation.starts_with("cas");
    const std::string third = cas ? fmt::format(", {}12", reg) : "";
    if (shared)
      body += fmt::format(
          "st.shared.b{0} [%r2], {1}10;\natom.shared.{2} {1}13, [%r2], {1}11{3};\n"
          "ld.shared.b{0} {1}10, [%r2];\nst.global.b{0} [%rd1+{4}], {1}10;\n",
          8 * bytes, reg, operation, third, at);
    else if (local)
      body += fmt::format(
          "st.b{0} [%rd20+8], {1}10;\natom.{2} {1}13, [%rd20+8], {1}11{3};\n"
          "ld.b{0} {1}10, [%rd20+8];\nst.global.b{0} [%rd1+{4}], {1}10;\n",
          8 * bytes, reg, operation, third, at);
    else
      body += fmt::format("atom.global.{} {}13, [%rd1+{}], {}11{};\n", operation, reg, at, reg, third);
    body += fmt::format("st.global.b{} [%rd1+{}], {}13;\n", 8 * bytes, at + 48, reg);
  }
  Kernel k(body);
  auto* bytes = reinterpret_cast<std::uint8_t*>(k.data);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    std::memcpy(bytes + 64 * n, &cases[n].value, 8);
    std::memcpy(bytes + 64 * n + 16, &cases[n].b, 8);
    std::memcpy(bytes + 64 * n + 32, &cases[n].c, 8);
  }
  k.run(1);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const std::string operation = cases[n].operation;
    const unsigned size = bytes_of(operation.substr(operation.rfind('.') + 1));
    std::uint64_t after = 0, old = 0;
    std::memcpy(&after, bytes + 64 * n, size);
    std::memcpy(&old, bytes + 64 * n + 48, size);
    EXPECT_EQ(after, cases[n].after) << operation
                                     << (shared  ? " shared "
                                         : local ? " local "
                                                 : " global ")
                                     << std::hex << cases[n].value << ' ' << cases[n].b;
    EXPECT_EQ(old, cases[n].value) << operation;
  }
}

const std::vector<AtomicCase>& integer_cases() {
  static const std::vector<AtomicCase> cases = {
      {"add.u32", 0xffffffff, 2, 0, 1},
      {"add.s32", 5, 0xffffffff, 0, 4},
      {"add.u64", 0xffffffffull, 1, 0, 0x100000000ull},
      {"inc.u32", 4, 5, 0, 5},
      {"inc.u32", 5, 5, 0, 0},
      {"dec.u32", 0, 5, 0, 5},
      {"dec.u32", 6, 5, 0, 5},
      {"dec.u32", 4, 5, 0, 3},
      {"min.s32", 1, 0xffffffff, 0, 0xffffffff},
      {"min.u32", 1, 0xffffffff, 0, 1},
      {"max.s32", 1, 0xffffffff, 0, 1},
      {"max.u32", 1, 0xffffffff, 0, 0xffffffff},
      {"min.s64", 1, ~0ull, 0, ~0ull},
      {"max.u64", 1, ~0ull, 0, ~0ull},
      {"and.b32", 0xff0, 0x0ff, 0, 0x0f0},
      {"or.b32", 0xff0, 0x0ff, 0, 0xfff},
      {"xor.b32", 0xff0, 0x0ff, 0, 0xf0f},
      {"and.b64", 0xff00000000ull, 0xf000000000ull, 0, 0xf000000000ull},
      {"or.b64", 1, 1ull << 63, 0, 1ull << 63 | 1},
      {"xor.b64", 3, 1, 0, 2},
      {"exch.b32", 7, 9, 0, 9},
      {"exch.b64", 7, 1ull << 40, 0, 1ull << 40},
      {"cas.b32", 7, 7, 11, 11},
      {"cas.b32", 7, 8, 11, 7},
      {"cas.b64", 7, 7, 1ull << 50, 1ull << 50},
      {"cas.b16", 7, 7, 12, 12},
      {"add.f64", 0x7ff8123456789abcull, 0x3ff0000000000000ull, 0, 0x7ff8123456789abcull},
      {"add.f64", 1, 1, 0, 2},
      {"add.f64", 0x3ff0000000000000ull, 0x3ff0000000000000ull, 0, 0x4000000000000000ull},
      {"add.noftz.f16", 0x0001, 0x0001, 0, 0x0002},
      {"add.noftz.f16", 0x7bff, 0x7bff, 0, 0x7c00},
      {"add.noftz.f16", 0x7c00, 0xfc00, 0, 0x7fff},
      {"add.noftz.bf16", 0x3f80, 0x3f80, 0, 0x4000},
      {"add.noftz.f16x2", 0x3c000001, 0x3c000001, 0, 0x40000002},
      {"min.noftz.f16x2", 0x80003c00, 0x00007e01, 0, 0x80003c00},
      {"max.noftz.f16x2", 0x80003c00, 0x00007e01, 0, 0x00003c00},
      {"max.noftz.bf16x2", 0x7fc13f80, 0x7fc24000, 0, 0x7fff4000},
      {"add.f32", 0x7fc12345, 0x3f800000, 0, 0x7fffffff},
      {"add.f32", 0x7f800000, 0xff800000, 0, 0x7fffffff},
      {"add.f32", 0x80000000, 0x80000000, 0, 0x80000000},
      {"add.f32", 0x3f800000, 0xbf800000, 0, 0},
  };
  return cases;
}

TEST(Atomics, Global) {
  std::vector<AtomicCase> cases = integer_cases();
  cases.push_back({"add.f32", 0x00400000, 0x00400000, 0, 0x00000000});
  cases.push_back({"add.f32", 0x00800000, 0x80000001, 0, 0x00800000});
  check_cases(cases, Memory::global);
}

TEST(Atomics, Shared) {
  std::vector<AtomicCase> cases = integer_cases();
  cases.push_back({"add.f32", 0x00400000, 0x00400000, 0, 0x00800000});
  cases.push_back({"add.f32", 0x00800000, 0x80000001, 0, 0x007fffff});
  check_cases(cases, Memory::shared);
}

TEST(Atomics, LocalThroughAGenericAddress) {
  std::vector<AtomicCase> cases = integer_cases();
  cases.push_back({"add.f32", 0x00400000, 0x00400000, 0, 0x00800000});
  cases.push_back({"add.f32", 0x00800000, 0x80000001, 0, 0x007fffff});
  cases.push_back({"add.f64", 0x7ff0000000000123ull, 0x3ff0000000000000ull, 0, 0x7ff8000000000123ull});
  cases.push_back({"add.f64", 0x3ff0000000000000ull, 0x7ff0000000000123ull, 0, 0x7ff8000000000123ull});
  check_cases(cases, Memory::local);
}

// Even lanes update their own local variable, odd lanes one word of global memory together; lane 31 takes no part.
TEST(Atomics, LocalAndGlobalInOneInstruction) {
  Kernel k(kOwnWord + R"(
    .local .align 16 .b8 mine[32];
    mov.u64 %rd20, mine; cvta.local.u64 %rd20, %rd20; add.u64 %rd20, %rd20, 16;
    cvt.u64.u32 %rd4, %r1; st.u64 [%rd20], %rd4;
    and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; setp.ne.u32 %p2, %r1, 31;
    add.u64 %rd5, %rd1, 1024; selp.b64 %rd6, %rd20, %rd5, %p1;
    mov.b64 %rd7, 0x100000001; mov.b64 %rd8, 99;
    @%p2 atom.add.u64 %rd8, [%rd6], %rd7;
    ld.u64 %rd9, [%rd20];
    shr.u64 %rd10, %rd9, 32; cvt.u32.u64 %r3, %rd9; cvt.u32.u64 %r4, %rd10; cvt.u32.u64 %r5, %rd8;
    st.global.u32 [%rd3], %r3; st.global.u32 [%rd3+128], %r4; st.global.u32 [%rd3+256], %r5;)");
  auto* words = static_cast<std::uint32_t*>(k.data);
  k.run(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const bool local = lane % 2 == 0;
    EXPECT_EQ(words[lane], local ? lane + 1 : lane) << lane;
    EXPECT_EQ(words[32 + lane], local ? 1u : 0u) << lane;
    if (local) EXPECT_EQ(words[64 + lane], lane);
  }
  EXPECT_EQ(words[64 + 31], 99u);
  EXPECT_EQ(words[256], 15u);
  EXPECT_EQ(words[257], 15u);
}

TEST(Atomics, WideInLocalMemory) {
  Kernel k(kOwnWord + R"(
    .local .align 16 .b8 mine[32];
    .reg .b128 %q<4>;
    mov.u64 %rd20, mine; cvta.local.u64 %rd20, %rd20;
    cvt.u64.u32 %rd4, %r1; st.v2.u64 [%rd20+16], {%rd4, %rd4};
    mov.b64 %rd5, 7; mov.b128 %q0, {%rd5, %rd5}; mov.b64 %rd6, 50; mov.b128 %q1, {%rd6, %rd5};
    atom.cas.b128 %q2, [%rd20+16], %q0, %q1;
    ld.v2.u64 {%rd9, %rd10}, [%rd20+16]; mov.b128 {%rd11, %rd12}, %q2;
    add.u64 %rd9, %rd9, %rd10; add.u64 %rd11, %rd11, %rd12; cvt.u32.u64 %r3, %rd9; cvt.u32.u64 %r4, %rd11;
    st.global.u32 [%rd3], %r3; st.global.u32 [%rd3+128], %r4;)");
  auto* words = static_cast<std::uint32_t*>(k.data);
  k.run(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane == 7 ? 57 : 2 * lane) << lane;
    EXPECT_EQ(words[32 + lane], 2 * lane) << lane;
  }
}

TEST(Atomics, Wide) {
  Kernel k(R"(
    ld.global.v2.b64 {%rd2, %rd3}, [%rd1];
    .reg .b128 %q<4>;
    mov.b128 %q0, {%rd2, %rd3};
    mov.b64 %rd4, 77;
    mov.b128 %q1, {%rd4, %rd4};
    atom.global.cas.b128 %q2, [%rd1], %q0, %q1;
    mov.b128 {%rd5, %rd6}, %q2;
    st.global.v2.b64 [%rd1+16], {%rd5, %rd6};)");
  auto* words = reinterpret_cast<std::uint64_t*>(k.data);
  words[0] = 1, words[1] = 2;
  k.run(1);
  EXPECT_EQ(words[0], 77u);
  EXPECT_EQ(words[1], 77u);
  EXPECT_EQ(words[2], 1u);
  EXPECT_EQ(words[3], 2u);
}

TEST(Atomics, VectorAdd) {
  Kernel k("mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; red.global.add.v2.f32 [%rd1], {%f1, %f2};");
  k.run(32);
  float sums[2];
  std::memcpy(sums, k.data, sizeof(sums));
  EXPECT_EQ(sums[0], 32);
  EXPECT_EQ(sums[1], 64);
}

// Each thread takes a number. No two threads get the same.
TEST(Atomics, TicketsAreDistinct) {
  for (const unsigned workers : {1u, 2u}) {
    Kernel k(R"(
      atom.global.add.u32 %r2, [%rd1], 1;
      mul.wide.u32 %rd2, %r2, 4;
      add.u64 %rd2, %rd2, %rd1;
      st.global.u32 [%rd2+64], 1;)",
             workers);
    k.run(100, 40);
    EXPECT_EQ(k.data[0], 4000u);
    for (unsigned i = 0; i < 4000; ++i) ASSERT_EQ(k.data[16 + i], 1u) << i;
  }
}

TEST(Atomics, GenericAddressesOfBothSpaces) {
  Kernel k(R"(
    mov.u64 %rd2, memory;
    cvta.shared.u64 %rd3, %rd2;
    st.shared.u32 [memory], 0;
    bar.sync 0;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    selp.b64 %rd4, %rd1, %rd3, %p1;
    red.add.u32 [%rd4], %r1;
    bar.sync 0;
    ld.shared.u32 %r3, [memory];
    st.global.u32 [%rd1+4], %r3;)");
  k.run(32);
  EXPECT_EQ(k.data[0], 240u);
  EXPECT_EQ(k.data[1], 256u);
}

// As on an H200: if the program's text shows a single address, one lane does all; lanes with equal addresses go in
// rounds.
TEST(Atomics, Sectors) {
  Kernel uniform("atom.global.add.u32 %r9, [%rd1], 1;");
  const LaunchResult one = uniform.run(64);
  EXPECT_EQ(uniform.data[0], 64u);
  EXPECT_EQ(counts_at(one, events::SiteKind::atomic)->requests, 2u);
  EXPECT_EQ(counts_at(one, events::SiteKind::atomic)->global.sectors, 2u);
  bool no_return = false;
  for (const events::Site& s : one.kernel->facts().sites) no_return |= s.no_return;
  EXPECT_TRUE(no_return);

  Kernel meeting(
      "shr.u32 %r2, %r1, 5; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1; and.b32 %r3, %r1, 0;"
      "mul.wide.u32 %rd3, %r3, %r1; add.u64 %rd2, %rd2, %rd3; red.global.add.u32 [%rd2], 1;");
  EXPECT_EQ(counts_at(meeting.run(32), events::SiteKind::reduction)->global.sectors, 32u);

  Kernel spread("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; red.global.add.u32 [%rd2], 1;");
  EXPECT_EQ(counts_at(spread.run(32), events::SiteKind::reduction)->global.sectors, 4u);
}

std::vector<std::uint32_t> per_lane(const std::string& body, unsigned threads = 32) {
  Kernel k(body + "\nmul.wide.u32 %rd30, %r1, 4; add.u64 %rd30, %rd30, %rd1; st.global.u32 [%rd30], %r9;");
  k.run(threads);
  if (!k.data) return std::vector<std::uint32_t>(threads);
  return {k.data, k.data + threads};
}

TEST(WarpOperations, Shuffle) {
  struct Case {
    const char *mode, *b, *c;
    std::uint32_t (*expected)(std::uint32_t);
  };
  const Case cases[] = {
      {"up", "3", "0", [](std::uint32_t l) { return l >= 3 ? l - 3 : l | 0x100u; }},
      {"down", "5", "31", [](std::uint32_t l) { return l + 5 <= 31 ? l + 5 : l | 0x100u; }},
      {"bfly", "9", "31", [](std::uint32_t l) { return l ^ 9; }},
      {"idx", "7", "31", [](std::uint32_t) { return 7u; }},
      {"down", "2", "0x1807", [](std::uint32_t l) { return (l & 7) + 2 <= 7 ? l + 2 : l | 0x100u; }},  // width 8
      {"up", "2", "0x1800", [](std::uint32_t l) { return (l & 7) >= 2 ? l - 2 : l | 0x100u; }},
      {"idx", "11", "0x1807", [](std::uint32_t l) { return (l & ~7u) | 3; }},
      {"bfly", "4", "0x1c03", [](std::uint32_t l) { return l & 4 ? l ^ 4 : l | 0x100u; }},
  };
  for (const Case& c : cases)
    for (const bool runtime : {false, true}) {
      const std::string name = fmt::format("{} {} {}{}", c.mode, c.b, c.c, runtime ? " at run time" : "");
      // At run time the operands come from memory, which is all zero.
      const std::string operands =
          runtime
              ? fmt::format("ld.global.u32 %r20, [%rd1+8192]; add.u32 %r3, %r20, {}; add.u32 %r4, %r20, {};", c.b, c.c)
              : fmt::format("mov.u32 %r3, {}; mov.u32 %r4, {};", c.b, c.c);
      const auto got =
          per_lane(operands + fmt::format("shfl.sync.{}.b32 %r9|%p1, %r1, {}, {}, -1; @!%p1 or.b32 %r9, %r9, 256;",
                                          c.mode, runtime ? "%r3" : c.b, runtime ? "%r4" : c.c));
      for (std::uint32_t l = 0; l < 32; ++l) {
        const std::uint32_t want = c.expected(l);
        ASSERT_EQ(got[l], want) << name << " lane " << l;
      }
    }
}

TEST(WarpOperations, ShuffleIndexVaries) {
  const auto got = per_lane("sub.u32 %r3, 31, %r1; shfl.sync.idx.b32 %r9, %r1, %r3, 31, -1;");
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(got[l], 31 - l);
}

TEST(WarpOperations, Votes) {
  const std::string p = "setp.lt.u32 %p1, %r1, 5; setp.lt.u32 %p2, %r1, 99;";
  EXPECT_EQ(per_lane(p + "vote.sync.ballot.b32 %r9, %p1, -1;")[9], 31u);
  EXPECT_EQ(per_lane(p + "vote.sync.ballot.b32 %r9, !%p1, 0xff;", 32)[0], 0xe0u);
  EXPECT_EQ(per_lane(p + "vote.sync.any.pred %p3, %p1, -1; selp.u32 %r9, 1, 0, %p3;")[31], 1u);
  EXPECT_EQ(per_lane(p + "vote.sync.all.pred %p3, %p1, -1; selp.u32 %r9, 1, 0, %p3;")[0], 0u);
  EXPECT_EQ(per_lane(p + "vote.sync.all.pred %p3, %p2, -1; selp.u32 %r9, 1, 0, %p3;")[0], 1u);
  EXPECT_EQ(per_lane(p + "vote.sync.uni.pred %p3, %p1, -1; selp.u32 %r9, 1, 0, %p3;")[0], 0u);
  EXPECT_EQ(per_lane(p + "@%p1 activemask.b32 %r9;")[2], 31u);
}

TEST(WarpOperations, MatchReduceElect) {
  const auto any = per_lane("and.b32 %r2, %r1, 3; match.any.sync.b32 %r9, %r2, -1;");
  EXPECT_EQ(any[1], 0x22222222u);
  EXPECT_EQ(per_lane("match.all.sync.b32 %r9|%p1, 5, -1;")[3], 0xffffffffu);
  EXPECT_EQ(per_lane("match.all.sync.b32 %r9|%p1, %r1, -1;")[3], 0u);
  EXPECT_EQ(per_lane("redux.sync.add.u32 %r9, %r1, -1;")[7], 496u);
  EXPECT_EQ(per_lane("sub.s32 %r2, %r1, 9; redux.sync.min.s32 %r9, %r2, -1;")[7], static_cast<std::uint32_t>(-9));
  EXPECT_EQ(per_lane("redux.sync.xor.b32 %r9, %r1, -1;")[7], 0u);
  EXPECT_EQ(per_lane("elect.sync %r8|%p1, -1; selp.u32 %r9, 1, 0, %p1;")[0], 1u);
  EXPECT_EQ(per_lane("elect.sync %r8|%p1, -1; selp.u32 %r9, 1, 0, %p1;")[1], 0u);
}

TEST(AsyncCopy, FillsTheRestWithZeroes) {
  const auto got = per_lane(R"(
    mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2;
    shl.b32 %r2, %r1, 4; mov.u32 %r3, memory; add.u32 %r3, %r3, %r2;
    and.b32 %r4, %r1, 1; shl.b32 %r5, %r4, 3;
    st.global.u32 [%rd3+1024], 7; st.global.u32 [%rd3+1032], 9;
    cp.async.ca.shared.global [%r3], [%rd3+1024], 16, %r5;
    cp.async.commit_group; cp.async.wait_group 0;
    ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+8]; mad.lo.u32 %r9, %r7, 100, %r6;)");
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(got[l], l % 2 ? 7u : 0u) << l;
}

TEST(AsyncCopy, BulkCopyCompletesItsBarrier) {
  const auto got = per_lane(R"(
    mov.u32 %r2, memory;
    setp.eq.u32 %p1, %r1, 0;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; add.u32 %r3, %r1, 1000; st.global.u32 [%rd3+4096], %r3;
    @%p1 mbarrier.init.shared.b64 [%r2+1024], 64;
    bar.sync 0;
    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2+1024], 256;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1+4096], 256, [%r2+1024];
    mbarrier.arrive.shared.b64 %rd5, [%r2+1024];
    WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r2+1024], 0;
    @!%p2 bra WAIT;
    shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r9, [%r4];)",
                            64);
  for (unsigned l = 0; l < 64; ++l) EXPECT_EQ(got[l], 1000 + l);
}

}  // namespace
}  // namespace warpgrind::device
