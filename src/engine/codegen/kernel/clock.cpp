// Estimated time of a warp: one constant cost per instruction.
#include "codegen/kernel/clock.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool is_clock(ptx::SpecialRegister s) {
  using S = ptx::SpecialRegister;
  switch (s) {
    case S::clock:
    case S::clock_hi:
    case S::clock64:
    case S::globaltimer:
    case S::globaltimer_lo:
    case S::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

bool reads_clock(const ptx::Instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(),
                     [](const Operand& o) { return o.kind == OperandKind::sreg && is_clock(o.sreg); });
}

// Cost in units of WarpContext::issue_cycles, 4 on an H200. There a load takes 23 cycles from shared memory and 42 to
// 55 from L1 (pointer chases).
std::uint32_t issue_slots(const ptx::Instruction& i) {
  constexpr std::uint32_t kShared = 6, kOther = 11;
  if (!ptx::info(i.opcode).has(ptx::Effects::reads)) return 1;
  return i.space == StateSpace::shared ? kShared : i.space == StateSpace::param ? 1 : kOther;
}

}  // namespace

bool reads_clock(const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(),
                     [](const ptx::Instruction& i) { return reads_clock(i); });
}

void Clock::pass(const ptx::Instruction& i) {
  if (!f_.unit.keeps_time) return;
  slots_ += issue_slots(i);
  if (ptx::info(i.opcode).has(ptx::Effects::convergent) || i.opcode == Opcode::call || i.opcode == Opcode::nanosleep ||
      reads_clock(i))
    write_down();
}

void Clock::write_down() {
  if (slots_ == 0) return;
  WG_ASSERT(f_.unit.keeps_time);
  Value* each = f_.context_field(offsetof(WarpContext, issue_cycles), ir_.getInt32Ty(), "issue_cycles");
  Value* passed = ir_.CreateMul(ir_.CreateZExt(each, ir_.getInt64Ty()), ir_.getInt64(slots_));
  ir_.CreateStore(ir_.CreateAdd(cycles(), passed), f_.context_address(offsetof(WarpContext, cycles)));
  slots_ = 0;
}

Value* Clock::cycles() {
  return ir_.CreateLoad(ir_.getInt64Ty(), f_.context_address(offsetof(WarpContext, cycles)), "cycles");
}

// Whole milliseconds are converted first: a single product would overflow after some hours of virtual time.
Value* Clock::nanoseconds() {
  constexpr std::uint64_t kNsPerMs = 1000000;
  Value* now = cycles();
  Value* khz =
      ir_.CreateZExt(f_.context_field(offsetof(WarpContext, sm_clock_khz), ir_.getInt32Ty(), "khz"), ir_.getInt64Ty());
  Value* rest = ir_.CreateUDiv(ir_.CreateMul(ir_.CreateURem(now, khz), ir_.getInt64(kNsPerMs)), khz);
  return ir_.CreateAdd(ir_.CreateMul(ir_.CreateUDiv(now, khz), ir_.getInt64(kNsPerMs)), rest);
}

}  // namespace warpgrind::jit
