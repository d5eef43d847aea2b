// Registers that a debugger can read at a stop, in kernels without variables of the source.
#include "jit/stop_registers.h"

#include <algorithm>

namespace warpgrind::jit {

bool has_variables(const ptx::Module& module) {
  const auto describes_variables = [](const ptx::DebugPart& part) {
    return std::any_of(part.sections.begin(), part.sections.end(),
                       [](const ptx::DebugSection& s) { return s.name == ".debug_info"; });
  };
  return std::any_of(module.debug_parts.begin(), module.debug_parts.end(), describes_variables);
}

StopRegisters::StopRegisters(const ptx::Function& function)
    : function_(function), cfg_(flow::build_control_flow(function)), live_(flow::find_live_registers(function, cfg_)) {}

std::vector<std::uint64_t> StopRegisters::before(std::uint32_t instruction) const {
  return flow::live_registers_before(function_, cfg_, live_, instruction);
}

}  // namespace warpgrind::jit
