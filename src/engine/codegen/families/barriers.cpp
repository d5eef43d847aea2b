// Lowering of PTX ISA, "Parallel Synchronization and Communication Instructions", of blocks and clusters: bar, barrier,
// bar.warp.sync, barrier.cluster, membar, fence.
#include "codegen/kernel/lower.h"
#include "jit/abi.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;

}  // namespace

void lower_barrier(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const bool reduce = i.has(Modifier::red);
  std::size_t k = reduce ? 1 : 0;
  const auto uniform = [&](const Operand& o) -> Value* {
    if (l.is_scalar(o)) return l.read_scalar(o, ScalarType::u32);
    // Behaviour is undefined if lanes disagree about the barrier number; the first active lane's value counts.
    Value* first = ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, l.mask_bits(), ir.getInt1(false));
    return ir.CreateExtractElement(l.read_vector(o, ScalarType::u32), first);
  };
  Value* id = k < i.operands.size() ? uniform(i.operands[k++]) : ir.getInt32(0);
  const std::size_t left = i.operands.size() - k;
  Value* threads = left > (reduce ? 1u : 0u) ? uniform(i.operands[k++]) : ir.getInt32(0);
  if (!reduce) {
    const char* name = i.has(Modifier::arrive) ? "wg_barrier_arrive" : "wg_barrier";
    const auto call = [&](const char* function, llvm::Type* result) {
      return l.call(function, result, {l.context_pointer(), l.site_number(), id, threads, l.mask_bits()});
    };
    const auto whole_warp = [&]() -> Value* {
      if (!l.ends_region()) return call(name, ir.getVoidTy());
      const auto is_zero = [](Value* v) {
        const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(v);
        return constant && constant->isZero();
      };
      l.end_region([&] { return call("wg_come_to_barrier", ir.getPtrTy()); }, is_zero(id) && is_zero(threads));
      return nullptr;
    };
    l.barrier(id, threads, whole_warp, nullptr, 0);
    return;
  }
  const unsigned op = i.has(Modifier::popc) ? 0 : i.has(Modifier::and_) ? 1 : 2;
  Value* predicate = l.lanes_to_bits(l.read_vector(i.operands[k], ScalarType::pred));
  const auto call = [&](const char* function, llvm::Type* type) {
    return l.call(function, type,
                  {l.context_pointer(), l.site_number(), id, threads, l.mask_bits(), predicate, ir.getInt32(op)});
  };
  const auto whole_warp = [&]() -> Value* {
    if (!l.ends_region()) return call("wg_barrier_reduce", ir.getInt32Ty());
    l.end_region([&] { return call("wg_come_to_barrier_reduce", ir.getPtrTy()); }, false);
    return ir.CreateLoad(ir.getInt32Ty(), l.at(l.context_pointer(), offsetof(WarpContext, barrier_result)));
  };
  Value* result = l.barrier(id, threads, whole_warp, predicate, op);
  if (op == 0)
    l.result(0, result, ScalarType::u32);
  else
    l.result(0, ir.CreateICmpNE(result, ir.getInt32(0)), ScalarType::pred);
}

// Lanes that run together are synchronised already. Only the order of memory accesses remains to be ensured.
void lower_warp_barrier(Lowering& l) {
  l.meet(&l.instruction().operands[0], nullptr);
  l.ir().CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

void lower_cluster_barrier(Lowering& l) {
  const auto call = [&](const char* name) {
    l.call(name, l.ir().getVoidTy(), {l.context_pointer(), l.site_number(), l.mask_bits()});
  };
  if (l.instruction().has(Modifier::arrive)) return call("wg_cluster_arrive");
  l.cluster_wait([&] { call("wg_cluster_wait"); });
}

void lower_fence(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  if (l.synchronization_observed())
    l.call("wg_fence", ir.getVoidTy(),
           {l.context_pointer(), l.site_number(), ir.getInt32(l.instruction().opcode == Opcode::fence_proxy),
            l.mask_bits()});
}

}  // namespace warpgrind::jit
