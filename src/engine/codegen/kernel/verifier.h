// Verifier of a lowered kernel: the rules that LLVM, the device and the reader of the scoreboard rely on. It takes a
// tenth of the lowering, so that only tests and builds with debug asserts run it (CompileOptions::verify).
//
// LLVM IR: LLVM's own verifier finds nothing. Each block ends. The entry block holds the allocas, with constant sizes,
// and nothing else. A call names a function of the module or a registered symbol, with one signature for each symbol.
// No call and no branch depends on an undefined value. A call that passes a site passes one of its own instruction.
// The depth of the path stack is changed by whole entries only, and an entry is taken only if there is one.
//
// Facts: sites, blocks, guards, branches and edges name existing blocks and instructions, and the scoreboard has a
// counter for each.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

#include "codegen/kernel/kernel_unit.h"

namespace warpgrind::jit {

// Marks what `ir` makes from now on as code of an instruction, so that the verifier can name its PTX line.
void mark_instruction(llvm::IRBuilder<>& ir, std::uint32_t function, std::uint32_t instruction);
void mark_no_instruction(llvm::IRBuilder<>& ir);
void remove_marks(llvm::Module& module);

// The first broken rule: "kernel k, PTX line 12: the call of wg_fence passes site 3, which does not exist". Empty:
// none.
std::string find_broken_rule(const llvm::Module& module, const KernelUnit& unit);

}  // namespace warpgrind::jit
