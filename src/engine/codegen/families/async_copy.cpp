// Lowering of PTX ISA, "Asynchronous Copy" and "mbarrier". A copy is made when it is issued, so groups have nothing to
// wait for. The phases of an mbarrier advance exactly by its arrivals and transaction bytes. Cache hints and prefetches
// have no effect.
#include <llvm/IR/Constants.h>

#include "codegen/families/families.h"
#include "events/events.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

}  // namespace

// Groups of copies: only observers see them.
void lower_async_group(Lowering& l) {
  using Group = events::AsyncGroupOperation;
  if (!l.synchronization_observed()) return;
  const ptx::Instruction& i = l.instruction();
  const bool read = i.has(Modifier::read);
  const Group group = i.opcode == Opcode::cp_async_commit_group        ? Group::commit
                      : i.opcode == Opcode::cp_async_wait_group        ? Group::wait
                      : i.opcode == Opcode::cp_async_wait_all          ? Group::wait_all
                      : i.opcode == Opcode::cp_async_bulk_commit_group ? Group::bulk_commit
                      : read                                           ? Group::bulk_wait_read
                                                                       : Group::bulk_wait;
  l.call("wg_async_group", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), l.ir().getInt32(static_cast<std::uint32_t>(group)),
          l.ir().getInt32(!i.operands.empty() ? static_cast<std::uint32_t>(i.operands[0].bits) : 0), l.mask_bits()});
}

namespace {

Value* addresses(Lowering& l, const Operand& o) {
  return store_lanes(l, l.read_vector(o, ScalarType::b64));
}

}  // namespace

// cp.async.ca/cg.shared.global [dst], [src], cp-size{, src-size | ignore-src};
void lower_cp_async(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  Value* bytes = l.splat(ir.getInt32(static_cast<std::uint32_t>(i.operands[2].bits)));
  if (i.operands.size() > 3) {
    const Operand& o = i.operands[3];
    const bool predicate = o.kind == OperandKind::reg && l.is_predicate(o);
    bytes = predicate ? ir.CreateSelect(l.read_vector(o, ScalarType::pred), l.splat(ir.getInt32(0)), bytes)
                      : l.read_vector(o, ScalarType::b32);
  }
  l.call("wg_cp_async", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), addresses(l, i.operands[0]), addresses(l, i.operands[1]),
          store_lanes(l, bytes), l.mask_bits()});
}

// Bulk copies, usually issued by one thread. [dst], [src], size, [mbar] or .bulk_group{, ctaMask}{, policy}{,
// byteMask}.
void lower_cp_async_bulk(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const bool to_shared = i.has(Modifier::mbarrier_complete_tx_bytes);
  const bool multicast = i.has(Modifier::multicast_cluster), masked = i.has(Modifier::cp_mask);
  const std::size_t needed = to_shared ? 4 : 3;
  if (i.operands.size() < needed + (multicast || masked ? 1 : 0)) return l.unsupported("this form of the bulk copy");
  // Destination and source spaces as written: .shared.global, .global.shared::cta, .shared::cluster.shared::cta.
  const std::uint32_t from_shared = !to_shared || (i.has(Modifier::shared_cluster) && i.has(Modifier::shared_cta));
  Value* none = llvm::ConstantPointerNull::get(ir.getPtrTy());
  const auto mask = [&](const Operand& o) {
    return store_lanes(
        l, ir.CreateZExt(l.read_vector(o, ScalarType::b16), llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize)));
  };
  l.call("wg_bulk_copy", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), addresses(l, i.operands[0]), addresses(l, i.operands[1]),
          store_lanes(l, l.read_vector(i.operands[2], ScalarType::b32)), to_shared ? addresses(l, i.operands[3]) : none,
          multicast ? mask(i.operands[needed]) : none, masked ? mask(i.operands.back()) : none,
          ir.getInt32((to_shared ? 1u : 0u) | from_shared << 1), l.mask_bits()});
}

namespace {

using Operation = events::MBarrierOperation;

void mbarrier(Lowering& l, Operation op, const Operand& barrier, Value* number, Value* expect, std::size_t result) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  llvm::Type* wide = llvm::FixedVectorType::get(ir.getInt64Ty(), kWarpSize);
  Value* n = number ? number : llvm::Constant::getNullValue(wide);
  Value* e = expect ? expect : llvm::Constant::getNullValue(wide);
  Value* out = l.scratch(ir.getInt64Ty());
  l.call("wg_mbarrier", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(static_cast<std::uint32_t>(op)), addresses(l, barrier),
          store_lanes(l, n), store_lanes(l, e), l.mask_bits(), out});
  if (result >= i.operands.size() || i.operands[result].kind == OperandKind::sink) return;
  Value* r = ir.CreateAlignedLoad(wide, out, llvm::Align(64));
  if (events::is_wait(op))
    l.result(result, ir.CreateICmpNE(r, llvm::Constant::getNullValue(wide)), ScalarType::pred);
  else
    l.result(result, r, ScalarType::b64);
}

}  // namespace

