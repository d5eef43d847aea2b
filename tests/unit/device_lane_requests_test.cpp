// Accesses with a separate address in each lane: the counts of machine code and device without an observer, against the
// plain rules for each access that an observer sees. With and without AVX-512 in machine code.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "plain_counts.h"
#include "ptx_kernel.h"
#include "sanitized.h"

namespace warpgrind::device {
namespace {

constexpr unsigned kTurns = 45;  // more than twice the number of requests counted together

struct RequestCase {
  const char* name;
  const char* space;  // the memory that %rd5 points to
  unsigned bytes;
  const char* access;  // uses %rd5; %p1 and %p2 select some lanes
};

const RequestCase kRequestCases[] = {
    {"bytes", "global", 1, "ld.global.u8 %r6, [%rd5];"},
    {"signed halves", "global", 2, "ld.global.s16 %r6, [%rd5];"},
    {"words", "global", 4, "ld.global.u32 %r6, [%rd5];"},
    {"some words", "global", 4, "@%p1 ld.global.u32 %r6, [%rd5];"},
    {"few words", "global", 4, "@%p2 ld.global.u32 %r6, [%rd5];"},
    {"volatile words", "global", 4, "ld.volatile.global.u32 %r6, [%rd5];"},
    {"floats", "global", 4, "ld.global.f32 %f1, [%rd5]; mov.b32 %r6, %f1;"},
    {"doubles", "global", 8, "ld.global.f64 %fd1, [%rd5]; mov.b64 {%r6, %r7}, %fd1; xor.b32 %r6, %r6, %r7;"},
    {"pairs", "global", 8, "ld.global.v2.u32 {%r6, %r7}, [%rd5]; xor.b32 %r6, %r6, %r7;"},
    {"fours", "global", 16, "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5]; xor.b32 %r6, %r7, %r9;"},
    {"generic", "global", 4, "ld.u32 %r6, [%rd5];"},
    {"stores of bytes", "global", 1, "st.global.u8 [%rd5], %r2;"},
    {"stores", "global", 4, "st.global.u32 [%rd5], %r2;"},
    {"some stores", "global", 4, "@%p1 st.global.u32 [%rd5], %r2;"},
    {"stores of 8", "global", 8, "st.global.v2.u32 [%rd5], {%r2, %r3};"},
    {"stores of doubles", "global", 8, "mov.b64 %fd1, {%r2, %r3}; @%p1 st.global.f64 [%rd5], %fd1;"},
    {"atomics", "global", 4, "atom.global.add.u32 %r6, [%rd5], %r2;"},
    {"some reductions", "global", 4, "@%p1 red.global.add.u32 [%rd5], %r2;"},
    {"wide atomics", "global", 8,
     "mov.b64 %rd7, {%r2, %r3}; atom.global.max.u64 %rd8, [%rd5], %rd7; mov.b64 {%r6, %r7}, %rd8;"},
    {"constants", "constant", 4, "ld.const.u32 %r6, [%rd5];"},
    {"some constant bytes", "constant", 1, "@%p1 ld.const.u8 %r6, [%rd5];"},
    {"shared bytes", "shared", 1, "ld.shared.u8 %r6, [%rd5];"},
    {"shared halves", "shared", 2, "@%p1 ld.shared.u16 %r6, [%rd5];"},
    {"shared words", "shared", 4, "ld.shared.u32 %r6, [%rd5];"},
    {"shared doubles", "shared", 8, "ld.shared.f64 %fd1, [%rd5]; mov.b64 {%r6, %r7}, %fd1;"},
    {"shared fours", "shared", 16, "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%rd5];"},
    {"shared stores of bytes", "shared", 1, "st.shared.u8 [%rd5], %r2;"},
    {"shared stores", "shared", 4, "@%p1 st.shared.u32 [%rd5], %r2;"},
    {"shared atomics", "shared", 4, "atom.shared.add.u32 %r6, [%rd5], %r2;"},
    {"local bytes", "local", 1, "ld.local.u8 %r6, [%rd5];"},
    {"local words", "local", 4, "ld.local.u32 %r6, [%rd5];"},
    {"some local words", "local", 4, "@%p1 ld.local.u32 %r6, [%rd5];"},
    {"local doubles", "local", 8, "ld.local.f64 %fd1, [%rd5]; mov.b64 {%r6, %r7}, %fd1; xor.b32 %r6, %r6, %r7;"},
    {"local stores of bytes", "local", 1, "@%p1 st.local.u8 [%rd5], %r2; ld.local.u32 %r6, [%rd6];"},
    {"local stores of halves", "local", 2, "st.local.u16 [%rd5], %r2; ld.local.u32 %r6, [%rd6+4];"},
    {"local stores", "local", 4, "st.local.u32 [%rd5], %r2; ld.local.u32 %r6, [%rd5];"},
    {"local stores of doubles", "local", 8,
     "mov.b64 %fd1, {%r2, %r3}; @%p1 st.local.f64 [%rd5], %fd1; ld.local.u32 %r6, [%rd5+4];"},
    {"some lanes at one local word", "local", 4, "@%p1 st.local.u32 [%rd6+8], %r2; @%p2 ld.local.u32 %r6, [%rd6+8];"},
    {"some lanes at one local byte", "local", 4, "@%p1 st.local.u8 [%rd6+9], %r2; @%p2 ld.local.u8 %r6, [%rd6+9];"},
    {"some lanes at one local double", "local", 8,
     "mov.b64 %fd1, {%r2, %r3}; @%p1 st.local.f64 [%rd6+16], %fd1; @%p2 ld.local.f64 %fd1, [%rd6+16]; "
     "@%p1 ld.local.u32 %r6, [%rd6+20];"},
    {"lanes at one local word, by and by fewer", "local", 4,
     "setp.lt.u32 %p5, %r10, %r1; @%p5 ld.local.u32 %r6, [%rd6+8]; @!%p5 st.local.u32 [%rd6+8], %r2;"},
    {"pairs at one local place", "local", 8,
     "@%p1 ld.local.v2.u32 {%r6, %r7}, [%rd6+8]; @%p2 st.local.v2.u32 [%rd6+8], {%r2, %r3};"},
};

constexpr unsigned kNeighbours = 1;  // as a step

// Computes each lane's offset for turn %r10 and random %r2. Step 0: random places, some of them repeatedly.
// kNeighbours: words up to two from the lane's own, cut to a range at either end of the area, as in a stencil.
// Otherwise `step` bytes after the lane before, and twice that in the middle turns.
std::string places(unsigned step, unsigned area) {
  if (step == kNeighbours)
    return "and.b32 %r3, %r1, 31; rem.u32 %r13, %r10, 5; add.s32 %r3, %r3, %r13; sub.s32 %r3, %r3, 2;\n"
           "and.b32 %r13, %r10, 3; max.s32 %r3, %r3, %r13; sub.s32 %r13, 31, %r13; min.s32 %r3, %r3, %r13;\n"
           "shl.b32 %r3, %r3, 2; and.b32 %r13, %r10, 8; setp.eq.u32 %p4, %r13, 0; @%p4 add.u32 %r3, %r3, " +
           std::to_string(area - 128) + ";\n";
  if (step == 0)
    return "shr.u32 %r3, %r2, 9;\nand.b32 %r13, %r10, 3; setp.eq.u32 %p4, %r13, 0; @%p4 and.b32 %r3, %r3, 31;\n";
  return "shr.u32 %r13, %r10, 4; and.b32 %r13, %r13, 1; shl.b32 %r13, " + std::to_string(step) +
         ", %r13; mul.lo.u32 %r3, %r10, 20; mad.lo.u32 %r3, %r1, %r13, %r3;\n";
}

// The whole kernel: each lane accesses places in an area of `area` bytes.
std::string body_of(const RequestCase& c, unsigned area, unsigned step = 0) {
  const bool shared = std::strcmp(c.space, "shared") == 0, local = std::strcmp(c.space, "local") == 0;
  const bool constant = std::strcmp(c.space, "constant") == 0;
  const std::string base = constant ? "mov.u64 %rd4, table;"
                           : shared ? "mov.u64 %rd4, memory;"
                           : local  ? "mov.u64 %rd4, own;"
                                    : "mov.u64 %rd4, %rd1;";
  const std::string fill = "FILL: add.u64 %rd5, %rd4, %rd9; " +
                           std::string(shared ? "st.shared.u32 [%rd5], %r11;" : "st.local.u32 [%rd5], %r11;") +
                           " mad.lo.u32 %r11, %r11, 747796405, 1; add.u64 %rd9, %rd9, 4; setp.lt.u64 %p3, %rd9, 4096; "
                           "@%p3 bra FILL;\n";
  return ".local .align 16 .b8 own[4096];\n" + base +
         "mov.u64 %rd6, %rd4; mov.u64 %rd9, 0; mov.u32 %r10, 0; mov.u32 %r11, 17; mov.u32 %r6, 0; mov.u32 %r7, 0;\n"
         "mov.u32 %r9, 0; mov.u32 %r12, 0; mad.lo.u32 %r2, %r1, 747796405, 12345;\n" +
         (shared || local ? fill : "") + "TURN: mad.lo.u32 %r2, %r2, 1664525, 1013904223;\n" + places(step, area) +
         "rem.u32 %r3, %r3, " + std::to_string(area) + "; and.b32 %r3, %r3, -" + std::to_string(c.bytes) +
         ";\ncvt.u64.u32 %rd5, %r3; add.u64 %rd5, %rd5, %rd4;\n"
         "and.b32 %r4, %r2, 0x10000; setp.ne.u32 %p1, %r4, 0; and.b32 %r4, %r2, 0x1f0000; setp.eq.u32 %p2, %r4, 0;\n" +
         c.access +
         "\nxor.b32 %r12, %r12, %r6; mad.lo.u32 %r12, %r12, 31, 7; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, " +
         std::to_string(kTurns) +
         ";\n@%p3 bra TURN;\nmul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+32768], %r12;\n";
}

struct RequestOutcome {
  std::vector<events::SiteCounts> sites;
  std::vector<std::uint32_t> memory;
};

RequestOutcome run_body(const std::string& body, unsigned threads, const std::string& cpu, PlainCounts* observer) {
  Kernel kernel(body, 1, observer, ".const .align 16 .u32 table[1024] = {3, 1, 4, 1, 5, 9, 2, 6};\n", cpu);
  constexpr std::size_t kWords = Kernel::kBytes / 4;
  for (std::uint32_t w = 0; w < kWords; ++w) kernel.data[w] = w * 2654435761u;
  const LaunchResult result = kernel.run(threads);
  return {result.counts.sites, {kernel.data, kernel.data + kWords}};
}

class LaneRequests : public testing::TestWithParam<const char*> {};

void expect_plain(const std::string& body, unsigned threads, const char* cpu) {
  PlainCounts plain;
  const RequestOutcome seen = run_body(body, threads, cpu, &plain);
  const RequestOutcome alone = run_body(body, threads, cpu, nullptr);
  EXPECT_EQ(alone.memory, seen.memory);
  ASSERT_EQ(alone.sites.size(), seen.sites.size());
  for (std::uint32_t s = 0; s < alone.sites.size(); ++s) {
    expect_same(seen.sites[s], plain.sites[s], "seen, site " + std::to_string(s));
    expect_same(alone.sites[s], plain.sites[s], "alone, site " + std::to_string(s));
  }
}

void expect_plain(const RequestCase& c, unsigned area, unsigned step, const char* cpu, unsigned threads = 64) {
  SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(area) + " bytes, in steps of " + std::to_string(step));
  expect_plain(body_of(c, area, step), threads, cpu);
}

TEST_P(LaneRequests, AreCountedByThePlainRules) {
  for (const RequestCase& c : kRequestCases)
    for (const unsigned area : {4096u, 128u}) expect_plain(c, area, 0, GetParam());
}

// Lanes side by side, with gaps, in reverse, or all at one place. With 260 bytes the sequence wraps somewhere among the
// lanes.
TEST_P(LaneRequests, InStepsTheSame) {
  constexpr unsigned kLarge = 4096, kSmall = 260;
  for (const RequestCase& c : kRequestCases) {
    for (const unsigned step : {c.bytes, 3 * c.bytes}) expect_plain(c, kLarge, step, GetParam());
    expect_plain(c, kSmall, c.bytes, GetParam());
    if (c.bytes != 4) continue;
    expect_plain(c, kLarge, 0 - c.bytes, GetParam());
    expect_plain(c, kSmall, kSmall, GetParam());
  }
}

// Neighbours in memory up to the end of an allocation, of the shared memory, and of a table.
TEST_P(LaneRequests, OfNeighboursTheSame) {
  for (const RequestCase& c : kRequestCases) {
    if (std::strcmp(c.space, "local") == 0) continue;
    const bool whole = std::strcmp(c.space, "global") == 0 && c.bytes == 4;
    expect_plain(c, whole ? Kernel::kBytes : 4096, kNeighbours, GetParam());
  }
}

// Machine code of blocks of at most 16 threads has vectors of 16 lanes.
TEST_P(LaneRequests, OfHalfAWarpTheSame) {
  unsigned threads = 11;
  for (const RequestCase& c : kRequestCases) {
    threads = threads == 11 ? 16 : 11;
    expect_plain(c, 4096, 0, GetParam(), threads);
    expect_plain(c, 4096, std::strcmp(c.space, "local") == 0 ? c.bytes : kNeighbours, GetParam(), threads);
  }
}

// Lanes on a diagonal of a matrix, more of them in each turn, in warps of which some lanes do not exist. Those that are
// off lie outside the matrix. Registers hold negative distances from the offsets.
std::string diagonal(const std::string& space, const std::string& step) {
  const bool shared = space == "shared";
  const std::string row = shared
                              ? "mov.u32 %r4, memory; mad.lo.s32 %r3, %r1, " + step + ", %r4; add.u32 %r3, %r3, -3000;"
                              : "mul.wide.s32 %rd4, %r1, " + step + "; add.u64 %rd4, %rd4, %rd1;";
  const std::string at = shared ? "[%r3+4016]" : "[%rd4+1016]", next = shared ? "[%r3+4020]" : "[%rd4+1020]";
  return row + "\nmov.u32 %r10, 0; mov.u32 %r12, 0; mad.lo.u32 %r2, %r1, 747796405, 12345;\n" +
         (shared ? "mov.u32 %r5, memory; mad.lo.u32 %r5, %r1, 4, %r5;\n"
                   "FILL: st.shared.u32 [%r5], %r10; add.u32 %r5, %r5, 64; add.u32 %r10, %r10, 1;\n"
                   "setp.lt.u32 %p3, %r10, 60; @%p3 bra FILL; mov.u32 %r10, 0; bar.sync 0;\n"
                 : "") +
         "TURN: setp.le.u32 %p1, %r1, %r10;\n@!%p1 bra LATER;\nld." + space + ".u32 %r6, " + at + "; ld." + space +
         ".u32 %r7, " + next + ";\nxor.b32 %r12, %r12, %r6; mad.lo.u32 %r12, %r12, 31, %r7;\nst." + space + ".u32 " +
         at +
         ", %r12;\nLATER: bar.sync 0; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 45;\n@%p3 bra TURN;\n"
         "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+32768], %r12;\n";
}

TEST_P(LaneRequests, OnADiagonalTheSame) {
  for (const char* const space : {"shared", "global"})
    for (const char* const step : {"-60", "-64", "68", "-4", "4"})
      for (const unsigned threads : {1u, 13u, 16u}) {
        SCOPED_TRACE(std::string(space) + ", in steps of " + step + ", " + std::to_string(threads) + " threads");
        expect_plain(diagonal(space, step), threads, GetParam());
      }
}

// The first lanes of a block lie before its shared memory, at addresses below 0, and are off.
TEST_P(LaneRequests, BehindLanesBelowZeroTheSame) {
  for (const bool varying : {false, true}) {
    SCOPED_TRACE(varying ? "varying" : "affine");
    expect_plain(
        "mov.u32 %r12, 0; mov.u32 %r9, 0;\n" +
            std::string(varying ? "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r9, [%rd2];\n"
                                  "and.b32 %r9, %r9, 0; rem.u32 %r9, %r9, 3;\n"
                                : "") +
            "mov.u32 %r4, memory; mad.lo.u32 %r4, %r1, 4, %r4; st.shared.u32 [%r4], %r1; bar.sync 0;\n"
            "mov.u32 %r10, 1; TURN: sub.u32 %r3, %r1, %r10; add.u32 %r3, %r3, %r9; shl.b32 %r3, %r3, 2;\n"
            "mov.u32 %r5, memory; add.u32 %r3, %r3, %r5; setp.ge.u32 %p1, %r1, %r10;\n"
            "@%p1 ld.shared.u32 %r6, [%r3];\n@%p1 mad.lo.u32 %r12, %r12, 31, %r6;\nbar.sync 0;\n"
            "@%p1 st.shared.u32 [%r3], %r12;\nbar.sync 0;\n"
            "add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 45;\n@%p3 bra TURN;\n"
            "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+32768], %r12;\n",
        64, GetParam());
  }
}

// Many good requests, then one with a bad lane.
TEST_P(LaneRequests, FaultsNameLaneAndAddress) {
  const RequestCase last_turn{"", "global", 4,
                              "setp.eq.u32 %p5, %r10, 40; setp.eq.and.u32 %p5, %r1, 45, %p5; @%p5 add.u64 %rd5, %rd5, "
                              "0x100000000; ld.global.u32 %r6, [%rd5];"};
  Kernel kernel(body_of(last_turn, 128), 1, nullptr, "", GetParam());
  const LaunchResult result = kernel.try_run(64);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->thread.x, 45u);
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(kernel.data) + 0x100000000;
  EXPECT_GE(result.fault->address, begin);
  EXPECT_LT(result.fault->address, begin + 128);
}

TEST_P(LaneRequests, MisalignedLanesAreFaults) {
  const RequestCase last_turn{
      "", "shared", 4,
      "setp.eq.u32 %p5, %r10, 40; setp.eq.and.u32 %p5, %r1, 7, %p5; @%p5 add.u64 %rd5, %rd5, 2; "
      "st.shared.u32 [%rd5], %r6;"};
  Kernel kernel(body_of(last_turn, 128), 1, nullptr, "", GetParam());
  const LaunchResult result = kernel.try_run(64);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::misaligned_address);
  EXPECT_EQ(result.fault->thread.x, 7u);
}

std::vector<const char*> cpus() {
  if (kSanitized) return {""};  // no sanitizer sees the machine code, which alone differs
  return {"", "x86-64-v3"};
}

INSTANTIATE_TEST_SUITE_P(Cpus, LaneRequests, testing::ValuesIn(cpus()),
                         [](const auto& cpu) { return cpu.param[0] == 0 ? "host" : "avx2"; });

}  // namespace
}  // namespace warpgrind::device
