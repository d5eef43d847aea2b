// Groups of accesses whose leader's check covers the others (codegen/kernel/access_groups.h): counts, memory and faults
// must equal those of separate accesses.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "plain_counts.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

struct Case {
  const char* name;
  // Accesses by %rd5: 512 to 2048 bytes into the data, 12 bytes further each turn, 4 bytes a thread. %r5: the same in
  // shared memory, whose last byte is that of the last thread and turn + 3332. %p1: some lanes. %r6: the result.
  const char* body;
  std::uint32_t followers;
};

const Case kCases[] = {
    {"loads along a row",
     "ld.global.u32 %r6, [%rd5-4]; ld.global.u32 %r7, [%rd5+4]; ld.global.u32 %r8, [%rd5+256]; "
     "add.u32 %r6, %r6, %r7; xor.b32 %r6, %r6, %r8;",
     2},
    {"the later lies lower", "ld.global.u32 %r6, [%rd5+512]; ld.global.u32 %r7, [%rd5-512]; add.u32 %r6, %r6, %r7;", 1},
    {"a tile in shared memory",
     "ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+68]; ld.shared.u32 %r8, [%r5+136]; ld.shared.u32 %r9, "
     "[%r5+204]; add.u32 %r6, %r6, %r7; add.u32 %r8, %r8, %r9; xor.b32 %r6, %r6, %r8;",
     3},
    {"up to the last byte", "ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+3332]; add.u32 %r6, %r6, %r7;", 1},
    {"a negative distance in 32 bits",
     "ld.shared.u32 %r6, [%r5+4]; ld.shared.u32 %r7, [%r5-256]; add.u32 %r6, %r6, %r7;", 1},
    {"stores",
     "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+1024], %r10; ld.shared.u32 %r6, [%r5+1024]; "
     "st.global.u32 [%rd5+4096], %r6; st.global.u32 [%rd5+8192], %r2;",
     2},
    {"two registers in turn",
     "ld.shared.u32 %r6, [%r5]; ld.global.u32 %r7, [%rd5]; ld.shared.u32 %r8, [%r5+4]; ld.global.u32 %r9, [%rd5+4]; "
     "add.u32 %r6, %r6, %r7; add.u32 %r8, %r8, %r9; xor.b32 %r6, %r6, %r8;",
     2},
    {"a register that goes on",
     "ld.shared.u32 %r6, [%r5]; add.u32 %r5, %r5, 4; ld.shared.u32 %r7, [%r5+4]; ld.shared.u32 %r8, "
     "[%r5+8]; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8; sub.u32 %r5, %r5, 4;",
     1},
    {"over its own address",
     "mov.u32 %r9, %r5; ld.shared.u32 %r9, [%r9]; and.b32 %r9, %r9, 60; ld.shared.u32 %r6, [%r9+4];", 0},
    {"some lanes, by a branch",
     "@%p1 bra OVER; ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+4]; add.u32 %r6, %r6, %r7; OVER:", 1},
    {"one with a guard between",
     "ld.shared.u32 %r6, [%r5]; @%p1 ld.shared.u32 %r7, [%r5+4]; ld.shared.u32 %r8, [%r5+8]; add.u32 %r6, %r6, %r8;",
     1},
    {"a barrier between", "ld.shared.u32 %r6, [%r5]; bar.sync 0; ld.shared.u32 %r7, [%r5+4]; add.u32 %r6, %r6, %r7;",
     0},
    {"an atomic between",
     "ld.global.u32 %r6, [%rd5]; red.global.add.u32 [%rd1], 1; ld.global.u32 %r7, [%rd5+4]; "
     "add.u32 %r6, %r6, %r7;",
     0},
    {"other sizes",
     "ld.global.u32 %r6, [%rd5]; ld.global.u8 %r7, [%rd5+4]; ld.global.u8 %r8, [%rd5+7]; add.u32 %r6, %r6, %r7;", 1},
    {"for all lanes at one place",
     "mov.u32 %r9, memory; add.u32 %r9, %r9, %r10; and.b32 %r9, %r9, -4; ld.shared.u32 %r6, [%r9]; "
     "ld.shared.u32 %r7, [%r9+64]; ld.shared.u32 %r8, [%r9+128]; add.u32 %r6, %r6, %r8;",
     2},
    {"volatile", "ld.volatile.shared.u32 %r6, [%r5]; ld.volatile.shared.u32 %r7, [%r5+4]; add.u32 %r6, %r6, %r7;", 1}};

