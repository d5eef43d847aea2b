// For test programs that compile kernels: verifies all of them (codegen/kernel/verifier.h).
#include "jit/compile/verification.h"

namespace {

[[maybe_unused]] const bool verified = warpgrind::jit::verify_lowering = true;

}  // namespace
