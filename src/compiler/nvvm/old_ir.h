// Bitcode of old LLVM text, from the time when pointers had types (LLVM 7 to 16). LLVM 19 reads such bitcode but not
// such text. An LLVM of that time does the conversion. It is on every machine that has a client writing such text
// (Debian's llvmlite needs libllvm14).
#pragma once

#include <string>

#include "base/result.h"

namespace warpgrind::nvvm {

// `flush_to_zero`: flush float32 denormals in all functions. Error: bad_input if the text is wrong, environment if
// there is no such LLVM.
Result<std::string> bitcode_of_old_text(const std::string& text, const std::string& name, bool flush_to_zero);

}  // namespace warpgrind::nvvm
