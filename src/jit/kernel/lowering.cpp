// The dispatch from opcode to lowering, made from the family tables.
#include <array>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

LowerFunction find_lowering(ptx::Opcode opcode) {
  static const auto table = [] {
    std::array<LowerFunction, ptx::kOpcodes> t{};
    for (const auto& family : {integer_lowerings(), floating_point_lowerings(), half_lowerings(), bit_lowerings(),
                               compare_lowerings(), conversion_lowerings(), warp_lowerings(), atomic_lowerings(),
                               async_copy_lowerings(), texture_lowerings(), matrix_lowerings(), video_lowerings()})
      for (const LoweringEntry& entry : family) t[static_cast<std::size_t>(entry.opcode)] = entry.function;
    return t;
  }();
  return table[static_cast<std::size_t>(opcode)];
}

bool is_supported(const ptx::Instruction& i, std::string* why) {
  using O = ptx::Opcode;
  switch (i.opcode) {
    case O::mov:
    case O::cvta:
    case O::ld:
    case O::ldu:
    case O::st:
    case O::bar:
    case O::barrier:
    case O::membar:
    case O::fence:
    case O::fence_proxy:
    case O::bar_warp_sync:
    case O::nanosleep:
    case O::call:
    case O::brkpt:
    case O::pmevent:
    case O::setmaxnreg:
    case O::mapa:
    case O::getctarank:
    case O::bra:
    case O::brx_idx:
    case O::ret:
    case O::exit:
    case O::trap:
      return true;
    default:
      break;
  }
  if (find_lowering(i.opcode)) return true;
  if (why) *why = std::string(ptx::name(i.opcode)) + " has no lowering yet";
  return false;
}

}  // namespace warpgrind::jit
