// The dispatch from opcode to lowering, made from the family tables.
#include <array>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

LowerFunction find_lowering(ptx::Opcode opcode) {
  static const auto table = [] {
    std::array<LowerFunction, ptx::kOpcodes> t{};
    for (const auto& family :
         {integer_lowerings(), floating_point_lowerings(), half_lowerings(), bit_lowerings(), compare_lowerings(),
          conversion_lowerings(), warp_lowerings(), atomic_lowerings(), async_copy_lowerings(), texture_lowerings(),
          matrix_lowerings(), video_lowerings(), barrier_lowerings(), miscellaneous_lowerings(), core_lowerings()})
      for (const LoweringEntry& entry : family) t[static_cast<std::size_t>(entry.opcode)] = entry.function;
    return t;
  }();
  return table[static_cast<std::size_t>(opcode)];
}

bool has_lowering(ptx::Opcode opcode) {
  return find_lowering(opcode) != nullptr;
}

}  // namespace warpgrind::jit
