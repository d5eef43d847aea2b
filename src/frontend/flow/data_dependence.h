// Instructions of a kernel whose counts depend on data: branches, guards and addresses that are computed from memory
// which kernels may write. A kernel without them does the same accesses whatever its inputs are, so some of its blocks
// show the counts of all (device/execution/some_blocks.h). Parameters, constant memory, special registers (without
// clocks) and what is computed from them count as known. Shared and local memory are known until a value that is not
// known is written there. Loads of global memory are never known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::flow {

struct DataDependence {
  enum class Kind : std::uint8_t {
    branch,   // a branch is taken or not
    guard,    // a guarded instruction is executed or not
    address,  // an access
    operand,  // another operand that decides counts: the size of a copy, the number of a barrier
    callee    // a call by a pointer: its function is not known
  } kind = Kind::branch;
  // Indexes into Module::functions and Function::body: what depends on data, and the instruction that made the data.
  std::uint32_t function = 0, instruction = 0;
  std::uint32_t source_function = 0, source = 0;
};

// The first dependence in the kernel or in functions that it calls; nullopt: there is none.
std::optional<DataDependence> find_data_dependence(const ptx::Module& module, std::uint32_t kernel);

// By parameter of the kernel: whether its value may decide a branch, a guard, an address or another such operand. The
// contents of global memory count as given. A factor of what is stored decides none: launches with any value of it make
// the same accesses.
std::vector<bool> deciding_parameters(const ptx::Module& module, std::uint32_t kernel);

// How often warps run the kernel's loops, as far as branches in loops and before them say.
enum class Rounds : std::uint8_t {
  equal,   // all warps alike
  differ,  // it depends on data, on the thread or on the block
  asked    // it depends on what other warps have done: on results of atomics, or on loads that may wait for them
};
Rounds rounds_of_loops(const ptx::Module& module, std::uint32_t kernel);

}  // namespace warpgrind::flow
