// Cost of single PTX instructions as machine code. The expected numbers are what ptxas 13.0 makes of the instruction
// for sm_90, with operands in registers: moves of operands and results not counted.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "gpu/gpu_model.h"
#include "ptx/opcode.h"
#include "ptx/parser.h"
#include "sass/classify.h"

namespace warpgrind::sass {
namespace {

// A row of the table of opcodes that omits the column does not compile.
static_assert(!std::is_default_constructible_v<ptx::Required<ptx::CostRule>>);

Instruction of(const std::string& text) {
  const auto parsed = ptx::parse(
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b16 %h<4>; .reg .b32 %r<8>; .reg "
      ".b64 %rd<8>;\n"
      ".reg .pred %p<4>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .shared .b64 bar;\n" +
          text + "\nret;\n}\n",
      "test.ptx");
  EXPECT_TRUE(parsed.ok()) << text << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  if (!parsed.ok()) return {};
  return classify((*parsed)->functions[0].body[0], **find_gpu_model("h200"));
}

struct Expected {
  const char* text;
  Pipe pipe;
  float instructions;
};

TEST(Classify, NumberOfMachineInstructions) {
  const Expected all[] = {
      {"prmt.b32 %r0, %r1, %r2, %r3;", Pipe::alu, 1},
      {"lop3.b32 %r0, %r1, %r2, %r3, 5;", Pipe::alu, 1},
      {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", Pipe::alu, 1},
      {"copysign.f64 %fd0, %fd1, %fd2;", Pipe::alu, 1},
      {"cnot.b64 %rd0, %rd1;", Pipe::alu, 3},
      {"testp.finite.f32 %p0, %f1;", Pipe::alu, 2},
      {"cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;", Pipe::alu, 1},
      // HADD2.F32, a shift, F2FP: none of them is the special function unit's.
      {"cvt.f32.f16 %f0, %h1;", Pipe::half, 1},
      {"cvt.f32.bf16 %f0, %h1;", Pipe::alu, 1},
      {"cvt.rn.f16.f32 %h0, %f1;", Pipe::alu, 1},
      {"cvt.rn.bf16.f32 %h0, %f1;", Pipe::alu, 1},
      {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", Pipe::imad, 1},
      {"mul24.lo.s32 %r0, %r1, %r2;", Pipe::imad, 3},
      {"sad.u32 %r0, %r1, %r2, %r3;", Pipe::alu, 1},
      {"bfe.u32 %r0, %r1, 4, 8;", Pipe::alu, 2},
      {"bfe.s64 %rd0, %rd1, %r2, %r3;", Pipe::alu, 15},
      {"bfi.b32 %r0, %r1, %r2, 4, 8;", Pipe::alu, 3},
      {"popc.b32 %r0, %r1;", Pipe::xu, 1},
      {"popc.b64 %r0, %rd1;", Pipe::xu, 3},
      {"activemask.b32 %r0;", Pipe::alu, 1},  // VOTE
      {"bar.warp.sync 0xffffffff;", Pipe::control, 1},
      {"cp.async.commit_group;", Pipe::control, 1},
      {"fence.proxy.async;", Pipe::fence, 2},
      {"mbarrier.init.shared.b64 [bar], 32;", Pipe::shared, 5},
      {"discard.global.L2 [%rd0], 128;", Pipe::global, 1},
      {"vadd.u32.u32.u32 %r0, %r1, %r2;", Pipe::alu, 3},
      {"vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3;", Pipe::alu, 33},
  };
  for (const Expected& e : all) {
    const Instruction i = of(e.text);
    EXPECT_EQ(i.pipe, e.pipe) << e.text << ' ' << name(i.pipe);
    EXPECT_EQ(i.issue, e.instructions) << e.text;
  }
}

}  // namespace
}  // namespace warpgrind::sass
