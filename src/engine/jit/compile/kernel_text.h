// The part of a module that decides a kernel's machine code, and the places of its facts in that module. Kernels that
// are the same in two modules share an entry of the disk cache: a program that was changed elsewhere, or another
// program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/site.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

// PTX of the kernel, of the functions that it calls, and of the module's variables that they name, without line
// information. nullopt: more of the module decides the code (indirect calls, addresses of functions).
std::optional<std::string> kernel_text(const ptx::Module& module, std::uint32_t entry);

// Sets what differs between modules that have the same kernel: files, lines, lines of the PTX, indexes of shared
// variables. False: the facts are of another kernel.
bool set_places(events::KernelFacts& facts, const ptx::Module& module);

}  // namespace warpgrind::jit
