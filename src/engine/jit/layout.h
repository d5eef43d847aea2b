// Layout of a kernel's variables: offsets in shared memory and in the thread's local memory. layout.cpp also has
// parameter_layout(), the offsets in the parameter buffer; jit/compile/compiler.h declares it for other groups.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/result.h"
#include "jit/compile/compiler.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

struct KernelLayout {
  std::set<std::uint32_t> functions;                     // the entry and all it may call
  std::map<std::uint32_t, std::uint64_t> shared_module;  // module variable -> offset (static)
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> shared_function;  // {function, variable} -> offset
  std::uint64_t static_shared = 0, dynamic_offset = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
      local;                                     // {function, variable} -> offset in its frame
  std::map<std::uint32_t, std::uint64_t> frame;  // function -> local bytes
  std::uint64_t local_bytes = 0;                 // entry + deepest call chain without recursion
  std::uint64_t parameter_bytes = 0;             // of the entry
  bool open_ended = false;                       // recursion or alloca: the stack may grow beyond local_bytes
  std::uint64_t least_recursive_frame = 0;       // smallest frame of a recursive function; 0: no recursion
};

// Bytes of stack that a recursive call takes in addition to the function's variables, for the return address and saved
// registers. ptxas makes frames of 16 bytes and more (16 for `f(n) = n < 2 ? n : f(n - 1) + 1`, 24 for Fibonacci
// numbers, 176 for 128 bytes of variables). This is the minimum, so that no program that runs on a GPU fails here.
inline constexpr std::uint64_t kRecursiveCallBytes = 16;

// Bytes of all parameters of a function (CUDA C++ Programming Guide, "__global__ function parameters").
inline constexpr std::uint64_t kLargestParameters = 32764;

KernelLayout lay_out(const ptx::Module& module, std::uint32_t entry);
// Refuses a kernel that contains or may call what cannot run: unknown instructions, or more local memory than a thread
// has.
Status check_layout(const ptx::Module& module, std::uint32_t entry, const KernelLayout& layout);

// Words of a parameter area made of planes (calls.cpp): each parameter aligned to its own alignment, in 4-byte words.
struct PlaneLayout {
  std::vector<std::uint64_t> word;  // first word of each parameter
  std::uint64_t words = 0;
};
PlaneLayout plane_layout(const std::vector<ptx::Variable>& variables, std::size_t first, std::size_t count);

}  // namespace warpgrind::jit
