#include "jit/kernel/sites.h"

#include <algorithm>
#include <vector>

#include "jit/families/matrix.h"
#include "jit/kernel/access_facts.h"
#include "ptx/printer.h"

namespace warpgrind::jit {

using ptx::Modifier;
using ptx::Opcode;

namespace {

// ptxas makes a reduction of such an atomic, and the hardware counts it as one.
bool result_is_never_read(const ptx::Function& function, const ptx::Instruction& atom) {
  std::vector<ptx::RegId> results, read;
  flow::registers_written(atom, results);
  for (const ptx::Instruction& i : function.body) {
    read.clear();
    flow::registers_read(i, read);
    for (const ptx::RegId r : results)
      if (std::find(read.begin(), read.end(), r) != read.end()) return false;
  }
  return true;
}

}  // namespace

events::Site Sites::describe() const {
  const ptx::Instruction& i = f_.instruction();
  events::Site site;
  site.kind = ptx::info(i.opcode).site;
  site.space = i.space == StateSpace::none ? StateSpace::generic : i.space;
  site.element_bytes = static_cast<std::uint8_t>(std::max(1u, ptx::bytes(i.type())));
  site.vector = i.vector;
  if (i.opcode == Opcode::cp_async && i.operands.size() > 2) {  // the size is an operand: cp_async_bytes
    site.element_bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(16, i.operands[2].bits));
    site.space = StateSpace::global;
  }
  if (i.opcode == Opcode::cp_async_bulk) {  // the destination's space
    site.element_bytes = 1;
    site.space = i.has(Modifier::mbarrier_complete_tx_bytes) ? StateSpace::shared : StateSpace::global;
  }
  if (const unsigned bytes = matrix_request_bytes(i)) {  // wmma, ldmatrix, stmatrix: not what the type says
    site.element_bytes = static_cast<std::uint8_t>(std::min(bytes, i.type() == ptx::ScalarType::f64 ? 8u : 4u));
    site.vector = static_cast<std::uint8_t>(bytes / site.element_bytes);
  }
  site.is_volatile = i.has(Modifier::volatile_);
  site.non_coherent = i.has(Modifier::nc);
  // Exchanges have no form without a result: there is no red.exch or red.cas.
  site.no_return = i.opcode == Opcode::red || (i.opcode == Opcode::atom && !i.has(Modifier::exch) &&
                                               !i.has(Modifier::cas) && result_is_never_read(f_.function, i));
  site.order = memory_order(i);
  site.scope = memory_scope(i);
  if (i.opcode == Opcode::atom || i.opcode == Opcode::red) site.shared_atomic = shared_atomic(i, site.no_return);
  site.ptx_line = i.range.line;
  if (i.location != ptx::kNoId) {
    // The outermost line of an inlined chain is the kernel's own; the innermost is where the access is written.
    site.line = f_.function.locations[i.location].line;
    site.file = f_.function.locations[i.location].file;
  }
  site.instruction = f_.now.index;
  site.function = f_.function.name;
  const ptx::Function& written = f_.unit.module->functions[f_.function_index];
  site.text = ptx::print(written.body[f_.now.index], written, *f_.unit.module);
  return site;
}

llvm::ConstantInt* Sites::number() {
  if (f_.now.site == ptx::kNoId) {
    f_.now.site = static_cast<std::uint32_t>(f_.unit.facts.sites.size());
    f_.unit.facts.sites.push_back(describe());
  }
  return f_.ir().getInt32(f_.now.site);
}

}  // namespace warpgrind::jit
