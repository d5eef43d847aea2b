// Default of CompileOptions::verify. Test programs turn it on (tests/verify_lowering.cpp). Debug builds and builds with
// a sanitizer have it on anyway.
#pragma once

namespace warpgrind::jit {

extern bool verify_lowering;

}  // namespace warpgrind::jit
