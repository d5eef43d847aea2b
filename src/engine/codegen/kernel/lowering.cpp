// Dispatch from opcode to lowering, made from the table of opcodes.
#include "base/assert.h"
#include "codegen/kernel/function_lowering.h"

namespace warpgrind::jit {

namespace {

constexpr LowerFunction kLowerings[] = {
#define WG_PTX_OPCODE(identifier, lowering, ...) lowering,
#define WG_PTX_REFUSED(identifier, ...) nullptr,
#include "ptx/opcodes.inc"
};

}  // namespace

LowerFunction find_lowering(ptx::Opcode opcode) {
  WG_ASSERT(static_cast<std::size_t>(opcode) < std::size(kLowerings));
  return kLowerings[static_cast<std::size_t>(opcode)];
}

}  // namespace warpgrind::jit
