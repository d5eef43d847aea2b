// The opcode table: its rows are consistent, and docs/opcodes.md is generated from it. WARPGRIND_REBASE=1 rewrites the
// document.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "opcode_evidence.h"
#include "ptx/architecture.h"
#include "ptx/opcode.h"
#include "ptx/parser.h"
#include "ptx/syntax.h"
#include "read_file.h"

namespace warpgrind::ptx {
namespace {

Opcode opcode(unsigned index) {
  return static_cast<Opcode>(index);
}

TEST(PtxOpcodes, NamesAreUniqueAndFound) {
  std::set<std::string_view> seen;
  for (unsigned k = 0; k < kOpcodes; ++k) {
    EXPECT_TRUE(seen.insert(name(opcode(k))).second) << name(opcode(k));
    EXPECT_EQ(opcode_from_text(name(opcode(k))), opcode(k));
    EXPECT_FALSE(info(opcode(k)).description.empty());
  }
  seen.clear();
  for (unsigned k = 0; k < kModifiers; ++k) {
    const auto m = static_cast<Modifier>(k);
    EXPECT_TRUE(seen.insert(name(m)).second) << name(m);
    EXPECT_EQ(modifier_from_text(name(m)), m);
  }
}

TEST(PtxOpcodes, SyntaxLinesStartWithTheOpcode) {
  for (unsigned k = 0; k < kOpcodes; ++k) {
    const OpcodeInfo& facts = info(opcode(k));
    EXPECT_TRUE(facts.syntax.starts_with(facts.text)) << facts.text;
  }
}

TEST(PtxOpcodes, ArityIsReadFromTheSyntax) {
  const auto is = [](Opcode o, unsigned least, unsigned most, bool address) {
    EXPECT_EQ(arity(o).minimum, least) << name(o);
    EXPECT_EQ(arity(o).maximum, most) << name(o);
    EXPECT_EQ(arity(o).address, address) << name(o);
  };
  is(Opcode::add, 3, 3, false);
  is(Opcode::setp, 3, 5, false);
  is(Opcode::ld, 2, 3, true);
  is(Opcode::st, 2, 3, true);
  is(Opcode::shfl, 4, 6, false);
  is(Opcode::bar, 1, 4, false);
  is(Opcode::ret, 0, 0, false);
  is(Opcode::bra, 1, 1, false);
  is(Opcode::elect, 3, 3, false);
  is(Opcode::mbarrier_arrive, 2, 3, true);
  is(Opcode::fence_proxy, 0, 2, false);
  EXPECT_EQ(arity(Opcode::cvt).minimum_types, 2);
  EXPECT_EQ(arity(Opcode::bar).minimum_types, 0);
}

// The manual's Target ISA Notes, for forms whose opcode older GPUs have.
TEST(PtxOpcodes, FormsNeedArchitectures) {
  const std::pair<const char*, unsigned> forms[] = {
      {"add.s32 %r0, %r1, %r2;", 0},
      {"cvta.to.global.u64 %d0, %d1;", 0},
      {"ld.global.nc.b32 %r0, [%d0];", 0},
      {"shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;", 30},
      {"atom.global.max.u64 %d0, [%d1], %d2;", 32},
      {"lop3.b32 %r0, %r1, %r2, %r3, 5;", 50},
      {"add.f16x2 %r0, %r1, %r2;", 53},
      {"ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [%d0];", 100},
      {"st.global.v4.f64 [%d0], {%e0, _, _, %e1};", 100},
      {"st.global.v8.b32 [%d0], {%r0, _, %r1, %r2, %r3, %r4, %r5, %r6};", 100},
      {"atom.global.add.u32 %r0, [%d0], %r1;", 0},
      {"atom.global.add.f64 %e0, [%d0], %e1;", 60},
      {"atom.global.sys.add.u32 %r0, [%d0], %r1;", 60},
      {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", 61},
      {"ld.acquire.gpu.global.b32 %r0, [%d0];", 70},
      {"fence.acq_rel.gpu;", 70},
      {"atom.global.cas.b16 %h0, [%d0], %h1, %h2;", 70},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r2}, {%f0,%f1,%f2,%f3};", 75},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
       "{%f0,%f1,%f2,%f3};",
       80},
      {"redux.sync.add.s32 %r0, %r1, -1;", 80},
      {"cp.async.wait_all;", 80},
      {"fma.rn.bf16x2 %r0, %r1, %r2, %r3;", 80},
      {"min.f16x2 %r0, %r1, %r2;", 80},
      {"min.xorsign.abs.f32 %f0, %f1, %f2;", 86},
      {"add.bf16x2 %r0, %r1, %r2;", 90},
      {"fence.acq_rel.cluster;", 90},
      {"mov.u32 %r0, %cluster_ctarank;", 90},
      {"mapa.u64 %d0, %d1, %r0;", 90},
      {"mbarrier.arrive.expect_tx.shared.b64 %d0, [%r0], 16;", 90},
      {"mbarrier.arrive.shared.b64 %d0, [%r0];", 80},
      {"mbarrier.arrive.shared.b64 %d0, [%r0], 3;", 90},
      {"mbarrier.arrive.noComplete.shared.b64 %d0, [%r0], 3;", 80},
      {"mbarrier.test_wait.acquire.cta.shared::cta.b64 %p0, [%r0], %d0;", 80},
      {"mbarrier.test_wait.acquire.cluster.shared::cta.b64 %p0, [%r0], %d0;", 90},
      {"min.f32 %f0, %f1, %f2, %f3;", 100},
      {"max.NaN.f32 %f0, %f1, %f2;", 80},
      {"fence.proxy.alias;", 70},
      {"fence.proxy.async;", 90},
      {"cvt.rn.f16.f32 %h0, %f0;", 0},
      {"cvt.rn.f16x2.f32 %r0, %f0, %f1;", 80},
      {"cvt.f32.bf16 %f0, %h0;", 80},
      {"cvt.ftz.f32.bf16 %f0, %h0;", 90},
      {"cvt.rn.bf16.s32 %h0, %r0;", 90},
      {"cvt.rna.tf32.f32 %r0, %f0;", 80},
      {"cvt.rn.tf32.f32 %r0, %f0;", 90},
      {"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, "
       "%f2, %f3}, %r4, 0;",
       80},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
       "%r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r4, 0;",
       89},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, "
       "{%r4, %r5}, {%f0, %f1, %f2, %f3};",
       120},
  };
  for (const auto& [text, needed] : forms) {
    const auto module = parse(std::string(".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() {\n"
                                          ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<4>; "
                                          ".reg .f64 %e<4>; .reg .pred %p<2>;\n") +
                                  text + "\nret;\n}\n",
                              "form");
    ASSERT_TRUE(module.ok()) << text << ": " << module.error().message;
    const Function& function = (*module)->functions.at(0);
    ASSERT_EQ(function.body.size(), 2u) << text << (function.unknown.empty() ? "" : ": " + function.unknown[0].why);
    EXPECT_EQ(needed_architecture(function.body[0]), needed) << text;
  }
}

