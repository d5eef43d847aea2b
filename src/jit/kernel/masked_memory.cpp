// FunctionLowering: ld and st of some lanes (edges of stencils, last steps of reductions) where the inline cache knows
// that the addresses of all 32 lanes are good. Loads then need no mask at all, and stores only one.
#include <llvm/IR/Constants.h>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;

bool FunctionLowering::masked_path_possible(const Address& a, StateSpace space, unsigned element_bytes, unsigned count,
                                            bool store) {
  if (space == StateSpace::local) return false;  // counted lane by lane
  const std::int64_t bytes = std::int64_t{element_bytes} * count;
  if (store && (count != 1 || element_bytes < 4)) return false;
  if (a.kind == Address::Kind::uniform) return true;
  return a.constant_kx && (*a.constant_kx == bytes || (!store && *a.constant_kx == 0));
}

void FunctionLowering::count_masked(const Address& a, Value* state) {
  if (!unit_.options.counters) return;
  llvm::Type* i64 = ir_.getInt64Ty();
  Value* mask = mask_bits();
  Value* low = ir_.CreateShl(ir_.CreateAnd(a.base, ir_.getInt64(255)), 32);
  Value* tag = ir_.CreateOr(ir_.CreateZExt(mask, i64), low);
  Value* slot = ir_.CreateLShr(ir_.CreateMul(tag, ir_.getInt64(kMaskedHash)), kMaskedShift);
  Value* at = ir_.CreateInBoundsGEP(ir_.getInt8Ty(),
                                    ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), state, offsetof(SiteState, masked)),
                                    ir_.CreateMul(slot, ir_.getInt64(sizeof(MaskedCount))));
  BasicBlock* known = BasicBlock::Create(context(), "known", llvm_function_);
  BasicBlock* other = BasicBlock::Create(context(), "other", llvm_function_);
  BasicBlock* counted = BasicBlock::Create(context(), "counted", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(ir_.CreateLoad(i64, at), tag), known, other);
  ir_.SetInsertPoint(known);
  bump(ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), at, offsetof(MaskedCount, hits)), ir_.getInt64(1));
  ir_.CreateBr(counted);
  ir_.SetInsertPoint(other);
  Value* zero = ir_.getInt64(0);
  const bool uniform = a.kind == Address::Kind::uniform;
  call("wg_count_affine", ir_.getVoidTy(),
       {context_argument_, site_number(), a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, mask});
  ir_.CreateBr(counted);
  ir_.SetInsertPoint(counted);
}

// Some lane is on.
void FunctionLowering::masked_store(const Address& a, StateSpace space, llvm::Type* element, Value* value) {
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Value* pointer = host_pointer(a.base, space);
  if (a.kind == Address::Kind::uniform) {  // the last lane wins, as in a serial order
    Value* zeros = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, mask_bits(), ir_.getTrue());
    Value* last = ir_.CreateSub(ir_.getInt32(kWarpSize - 1), zeros);
    ir_.CreateAlignedStore(ir_.CreateExtractElement(value, last), pointer, align);
    return;
  }
  Value* lanes = mask_vector();
  for (unsigned r = 0; r < kWarpSize / row_length_; ++r) {
    std::vector<int> row;
    for (unsigned l = 0; l < row_length_; ++l) row.push_back(static_cast<int>(r * row_length_ + l));
    Value* at = r == 0 ? pointer : ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateMul(a.ky, ir_.getInt64(r)));
    ir_.CreateMaskedStore(ir_.CreateShuffleVector(value, row), at, align, ir_.CreateShuffleVector(lanes, row));
  }
}

}  // namespace warpgrind::jit
