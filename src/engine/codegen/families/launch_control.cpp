// Lowering of PTX ISA, "clusterlaunchcontrol": calls of the device (device/calls/launch_control.cpp).
#include "codegen/families/families.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::Modifier;
using ptx::OperandKind;
using ptx::ScalarType;

// clusterlaunchcontrol.try_cancel [addr], [mbar]
void lower_try_cancel(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  Value* to = store_lanes(l, l.read_vector(i.operands[0], ScalarType::b64));
  Value* barriers = store_lanes(l, l.read_vector(i.operands[1], ScalarType::b64));
  l.call("wg_try_cancel", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), to, barriers, ir.getInt32(i.has(Modifier::multicast_cluster_all)),
          l.mask_bits()});
}

// clusterlaunchcontrol.query_cancel: of a response that the program has loaded into a register.
void lower_query_cancel(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  llvm::Type* words = llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize);
  const std::uint32_t index = i.has(Modifier::get_first_ctaid_x)   ? 0
                              : i.has(Modifier::get_first_ctaid_y) ? 1
                              : i.has(Modifier::get_first_ctaid_z) ? 2
                              : i.has(Modifier::get_first_ctaid)   ? 3
                                                                   : 4;
  constexpr unsigned kPlanes = 4;
  Value* out = l.scratch(ir.getInt32Ty(), kPlanes);
  for (unsigned k = 0; k < kPlanes; ++k)  // the fourth element of a block index is not specified
    ir.CreateAlignedStore(llvm::Constant::getNullValue(words), l.at(out, std::uint64_t{k} * 4 * kWarpSize),
                          llvm::Align(64));
  Value* responses = store_lanes(l, l.read_vector(i.operands[1], ScalarType::b128));
  l.call("wg_query_cancel", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(index), responses, l.mask_bits(), out});
  const auto plane = [&](unsigned k) {
    return ir.CreateAlignedLoad(words, l.at(out, std::uint64_t{k} * 4 * kWarpSize), llvm::Align(64));
  };
  const ptx::Operand& d = i.operands[0];
  if (index == 4) return l.result(0, ir.CreateICmpNE(plane(0), llvm::Constant::getNullValue(words)), ScalarType::pred);
  if (d.kind == OperandKind::vector) {
    for (unsigned k = 0; k < d.elements.size(); ++k)
      if (d.elements[k].kind != OperandKind::sink) l.write(d.elements[k], plane(k), ScalarType::b32);
  } else if (d.kind != OperandKind::sink) {
    l.result(0, plane(0), ScalarType::b32);
  }
}

}  // namespace warpgrind::jit
