// Instruction site: one PTX instruction of a kernel that is counted or reported by itself. The JIT numbers the sites,
// the device fills their scoreboards, and the counters and reports read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/access_rules.h"
#include "gpu/instruction_kinds.h"
#include "gpu/types.h"

namespace warpgrind::events {

using warpgrind::InstructionClass;
using warpgrind::SiteKind;

// PTX ISA, "Memory Consistency Model".
enum class MemoryOrder : std::uint8_t { weak, relaxed, acquire, release, acquire_release, sequential, volatile_, mmio };
constexpr bool acquires(MemoryOrder o) {
  return o == MemoryOrder::acquire || o == MemoryOrder::acquire_release || o == MemoryOrder::sequential;
}
constexpr bool releases(MemoryOrder o) {
  return o == MemoryOrder::release || o == MemoryOrder::acquire_release || o == MemoryOrder::sequential;
}
enum class MemoryScope : std::uint8_t { none, cta, cluster, gpu, system };

// Object from which the address of a site derives. The access should stay inside it.
struct AddressOrigin {
  enum class Kind : std::uint8_t {
    parameter,       // of the kernel: the object that this pointer points into
    variable,        // of the module, in memory
    shared,          // a variable in shared memory
    dynamic_shared,  // the dynamic shared memory of the launch
    local            // a variable of the kernel itself in local memory: nvcc makes one for all arrays
  } kind = Kind::parameter;
  std::uint32_t index = 0;   // parameter: in the kernel's list; variable: in Module::variables
  std::uint64_t offset = 0;  // parameter: in the parameter buffer; shared, local: first byte
  std::uint64_t bytes = 0;   // of a variable
  std::string name;          // of a variable
};

// Static facts of a site. `bytes` is what one lane moves: element size times vector length.
struct Site {
  SiteKind kind = SiteKind::load;
  StateSpace space = StateSpace::global;  // as written; generic: the address decides at run time
  std::uint8_t element_bytes = 4;
  std::uint8_t vector = 1;
  std::uint8_t coordinates = 0;  // texture/surface: dimensions
  bool is_volatile = false;
  bool non_coherent = false;  // ld.global.nc: read-only data path
  bool at_l2 = false;         // ld.cg, ld.cv, st.cg, st.wt: not cached in L1
  bool no_return = false;     // red, or atom whose result is never read
  bool multimem = false;      // its addresses stand for memory of several GPUs (multimem.*)
  MemoryOrder order = MemoryOrder::weak;
  MemoryScope scope = MemoryScope::none;
  SharedAtomic shared_atomic = SharedAtomic::native;  // atomics: how they work if they hit shared memory
  std::uint32_t bytes() const { return std::uint32_t{element_bytes} * vector; }

  std::uint32_t ptx_line = 0;        // line in the module's PTX text
  std::uint32_t file = 0, line = 0;  // CUDA source, 0 when unknown (no -lineinfo)
  std::uint32_t instruction = 0;     // index into the function's body
  std::string function;              // the PTX function that contains it (a kernel may call .funcs)
  std::string text;                  // the instruction as printed PTX, for reports
  // Set if machine code counts this site together with another one, its leader: a site of lower number
  // (codegen/kernel/access_groups.h). The addresses of this site are the leader's plus `distance` bytes.
  static constexpr std::uint32_t kAlone = ~0u;
  std::uint32_t leader = kAlone;
  std::int64_t distance = 0;
  // All possible origins. Empty: any pointer may be in the address.
  std::vector<AddressOrigin> origins;
};

// Access type of the instruction. An asynchronous copy reads at its source and writes at its destination.
inline AccessType access_type(const Site& site) {
  switch (site.kind) {
    case SiteKind::store:
      return AccessType::store;
    case SiteKind::atomic:
      return site.no_return ? AccessType::reduction : AccessType::atomic;
    case SiteKind::reduction:
      return AccessType::reduction;
    default:
      return AccessType::load;
  }
}

inline constexpr unsigned kInstructionClasses = static_cast<unsigned>(InstructionClass::count);

// Static facts of one basic block (straight-line code): how many instructions of each class one execution runs. Guarded
// instructions are counted as issued; lanes switched off by a guard are subtracted through guard slots
// (jit::CompiledKernel::guard_slot()).
struct BlockFacts {
  std::uint32_t first_instruction = 0, instruction_count = 0;
  std::uint32_t by_class[kInstructionClasses] = {};
  // Floating-point operations per lane: add, mul, fma(=2 flops, counted as one op here) by type fp16/fp32/fp64.
  std::uint32_t fadd = 0, fmul = 0, ffma = 0, dadd = 0, dmul = 0, dfma = 0, hadd = 0, hmul = 0, hfma = 0;
  std::uint32_t line = 0, file = 0;
  std::string function;  // the kernel, or a function that it calls
};

// A guarded (@p) instruction. Its own counter of active lanes makes predicated-on counts and flops exact.
struct GuardFacts {
  std::uint32_t instruction = 0, block = 0;
  InstructionClass instruction_class = InstructionClass::misc;
  std::uint8_t flop_kind = 0;  // 0 none, 1..9: fadd fmul ffma dadd dmul dfma hadd hmul hfma
};

// A conditional branch: counters in the scoreboard (events::BranchCounts, jit/abi.h).
struct BranchFacts {
  static constexpr std::uint32_t kCounters = 4;
  std::uint32_t instruction = 0;
  std::uint32_t line = 0, file = 0, ptx_line = 0;
  std::string function;
};

// Operations that ptxas compiles with a test of their operands, and a call of a slower routine if it fails in a lane
// (div.rn, rcp.rn and sqrt.rn of floats, rsqrt of doubles).
enum class SlowPath : std::uint8_t {
  division,
  reciprocal,
  root,
  double_division,
  double_reciprocal,
  double_root,
  double_inverse_root,
  count
};

// An instruction with such a test: counters in the scoreboard (events::SlowPathCounts).
struct SlowPathFacts {
  static constexpr std::uint32_t kCounters = 7;
  std::uint32_t instruction = 0, block = 0;  // as in GuardFacts
  SlowPath kind = SlowPath::division;
};

// A control-flow edge between two blocks. Blocks with one successor need no counter.
struct EdgeFacts {
  static constexpr std::uint32_t kLeaves = ~0u, kNotCounted = ~0u;
  std::uint32_t from = 0, to = 0;       // indexes into KernelFacts::blocks; to == kLeaves: the function's end
  std::uint32_t counter = kNotCounted;  // index into LaunchCounts::edges
};

// All static data needed to read a kernel's scoreboard. The JIT fills it; it is kept with the compiled kernel.
struct KernelFacts {
  std::string name;  // PTX (mangled) name
  std::vector<Site> sites;
  std::vector<BlockFacts> blocks;
  std::vector<GuardFacts> guards;
  std::vector<BranchFacts> branches;
  std::vector<SlowPathFacts> slow_paths;
  std::vector<EdgeFacts> edges;
  std::uint32_t edge_counters = 0;  // 0 unless an observer wants edges
  std::vector<std::string> files;   // source file names, index as in Site::file
};

}  // namespace warpgrind::events
