// Memory order, scope and shared-memory atomics of an instruction, by its opcode and modifiers.
#include "codegen/kernel/access_facts.h"

namespace warpgrind::jit {

using events::MemoryOrder;
using events::MemoryScope;
using ptx::Modifier;
using ptx::Opcode;

namespace {

bool is_fence(const ptx::Instruction& i) {
  return i.opcode == Opcode::membar || i.opcode == Opcode::fence || i.opcode == Opcode::fence_proxy;
}

// Memory order of cluster barriers and mbarriers without a qualifier.
MemoryOrder barrier_order(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::barrier_cluster:
      return i.has(Modifier::arrive) ? MemoryOrder::release : MemoryOrder::acquire;
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
      return MemoryOrder::release;
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
      return MemoryOrder::acquire;
    default:
      return MemoryOrder::weak;
  }
}

}  // namespace

// PTX ISA: ld and st without a qualifier are weak, atom and red relaxed; so are those of multimem. membar is fence.sc,
// and fence alone is acq_rel. Arrivals at mbarriers and cluster barriers release, waits acquire.
MemoryOrder memory_order(const ptx::Instruction& i) {
  if (i.has(Modifier::sc) || i.opcode == Opcode::membar) return MemoryOrder::sequential;
  if (i.has(Modifier::acq_rel)) return MemoryOrder::acquire_release;
  if (i.has(Modifier::acquire)) return MemoryOrder::acquire;
  if (i.has(Modifier::release)) return MemoryOrder::release;
  if (i.has(Modifier::relaxed)) return MemoryOrder::relaxed;
  if (i.has(Modifier::volatile_)) return MemoryOrder::volatile_;
  if (i.has(Modifier::mmio)) return MemoryOrder::mmio;
  if (i.opcode == Opcode::atom || i.opcode == Opcode::red || i.opcode == Opcode::multimem_red)
    return MemoryOrder::relaxed;
  return is_fence(i) ? MemoryOrder::acquire_release : barrier_order(i);
}

// Strong operations without a scope have GPU scope, multimem.red has system scope. Volatile ones are relaxed at system
// scope.
MemoryScope memory_scope(const ptx::Instruction& i) {
  if (i.has(Modifier::cta)) return MemoryScope::cta;
  if (i.has(Modifier::cluster)) return MemoryScope::cluster;
  if (i.has(Modifier::gpu) || i.has(Modifier::gl)) return MemoryScope::gpu;
  if (i.has(Modifier::sys) || i.opcode == Opcode::multimem_red) return MemoryScope::system;
  if (i.opcode == Opcode::barrier_cluster) return MemoryScope::cluster;
  if (barrier_order(i) != MemoryOrder::weak) return MemoryScope::cta;
  switch (memory_order(i)) {
    case MemoryOrder::weak:
      return MemoryScope::none;
    case MemoryOrder::volatile_:
    case MemoryOrder::mmio:
      return MemoryScope::system;
    default:
      return MemoryScope::gpu;
  }
}

// Measured on an H200 (tests/data/h200/shared_atomics.csv): 32-bit integer atomics have dedicated instructions.
SharedAtomic shared_atomic(const ptx::Instruction& i, bool no_return) {
  const bool exchange = i.has(Modifier::exch), swap = i.has(Modifier::cas);
  if (swap) return SharedAtomic::swap;
  if (exchange) return SharedAtomic::native;
  if (ptx::bits(i.type()) != 32 || ptx::is_float(i.type())) return SharedAtomic::loop;
  const ptx::Operand& by = i.operands.back();
  const bool one = by.kind == ptx::OperandKind::immediate && by.bits == 1;
  return no_return && one && i.has(Modifier::add) && i.space == StateSpace::shared ? SharedAtomic::count
                                                                                   : SharedAtomic::native;
}

}  // namespace warpgrind::jit