void lower_mbarrier(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  constexpr std::size_t none = 99;
  const auto number = [&](std::size_t k) { return l.read_vector(i.operands[k], ScalarType::b64); };
  const auto count = [&](std::size_t k) -> Value* {
    if (k < i.operands.size())
      return ir.CreateZExt(l.read_vector(i.operands[k], ScalarType::b32),
                           llvm::FixedVectorType::get(ir.getInt64Ty(), kWarpSize));
    return l.splat(ir.getInt64(1));
  };
  switch (i.opcode) {
    case Opcode::mbarrier_init:
      return mbarrier(l, Operation::init, i.operands[0], count(1), nullptr, none);
    case Opcode::mbarrier_inval:
      return mbarrier(l, Operation::invalidate, i.operands[0], nullptr, nullptr, none);
    case Opcode::mbarrier_expect_tx:
      return mbarrier(l, Operation::expect, i.operands[0], nullptr, count(1), none);
    case Opcode::mbarrier_complete_tx:
      return mbarrier(l, Operation::complete, i.operands[0], nullptr, count(1), none);
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop: {
      const bool has_state = i.operands[0].kind != OperandKind::address;
      const std::size_t at = has_state ? 1 : 0;
      const Operation op = i.opcode == Opcode::mbarrier_arrive ? Operation::arrive : Operation::arrive_drop;
      const bool expect = i.has(Modifier::expect_tx);
      Value* one = l.splat(ir.getInt64(1));
      return mbarrier(l, op, i.operands[at], expect ? one : count(at + 1), expect ? count(at + 1) : nullptr,
                      has_state ? 0 : none);
    }
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait: {
      const bool waits = i.opcode == Opcode::mbarrier_try_wait;  // lets other warps run if the phase is not complete
      if (i.has(Modifier::parity))
        return mbarrier(l, waits ? Operation::try_wait_parity : Operation::test_parity, i.operands[1], count(2),
                        nullptr, 0);
      return mbarrier(l, waits ? Operation::try_wait : Operation::test, i.operands[1], number(2), nullptr, 0);
    }
    case Opcode::cp_async_mbarrier_arrive:
      return mbarrier(l, i.has(Modifier::noinc) ? Operation::copy_arrive_noinc : Operation::copy_arrive, i.operands[0],
                      nullptr, nullptr, none);
    default:
      return l.unsupported("this mbarrier operation");
  }
}

namespace {

// Completes the instruction's bytes on the mbarrier of each lane.
void complete(Lowering& l, const Operand& barrier) {
  const ptx::Instruction& i = l.instruction();
  Value* bytes = l.splat(l.ir().getInt64(std::uint64_t{ptx::bytes(i.type())} * i.vector));
  mbarrier(l, Operation::complete, barrier, nullptr, bytes, i.operands.size());
}

}  // namespace

// st.async.mbarrier::complete_tx::bytes [a], b, [mbar]: done when issued, like copies.
void lower_st_async(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  if (i.operands.size() < 3) return l.unsupported("a form without an mbarrier (compute capability 10)");
  const Operand& b = i.operands[1];
  llvm::Type* e = l.element(i.type());
  const std::uint64_t plane = std::uint64_t{ptx::bytes(i.type())} * kWarpSize;
  Value* values = l.scratch(e, i.vector);
  for (unsigned k = 0; k < i.vector; ++k)
    l.ir().CreateAlignedStore(l.read_vector(b.kind == OperandKind::vector ? b.elements[k] : b, i.type()),
                              l.at(values, k * plane), llvm::Align(4));
  Value* to = store_lanes(l, l.in_own_memory(l.read_vector(i.operands[0], ScalarType::b64)));
  l.call("wg_store", l.ir().getVoidTy(), {l.context_pointer(), l.site_number(), to, l.mask_bits(), values});
  complete(l, i.operands[2]);
}

// red.async.op [a], b, [mbar]
void lower_red_async(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  if (i.operands.size() < 3) return l.unsupported("a form without an mbarrier (compute capability 10)");
  lower_atomic(l);
  complete(l, i.operands[2]);
}

// The state that mbarrier.arrive returned: phase in bit 0, pending arrivals above it (device/calls/async_copy.cpp).
void lower_mbarrier_pending_count(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* state = l.read_vector(l.instruction().operands[1], ScalarType::b64);
  l.result(0,
           ir.CreateTrunc(ir.CreateLShr(state, l.splat(ir.getInt64(1))),
                          llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize)),
           ScalarType::b32);
}

// createpolicy: a cache hint, whose value is never used.
void lower_createpolicy(Lowering& l) {
  l.result(0, l.constant(ScalarType::b64, 0), ScalarType::b64);
}

}  // namespace warpgrind::jit
