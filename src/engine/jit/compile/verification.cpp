#include "jit/compile/verification.h"

#include "base/assert.h"

namespace warpgrind::jit {

bool verify_lowering = kDebugAsserts;

}  // namespace warpgrind::jit