std::string body_of(const Case& c) {
  return R"(
    mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
    mov.u32 %r10, 0; mov.u32 %r12, 0; mov.u32 %r6, 0; mov.u32 %r4, memory; mad.lo.u32 %r5, %r1, 4, %r4;
    FILL: st.shared.u32 [%r4], %r12; mad.lo.u32 %r12, %r12, 747796405, 77; add.u32 %r10, %r10, 4; add.u32 %r4, %r4, 4;
    setp.lt.u32 %p3, %r10, 4096; @%p3 bra FILL;
    bar.sync 0;
    add.u32 %r5, %r5, 256; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd5, %rd1, %rd2; add.u64 %rd5, %rd5, 512;
    mov.u32 %r10, 0; mov.u32 %r12, 0; and.b32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 4;
    TURN:)" +
         std::string(c.body) +
         R"(
    mad.lo.u32 %r12, %r12, 31, %r6; add.u64 %rd5, %rd5, 12; add.u32 %r5, %r5, 4; add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, 64; @%p3 bra TURN;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+32768], %r12;)";
}

struct Outcome {
  std::vector<events::SiteCounts> sites;
  std::vector<std::uint32_t> memory;
  std::uint32_t followers = 0;
};

Outcome run_case(const Case& c, Dim3 block, const std::string& cpu, PlainCounts* observer) {
  Kernel kernel(body_of(c), 1, observer, "", cpu);
  constexpr std::size_t kWords = Kernel::kBytes / 4;
  for (std::uint32_t w = 0; w < kWords; ++w) kernel.data[w] = w * 2654435761u;
  LaunchConfig config;
  config.block = block;
  const LaunchResult result = kernel.try_run(config);
  EXPECT_FALSE(result.fault) << result.fault->message;
  if (result.fault) return {};
  Outcome out{result.counts.sites, {kernel.data, kernel.data + kWords}};
  for (const events::Site& s : result.kernel->facts().sites) out.followers += s.leader != events::Site::kAlone;
  return out;
}

class AccessGroups : public testing::TestWithParam<const char*> {};

TEST_P(AccessGroups, AreCountedAsEachByItself) {
  for (const Case& c : kCases)
    for (const Dim3 block : {Dim3{16, 4, 1}, Dim3{24, 2, 1}, Dim3{40, 1, 1}}) {
      SCOPED_TRACE(std::string(c.name) + ", block " + std::to_string(block.x) + " x " + std::to_string(block.y));
      PlainCounts plain;
      const Outcome seen = run_case(c, block, GetParam(), &plain);
      const Outcome alone = run_case(c, block, GetParam(), nullptr);
      EXPECT_EQ(alone.memory, seen.memory);
      EXPECT_EQ(seen.followers, 0u);  // an observer of all accesses sees each one separately
      EXPECT_EQ(alone.followers, block.x == 24 ? alone.followers : c.followers);
      ASSERT_EQ(alone.sites.size(), seen.sites.size());
      for (std::uint32_t s = 0; s < alone.sites.size(); ++s)
        expect_same(alone.sites[s], plain.sites[s], "site " + std::to_string(s));
    }
}

std::optional<Fault> fault_of(const char* body, const std::string& cpu) {
  Kernel kernel(body_of({"", body, 1}), 1, nullptr, "", cpu);
  return kernel.try_run(32).fault;
}

// The follower faults after many good accesses, while its leader is still good.
TEST_P(AccessGroups, AFollowerOutsideIsItsOwnFault) {
  const auto fault = fault_of(
      "mov.u32 %r9, %r5; setp.eq.u32 %p5, %r10, 60; @%p5 add.u32 %r9, %r9, 3072; ld.shared.u32 %r6, [%r9]; "
      "ld.shared.u32 %r7, [%r9+512];",
      GetParam());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::shared_out_of_bounds);
  EXPECT_NE(fault->ptx_text.find("%r7"), std::string::npos) << fault->ptx_text;
}

TEST_P(AccessGroups, AMisalignedLeaderIsAFault) {
  const auto fault = fault_of(
      "setp.eq.u32 %p5, %r10, 60; @%p5 add.u32 %r5, %r5, 2; ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+512];",
      GetParam());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::misaligned_address);
}

INSTANTIATE_TEST_SUITE_P(Cpus, AccessGroups, testing::Values("", "x86-64-v3"),
                         [](const auto& cpu) { return cpu.param[0] == 0 ? "host" : "avx2"; });

}  // namespace
}  // namespace warpgrind::device
