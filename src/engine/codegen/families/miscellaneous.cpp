// Lowering of PTX ISA, "Miscellaneous Instructions": nanosleep, brkpt, pmevent, setmaxnreg.
#include <llvm/IR/Constants.h>

#include "codegen/kernel/lower.h"
#include "jit/abi.h"

namespace warpgrind::jit {

namespace {

using ptx::Opcode;

}  // namespace

// Advances the warp's clock by the longest sleep of its lanes, at most 1 ms (PTX ISA).
void lower_nanosleep(Lowering& l) {
  constexpr std::uint32_t kMost = 1000000;  // nanoseconds; also the divisor from ns * kHz to cycles
  auto& ir = l.ir();
  const auto field = [&](std::size_t offset) {
    return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), l.context_pointer(), offset);
  };
  llvm::Value* asked = l.read_vector(l.instruction().operands[0], ptx::ScalarType::u32);
  llvm::Value* ns = ir.CreateSelect(l.mask_vector(), asked, llvm::Constant::getNullValue(asked->getType()));
  llvm::Value* longest = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir.CreateIntMaxReduce(ns), ir.getInt32(kMost));
  llvm::Value* khz = ir.CreateLoad(ir.getInt32Ty(), field(offsetof(WarpContext, sm_clock_khz)));
  llvm::Value* passed = ir.CreateUDiv(
      ir.CreateMul(ir.CreateZExt(longest, ir.getInt64Ty()), ir.CreateZExt(khz, ir.getInt64Ty())), ir.getInt64(kMost));
  llvm::Value* cycles = field(offsetof(WarpContext, cycles));
  ir.CreateStore(ir.CreateAdd(ir.CreateLoad(ir.getInt64Ty(), cycles), passed), cycles);
  l.call("wg_yield", l.ir().getInt32Ty(), {l.context_pointer(), l.mask_bits()});
}

// Hints, and instructions that only a debugger or profiler on the device would notice.
void lower_nothing(Lowering&) {}

}  // namespace warpgrind::jit