// ptxas 13.0 takes wgmma for sm_90a alone, tcgen05 for sm_100a, sm_103a and sm_110a, and setmaxnreg for all of these
// and sm_120a and sm_121a.
TEST(PtxOpcodes, LastArchitectureOfAGeneration) {
  const struct {
    const char* text;
    unsigned last;
  } instructions[] = {{"wgmma.fence.sync.aligned;", 90},
                      {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", 110},
                      {"setmaxnreg.inc.sync.aligned.u32 128;", 0},
                      {"cp.async.wait_all;", 0}};
  for (const auto& [text, last] : instructions) {
    const auto module = parse(
        std::string(".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n") + text + "\nret;\n}\n",
        "form");
    ASSERT_TRUE(module.ok()) << text << ": " << module.error().message;
    ASSERT_EQ((*module)->functions.at(0).body.size(), 2u) << text;
    EXPECT_EQ(last_architecture((*module)->functions[0].body[0]), last) << text;
  }
}

std::string document() {
  std::string out =
      "# PTX opcodes\n\nMade from `src/frontend/ptx/opcodes.inc` by the test `ptx_opcodes`; do not edit. All of them "
      "are parsed. One that does not run says why, and `warpgrind scan` says which of those a program uses.\n\n"
      "- `needs`: the first compute capability that has the opcode (a form of it may need a later one); none: 2.0 or "
      "before.\n"
      "- `held by`: where the expected results come from (a recording of an H200, values from the manual, plain loops "
      "on "
      "the host), and the files in `tests` that execute the opcode. `tests/unit/opcode_evidence.h` finds them.\n\n"
      "| opcode | since PTX | needs | class | what it does | "
      "syntax | refused | held by |\n|---|---|---|---|---|---|---|---|\n";
  OpcodeEvidence evidence = find_evidence(WARPGRIND_TESTS);
  for (unsigned k = 0; k < kOpcodes; ++k) {
    const OpcodeInfo& facts = info(opcode(k));
    std::string syntax;
    for (char c : facts.syntax) syntax += c == '|' ? std::string("\\|") : std::string(1, c);
    const unsigned a = facts.architecture;
    out +=
        fmt::format("| `{}` | {}.{} | {} | {} | {} | `{}` | {} | {} |\n", facts.text, facts.since.major,
                    facts.since.minor, a ? fmt::format("{}.{}", a / 10, a % 10) : "", warpgrind::name(facts.op_class),
                    facts.description, syntax, facts.refused, evidence_text(evidence[opcode(k)]));
  }
  return out;
}

// Each opcode that runs has a test that compares its result, and one that is refused has none.
TEST(PtxOpcodes, EveryOpcodeIsHeldByATest) {
  OpcodeEvidence evidence = find_evidence(WARPGRIND_TESTS);
  for (unsigned k = 0; k < kOpcodes; ++k)
    EXPECT_EQ(evidence[opcode(k)].empty(), !info(opcode(k)).refused.empty()) << name(opcode(k));
}

TEST(PtxOpcodes, FormsAreFoundInText) {
  const auto found = [](std::string_view text) {
    std::set<Opcode> opcodes;
    read_forms(text, opcodes);
    return opcodes;
  };
  EXPECT_EQ(found("{\n@%p0 add.u32 %r0, %r1, %r2;\nret;\n}"), (std::set{Opcode::add, Opcode::ret}));
  EXPECT_EQ(found("\"cp.async.bulk.tensor.2d\" + way"), std::set{Opcode::cp_async_bulk_tensor});
  EXPECT_EQ(found("set.insert(x); and so it must not.happen"), std::set<Opcode>{});
  EXPECT_EQ(found("mov.u32 %r0, %add.u32;"), std::set{Opcode::mov});
}

TEST(PtxOpcodes, DocumentIsUpToDate) {
  const auto path = std::filesystem::path(WARPGRIND_TESTS).parent_path() / "docs" / "opcodes.md";
  if (std::getenv("WARPGRIND_REBASE")) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << document();
    return;
  }
  EXPECT_EQ(read_file(path), document()) << "WARPGRIND_REBASE=1 rewrites docs/opcodes.md";
}

