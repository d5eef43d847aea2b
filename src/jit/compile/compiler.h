// PTX kernel -> machine code. The only door to the JIT for the rest of the program; no LLVM type crosses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "events/site.h"
#include "gpu/types.h"
#include "jit/abi.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

struct CompileOptions {
  LaneShape shape = LaneShape::linear;
  bool counters = true;         // scoreboards and access counts
  bool every_access = false;    // an observer wants each access: no inline fast path
  bool edges = false;           // with counters: also how often each way out of a block was taken
  std::string cache_directory;  // empty: no disk cache
  std::string cpu;              // empty: host; "x86-64-v3" for AVX2 only
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

  std::uint64_t local_bytes = 0;  // .local bytes a thread of the entry and the deepest statically known call chain
  std::uint64_t static_shared_bytes = 0;    // .shared of the entry, its callees and the module variables they use
  std::uint64_t dynamic_shared_offset = 0;  // where .extern .shared starts (aligned)
  std::uint64_t parameter_bytes = 0;        // size of the parameter buffer
  std::uint32_t register_estimate = 0;      // peak of live 32-bit registers in the PTX (ptxas may differ)
  bool uses_grid_sync = false;
  double compile_seconds = 0;
  bool from_cache = false;
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
};
std::unique_ptr<Compiler> make_compiler();

// True when every opcode of the function (and its callees) has a lowering; otherwise the first that has none, for
// `scan`.
bool is_supported(const ptx::Instruction& instruction, std::string* why);

}  // namespace warpgrind::jit
