// LLVM's text of the time when pointers had types (LLVM 7 to 16), as bitcode, whose readers still take that: LLVM 19's
// reader of text does not. The work is done by an LLVM of that time, which is on every machine where a client that
// writes such text is (Debian's llvmlite needs libllvm14).
#pragma once

#include <string>

#include "base/result.h"

namespace warpgrind::nvvm {

// flush_to_zero: of float32 denormals, in all its functions. The error: what is wrong in the text (bad_input), or that
// there is no such LLVM (environment).
Result<std::string> bitcode_of_old_text(const std::string& text, const std::string& name, bool flush_to_zero);

}  // namespace warpgrind::nvvm