// PTX ISA: membar is fence.sc, atom and red are relaxed, arrivals release and waits acquire. What only traps is no
// barrier.
TEST(PtxOpcodes, EffectsAndOrders) {
  EXPECT_EQ(info(Opcode::membar).order, ImpliedOrder::sequential);
  EXPECT_EQ(info(Opcode::fence).order, ImpliedOrder::acquire_release);
  EXPECT_EQ(info(Opcode::red).order, ImpliedOrder::relaxed);
  EXPECT_EQ(info(Opcode::mbarrier_arrive).order, ImpliedOrder::release);
  EXPECT_EQ(info(Opcode::mbarrier_try_wait).order, ImpliedOrder::acquire);
  EXPECT_EQ(info(Opcode::ld).order, ImpliedOrder::weak);
  EXPECT_EQ(info(Opcode::barrier).site, SiteKind::barrier);
  EXPECT_EQ(info(Opcode::trap).site, SiteKind::other);
  for (const Opcode ends : {Opcode::bra, Opcode::brx_idx, Opcode::ret, Opcode::exit, Opcode::trap})
    EXPECT_TRUE(info(ends).has(Effects::ends_block));
  EXPECT_FALSE(info(Opcode::call).has(Effects::ends_block));
  EXPECT_TRUE(info(Opcode::atom).has(Effects::reads) && info(Opcode::atom).has(Effects::writes));
  EXPECT_FALSE(info(Opcode::ld).has(Effects::writes | Effects::updates));
  EXPECT_FALSE(info(Opcode::add).has(Effects::reads | Effects::writes | Effects::convergent | Effects::may_trap));
}

}  // namespace
}  // namespace warpgrind::ptx
