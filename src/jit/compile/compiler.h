// PTX kernel -> machine code. The only door to the JIT for the rest of the program; no LLVM type crosses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/site.h"
#include "gpu/types.h"
#include "jit/abi.h"
#include "jit/compile/tier.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

struct SlowCompilation {
  std::string kernel;                  // PTX (mangled) name
  std::uint64_t ptx_instructions = 0;  // with the functions it calls
};

struct CompileOptions {
  LaneShape shape = LaneShape::linear;
  bool counters = true;       // scoreboards and access counts
  bool every_access = false;  // an observer wants each access: no inline fast path
  bool watched = false;       // observers are shown what the inline fast path serves, at sites that say so
  // An observer wants fences, groups of asynchronous copies, meetings or exits of lanes: they call the device.
  bool synchronization = false;
  bool definedness = false;     // an observer wants uses of undefined bits: registers and memory have shadows
  bool edges = false;           // with counters: also how often each way out of a block was taken
  std::string cache_directory;  // empty: no disk cache
  std::string cpu;              // empty: host; "x86-64-v3" for AVX2 only
  // Quick code (tier.h) for a kernel that is new, unless the cache has what its size asks for. Most kernels run for
  // less time than their compilation takes. Not for kernels with recursion, whose frames would need more of the host's
  // stack.
  bool quick_start = false;

  // A kernel that has been compiled for slow_seconds already: called once, from another thread; 0: from this one,
  // before.
  double slow_seconds = 2;
  std::function<void(const SlowCompilation&)> on_slow;
  // The cache's folder is not used, and why; called once a compiler.
  std::function<void(const std::string& why)> on_cache_refused;
  // For measurements and tests of the compiler itself; such kernels do not come from the cache.
  std::optional<Tier> tier;          // nullopt: by size
  std::string dump_ir, dump_object;  // files for the unoptimised IR and the object code
  bool bypasses_cache() const { return tier || !dump_ir.empty() || !dump_object.empty(); }
};

// What compiling a kernel took, in units that do not depend on the machine.
struct CompilationSize {
  std::uint64_t ptx_instructions = 0;  // of the entry and all functions it may call
  CodeSize code;                       // unoptimised
  std::uint64_t phis = 0;              // made from registers that became values (full tier: not counted, 0)
  std::uint64_t in_memory = 0;         // slots of registers that did not
  Tier tier = Tier::full;
};

// A kernel ready to run. Owns its machine code.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  virtual WarpFunction entry() const = 0;
  virtual const events::KernelFacts& facts() const = 0;
  // Scoreboard slots: blocks first, then guards, branches, edges (layout in abi.h).
  std::uint32_t scoreboard_slots() const;
  std::uint32_t guard_slot(std::uint32_t i) const;
  std::uint32_t branch_slot(std::uint32_t i) const;
  std::uint32_t edge_slot(std::uint32_t i) const;

  std::uint64_t local_bytes = 0;  // .local bytes a thread of the entry and the deepest chain of calls without recursion
  bool open_ended = false;        // recursion or alloca: it may need more
  std::uint64_t least_recursive_frame = 0;  // bytes of local memory that a recursive call takes at least; 0: none is
  std::uint64_t static_shared_bytes = 0;    // .shared of the entry, its callees and the module variables they use
  std::uint64_t dynamic_shared_offset = 0;  // where .extern .shared starts (aligned)
  std::uint64_t parameter_bytes = 0;        // size of the parameter buffer
  std::uint64_t frame_bytes = 0;        // of the host's stack that the frames of its functions take, each counted once
  std::uint32_t register_estimate = 0;  // peak of live 32-bit registers in the PTX (ptxas may differ)
  bool keeps_time = false;              // reads a clock: WarpContext::cycles
  CompilationSize size;
  // Quick code by CompileOptions::quick_start: about what the code that its size asks for takes to make. 0: this is
  // that code.
  double better_seconds = 0;
  double compile_seconds = 0;
  bool from_cache = false;
  bool has_regions = false;        // barriers end regions (jit/kernel/regions.h)
  std::uint64_t region_bytes = 0;  // what a warp keeps while it waits at a barrier that ends a region
};

// Shared-memory variables of module scope and of functions get fixed offsets per kernel; parameters get the C layout of
// the .param list.
struct ParameterLayout {
  std::uint64_t offset = 0, size = 0;
};
std::vector<ParameterLayout> parameter_layout(const ptx::Function& entry);

class Compiler {
 public:
  virtual ~Compiler() = default;
  // `entry` indexes module.functions. Unsupported opcodes are an Error{unsupported} naming opcode, PTX line and source
  // line. Thread-safe.
  virtual Result<std::unique_ptr<CompiledKernel>> compile(const ptx::Module& module, std::uint32_t entry,
                                                          const CompileOptions& options) = 0;
  // Everything for which compile() would refuse the kernel: the same lowering, without code generation.
  virtual std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry,
                                      const CompileOptions& options) = 0;
};
std::unique_ptr<Compiler> make_compiler();

}  // namespace warpgrind::jit
