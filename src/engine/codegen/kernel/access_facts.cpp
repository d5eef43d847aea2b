// Memory order, scope and shared-memory atomics of an instruction, by its opcode and modifiers.
#include "codegen/kernel/access_facts.h"

namespace warpgrind::jit {

using events::MemoryOrder;
using events::MemoryScope;
using ptx::Modifier;
using ptx::Opcode;

namespace {

// Memory order without a qualifier: the row's.
MemoryOrder implied_order(const ptx::Instruction& i) {
  using ptx::ImpliedOrder;
  switch (ImpliedOrder{ptx::info(i.opcode).order}) {
    case ImpliedOrder::weak:
      return MemoryOrder::weak;
    case ImpliedOrder::relaxed:
      return MemoryOrder::relaxed;
    case ImpliedOrder::release:
      return MemoryOrder::release;
    case ImpliedOrder::acquire:
      return MemoryOrder::acquire;
    case ImpliedOrder::arrive_or_wait:
      return i.has(Modifier::arrive) ? MemoryOrder::release : MemoryOrder::acquire;
    case ImpliedOrder::acquire_release:
      return MemoryOrder::acquire_release;
    case ImpliedOrder::sequential:
      return MemoryOrder::sequential;
  }
  return MemoryOrder::weak;
}

// Arrivals at mbarriers and cluster barriers release, waits acquire.
bool is_of_barrier(const ptx::Instruction& i) {
  const MemoryOrder order = implied_order(i);
  return order == MemoryOrder::release || order == MemoryOrder::acquire;
}

}  // namespace

// PTX ISA: ld and st without a qualifier are weak, atom, red and multimem.red relaxed. membar is fence.sc, and fence
// alone is acq_rel.
MemoryOrder memory_order(const ptx::Instruction& i) {
  if (i.has(Modifier::sc)) return MemoryOrder::sequential;
  if (i.has(Modifier::acq_rel)) return MemoryOrder::acquire_release;
  if (i.has(Modifier::acquire)) return MemoryOrder::acquire;
  if (i.has(Modifier::release)) return MemoryOrder::release;
  if (i.has(Modifier::relaxed)) return MemoryOrder::relaxed;
  if (i.has(Modifier::volatile_)) return MemoryOrder::volatile_;
  if (i.has(Modifier::mmio)) return MemoryOrder::mmio;
  return implied_order(i);
}

// Strong operations without a scope have GPU scope, multimem.red has system scope. Volatile ones are relaxed at system
// scope.
MemoryScope memory_scope(const ptx::Instruction& i) {
  if (i.has(Modifier::cta)) return MemoryScope::cta;
  if (i.has(Modifier::cluster)) return MemoryScope::cluster;
  if (i.has(Modifier::gpu) || i.has(Modifier::gl)) return MemoryScope::gpu;
  if (i.has(Modifier::sys) || i.opcode == Opcode::multimem_red) return MemoryScope::system;
  if (i.opcode == Opcode::barrier_cluster) return MemoryScope::cluster;
  if (is_of_barrier(i)) return MemoryScope::cta;
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
