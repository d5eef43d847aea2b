// Compiler from a PTX kernel to machine code. The only interface of the JIT for the rest of the program; no LLVM type
// crosses it.
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
#include "jit/compile/verification.h"
#include "jit/stop_at.h"
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
  bool watched = false;       // observers see accesses of the inline fast path at watched sites
  // An observer wants events of fences, groups of asynchronous copies, and lanes that meet or exit: these call the
  // device.
  bool synchronization = false;
  bool definedness = false;        // an observer wants uses of undefined bits: registers and memory have shadows
  bool edges = false;              // also counts each edge out of a block
  bool clusters = false;           // blocks run in clusters: addresses of shared memory have the block's rank
  StopAt stops = StopAt::nowhere;  // a debugger may stop warps there (jit/stop_places.h)
  std::string cache_directory;     // empty: no disk cache
  std::string cpu;                 // empty: host; "x86-64-v3" for AVX2 only
  // Compiles a new kernel with the quick tier (tier.h), unless the cache has the code of the tier that its size asks
  // for. Most kernels run for less time than their compilation takes. For the same reason this code is shorter than
  // that of Tier::quick: accesses of lanes at addresses of their own are calls of the device. Not used for kernels with
  // recursion, since their frames would need more of the host's stack.
  bool quick_start = false;
  // Kernels that are only read: `warpgrind prepare` and the package put them there. Empty: those of the installation.
  std::string prepared_directory;
  // Compiles for every CPU of the level `cpu` (base/processor.h). The entry of the cache has neither this CPU's
  // identity nor that of LLVM. Such quick code is used, from prepared_directory, where there is no other.
  bool for_level = false;

  // Called once for a kernel whose compilation has taken slow_seconds so far, from another thread. slow_seconds == 0:
  // called before the compilation, from this thread.
  double slow_seconds = 2;
  std::function<void(const SlowCompilation&)> on_slow;
  // Called once a compiler if the cache folder is not used, with the reason.
  std::function<void(const std::string& why)> on_cache_refused;
  // For measurements and tests of the compiler. A kernel with one of these options does not come from the cache.
  std::optional<Tier> tier;          // nullopt: by size
  std::string dump_ir, dump_object;  // files for the unoptimised IR and the object code
  bool verify = verify_lowering;     // checks the IR of each kernel (codegen/kernel/verifier.h), aborts if it is wrong
  bool bypasses_cache() const { return tier || !dump_ir.empty() || !dump_object.empty(); }
};

// Size of a compilation, in units that do not depend on the machine.
struct CompilationSize {
  std::uint64_t ptx_instructions = 0;  // of the entry and all functions it may call
  CodeSize code;                       // unoptimised
  std::uint64_t phis = 0;              // made for registers that became values (full tier: not counted, 0)
  std::uint64_t in_memory = 0;         // slots of registers that stayed in memory
  Tier tier = Tier::full;
};

// A kernel ready to run. Owns its machine code.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  virtual WarpFunction entry() const = 0;
  virtual const events::KernelFacts& facts() const = 0;
  // Keeps in the disk cache how long quick code has run, for the next process.
  virtual void store_quick_seconds(double seconds) const = 0;
  // Scoreboard slots: blocks first, then guards, branches, edges, slow paths (abi.h).
  std::uint32_t scoreboard_slots() const;
  std::uint32_t guard_slot(std::uint32_t i) const;
  std::uint32_t branch_slot(std::uint32_t i) const;
  std::uint32_t edge_slot(std::uint32_t i) const;
  std::uint32_t slow_path_slot(std::uint32_t i) const;

  std::uint64_t local_bytes = 0;  // .local bytes a thread of the entry and its deepest call chain without recursion
  bool open_ended = false;        // recursion or alloca: may need more than local_bytes
  std::uint64_t least_recursive_frame = 0;  // least bytes of local memory a recursive call takes; 0: no recursion
  std::uint64_t static_shared_bytes = 0;    // .shared of the entry, its callees and the module variables they use
  std::uint64_t dynamic_shared_offset = 0;  // where .extern .shared starts (aligned)
  std::uint64_t parameter_bytes = 0;        // size of the parameter buffer
  std::uint64_t frame_bytes = 0;            // host stack bytes of its functions' frames, each counted once
  std::uint32_t register_estimate = 0;      // peak of live 32-bit registers in the PTX (ptxas may differ)
  bool keeps_time = false;                  // reads a clock and maintains WarpContext::cycles
  CompilationSize size;
  // For quick code made by CompileOptions::quick_start: estimated seconds to make the code of the tier that its size
  // asks for. 0: this is that code.
  double better_seconds = 0;
  double quick_seconds = 0;  // that this quick code has run in earlier processes
  double compile_seconds = 0;
  bool from_cache = false;
  bool has_regions = false;        // barriers end regions (codegen/kernel/regions.h)
  std::uint64_t region_bytes = 0;  // bytes a warp saves at a barrier that ends a region
};

// Layout of the parameter buffer: the C layout of the .param list. (Shared-memory variables of the module and of
// functions get fixed offsets per kernel, see jit/layout.h.)
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
  // All errors for which compile() would refuse the kernel: the same lowering, without code generation.
  virtual std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry,
                                      const CompileOptions& options) = 0;
};
std::unique_ptr<Compiler> make_compiler();

}  // namespace warpgrind::jit
