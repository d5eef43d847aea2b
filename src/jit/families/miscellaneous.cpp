// PTX ISA, "Miscellaneous Instructions": nanosleep, brkpt, pmevent, setmaxnreg.
#include "jit/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using ptx::Opcode;

void lower_nanosleep(Lowering& l) {
  l.call("wg_yield", l.ir().getInt32Ty(), {l.context_pointer(), l.mask_bits()});
}

// Hints, and what only a debugger or profiler on the device would see.
void lower_nothing(Lowering&) {}

}  // namespace

std::initializer_list<LoweringEntry> miscellaneous_lowerings() {
  static const std::initializer_list<LoweringEntry> table = {{Opcode::nanosleep, lower_nanosleep},
                                                             {Opcode::brkpt, lower_nothing},
                                                             {Opcode::pmevent, lower_nothing},
                                                             {Opcode::setmaxnreg, lower_nothing}};
  return table;
}

}  // namespace warpgrind::jit
