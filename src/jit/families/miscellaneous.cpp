// PTX ISA, "Miscellaneous Instructions": nanosleep, brkpt, pmevent, setmaxnreg.
#include "jit/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using ptx::Opcode;

}  // namespace

void lower_nanosleep(Lowering& l) {
  l.call("wg_yield", l.ir().getInt32Ty(), {l.context_pointer(), l.mask_bits()});
}

// Hints, and what only a debugger or profiler on the device would see.
void lower_nothing(Lowering&) {}

}  // namespace warpgrind::jit
