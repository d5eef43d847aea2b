// Which instructions write and read variables that nvcc -G keeps in registers (tests/debuginfo). Read off the PTX by
// hand.
#include "debugger/positions.h"
#include "debugger/register_uses.h"
#include "debuginfo_fixture.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

const Variable* variable_in(const Scope& scope, const std::string& name) {
  for (const Variable& v : scope.variables)
    if (v.name == name) return &v;
  for (const Scope& inner : scope.inner)
    if (const Variable* found = variable_in(inner, name)) return found;
  return nullptr;
}

// "add.s32 %r4, mov.b32 %r2": the instructions' opcodes and the registers with the value.
std::string text_of(const std::vector<debugger::RegisterUse>& uses, const ptx::Function& function) {
  std::string out;
  for (const debugger::RegisterUse& use : uses)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", ptx::name(function.body[use.instruction].opcode),
                       function.registers[use.reg].name);
  return out;
}

class DebuggerRegisters : public ::testing::Test {
 protected:
  // Writes, and behind a bar the reads.
  std::string uses(const std::string& file, const std::string& function, const std::string& variable) {
    const DebugInfo info(debuginfo_module(file));
    for (std::uint32_t f = 0; f < info.module().functions.size(); ++f) {
      const ptx::Function& one = info.module().functions[f];
      if (one.name.find(function) == std::string::npos || !one.has_body) continue;
      const Variable* v = variable_in(info.function(f), variable);
      if (!v) return "no variable";
      const debugger::RegisterUses found = debugger::uses_of_variable(one, *v);
      return text_of(found.writes, one) + " | " + text_of(found.reads, one);
    }
    return "no function";
  }
};

// A loop moves its variables between registers; that is no write, and no read.
TEST_F(DebuggerRegisters, OfALoop) {
  // Behind the loop, where `sum` is read once more, the debug information has no place of it.
  EXPECT_EQ(uses("inlined_nvcc.ptx", "inlined", "j"), "mov %r2, add %r4 | setp %r3, cvt %r3, add %r3");
  EXPECT_EQ(uses("inlined_nvcc.ptx", "inlined", "sum"), "mov %f1, add %f3 | add %f2");
  EXPECT_EQ(uses("shapes_nvcc.ptx", "3sum", "k"), "mov %r1, add %r3 | setp %r2, st %r2, add %r2");
}

TEST_F(DebuggerRegisters, WithOneWriter) {
  EXPECT_EQ(uses("inlined_nvcc.ptx", "inlined", "i"), "mov %r1 | cvt %r1, mov %r1, cvt %r1");
  EXPECT_EQ(uses("shapes_nvcc.ptx", "3sum", "scale"), "ld %r4 | cvt %r4");
  // The two ways of `n > 3 ? plus : minus` meet in one register, which is copied into the variable.
  EXPECT_EQ(uses("shapes_nvcc.ptx", "6shapes", "sign"), "mov %r2 | cvt %r2");
}

TEST_F(DebuggerRegisters, InMemory) {
  EXPECT_EQ(uses("inlined_nvcc.ptx", "inlined", "scaler"), " | ");
}

TEST_F(DebuggerRegisters, LanesAsText) {
  EXPECT_EQ(debugger::lanes_text(0), "none");
  EXPECT_EQ(debugger::lanes_text(kFullMask), "0-31");
  EXPECT_EQ(debugger::lanes_text(0x8000'008b), "0, 1, 3, 7, 31");
  EXPECT_EQ(debugger::lanes_named(8), "lane 3");
}

}  // namespace
