// Model of the machine code that ptxas would make of a kernel, without knowledge of NVIDIA's machine language. Its
// blocks are longer than those of PTX, because short branches become predicates. Instructions are removed, expanded or
// merged, and each has a cost. It is made from PTX alone, once per compiled kernel. Everything derived from it is
// modelled, never exact.
//
// Execution counts: flow_of() with the counts of a launch.
//
//   const sass::Code code = sass::translate(*launch.module, *launch.facts, model);
//   const sass::Flow flow = sass::flow_of(code, *launch.facts, counts);
//   for (b...) for (const sass::Instruction& i : code.blocks[b].instructions)
//     slots += flow.warps[b] * i.issue;   // issue slots, over all warps of the launch
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/gpu_model.h"
#include "ptx/ast.h"
#include "sass/tensor_products.h"

namespace warpgrind::sass {

inline constexpr std::uint32_t kNone = 0xffffffffu;

// Cycles until a predicate can guard, select or decide a branch. Volta and later: all machine code of ptxas 13.0 has 13
// cycles between ISETP and such a reader (1,017 of 1,017 branches after their comparison).
inline constexpr double kPredicateCycles = 13;

// Execution pipe of an instruction. `none`: ptxas removes the instruction.
enum class Pipe : std::uint8_t {
  none,
  move,  // a move that ptxas keeps: the integer or the FMA pipe
  alu,   // integer addition, logic, comparison, selection
  fma,   // FP32 addition, multiplication, FMA
  imad,  // integer multiplication, on the FMA pipes
  fp64,
  xu,    // special functions, conversions, population count
  half,  // FP16, BF16
  tensor_half,
  tensor_double,
  global,  // loads, stores and asynchronous copies
  shared,
  local,
  constant,
  texture,  // and surfaces
  atomic_global,
  atomic_shared,
  shuffle,  // also vote, match, redux
  barrier,
  fence,
  control,
  count
};
inline constexpr std::size_t kPipes = static_cast<std::size_t>(Pipe::count);
std::string_view name(Pipe pipe);

// Floating-point operations as Nsight Compute counts them (smsp__sass_thread_inst_executed_op_fadd ... _hfma).
enum class Operation : std::uint8_t { fadd, fmul, ffma, dadd, dmul, dfma, hadd, hmul, hfma, count };
inline constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::count);

// Pipes whose instructions Nsight Compute counts (sm__inst_executed_pipe_...), since Volta.
enum class CountedPipe : std::uint8_t { alu, fma, fp64, lsu, tex, xu, tma, count };
inline constexpr std::size_t kCountedPipes = static_cast<std::size_t>(CountedPipe::count);

// Asynchronous copies of threads (cp.async): a copy starts, a group of copies ends, a warp waits for groups. wait_all
// ends the group, too.
enum class AsyncStep : std::uint8_t { none, copy, commit, wait, wait_all };

// Place of a memory access of a block, as far as it is known without running the program.
struct MemoryPlace {
  std::uint32_t base = kNone;  // number of the base address in the block; kNone: not known
  std::int64_t offset = 0;     // bytes from it
  // Of a block that is a loop: bytes by which it moves each round; nullopt: not by a constant.
  std::optional<std::int64_t> step = 0;
};

// One PTX instruction with its modelled translation by ptxas.
struct Instruction {
  std::uint32_t function = 0;  // index into Code::functions
  std::uint32_t ptx = 0;       // index into the function's body
  bool added = false;          // added by ptxas, not in PTX; stands before `ptx` (the next one)
  // Index into KernelFacts::sites. Merged access: the site of the part with the lowest address. The lanes' addresses of
  // that site, rounded down to a multiple of `bytes`, are those of the merged access.
  std::uint32_t site = kNone;
  std::uint32_t facts_block = 0;  // index into KernelFacts::blocks: its block in PTX
  Pipe pipe = Pipe::none;
  bool load = false;          // reads memory
  bool of_constants = false;  // ... that nothing writes during the launch (ld.global.nc)
  bool store = false;         // writes memory
  bool atomic = false;        // `load` and `store` are then set too
  bool branches = false;      // a sequence with a branch to a slow path: nothing is mixed with it
  // An atomic with the same address and value in all lanes: ptxas makes a vote, and one lane adds for all.
  bool aggregated = false;
  bool guarded = false;   // by its own predicate, or by one that replaces a branch
  bool ends = false;      // control leaves its block here
  bool polls = false;     // tests whether a phase of an mbarrier is complete
  bool observes = false;  // a load that must see other threads' stores: volatile, relaxed, acquire
  AsyncStep async = AsyncStep::none;
  std::uint8_t groups_left = 0;  // that a wait leaves under way
  bool of_loop = false;  // loop control (counter, comparison, back branch): once per group of unrolled iterations
  // Its result is a predicate. The latency to a guard or branch is longer than to arithmetic.
  bool sets_predicate = false;
  bool votes = false;    // reads a predicate of all lanes
  bool selects = false;  // SEL, FSEL: they read a predicate as any other operand
  // Number of machine instructions: 0.35 for a mov, 17 for div.rn.f32, 0 for one merged into a neighbour.
  float issue = 1;
  // Pipe time of each of them, in the pipe's unit. Unit of the tensor cores: one m16n8k16; a wgmma has many.
  float work = 1;
  // Cycles until its result can be used. 0 for loads from global, local and texture memory and for atomics with a
  // result: it depends on where the data is. 0 for barriers, which wait for other warps.
  float latency = 0;
  std::uint8_t result_words = 0;  // 32-bit registers filled by a load
  std::uint8_t requests = 1;      // of `issue`: how many access memory, where it is a load or a store (wmma: several)
  // Bytes per lane of a load or store; more than its site's if neighbours were merged into it. 0: it makes no access of
  // its own.
  std::uint8_t bytes = 0;
  MemoryPlace place;  // of a load or store of a block that has stores
  // Index of the instruction of the block that this one was merged into, or that already holds its value in a register.
  // A merged load happens at the place of its first part, a merged store at that of its last. A merged instruction no
  // longer writes (loads) or reads (stores) registers.
  std::uint32_t merged_into = kNone;
  TensorUse tensor;
  std::array<std::uint8_t, kOperations> operations{};  // per lane, by Operation
  std::array<float, kCountedPipes> on_pipe{};  // part of `issue`, by CountedPipe; the rest is on uncounted pipes
  float register_reads = 0;                    // 32-bit operands that come from the register file, of all of `issue`
  // Registers that must hold values for it: `reads`, but the operands of folded instructions instead of their results.
  // None that take no register (Code::register_words).
  std::vector<ptx::RegId> needs;
  // Registers, numbered by web (flow/webs.h) across all functions of the code. `reads` includes the guard. A guarded
  // instruction also reads what it writes.
  std::vector<ptx::RegId> writes, reads;
};

struct Edge {
  static constexpr std::uint32_t kLeaves = kNone;
  std::uint32_t to = kLeaves;  // index into Code::blocks; kLeaves: the end of the function
  // Indexes into KernelFacts::edges; empty: all warps that run the block. Several, if their comparisons became one.
  std::vector<std::uint32_t> facts_edges;
};

struct Block {
  std::vector<Instruction> instructions;
  // Indexes into KernelFacts::blocks, in order. The block runs as often as the first of them. The others may be
  // predicated, with fewer lanes or none.
  std::vector<std::uint32_t> facts_blocks;
  std::vector<Edge> successors;
  // Single-block loop: number of iterations that ptxas places one after the other.
  static constexpr std::uint32_t kAltogether = 0;  // fully unrolled: no loop is left
  std::uint32_t unrolled = 1;
  std::uint32_t entering_words = 0;  // 32-bit registers that hold values at its beginning; 0: not known
  // Registers whose values are needed after the block, of those that its instructions write or need. Sorted.
  std::vector<ptx::RegId> leaving;
};

struct Code {
  std::vector<Block> blocks;
  std::uint32_t entry = 0;                 // the kernel's first block
  std::vector<std::uint32_t> functions;    // indexes into Module::functions; the kernel, then its callees
  std::vector<ptx::RegId> first_register;  // of each function, in the numbering of Instruction::writes
  std::vector<std::uint32_t> block_of;     // by index into KernelFacts::blocks: index of the block that contains it
  // By index into KernelFacts::branches: replaced by predicates, so that it cannot diverge.
  std::vector<bool> predicated;
  std::uint32_t registers = 0;  // number of register numbers in use
  // By register number: 32-bit registers of its value. 0: a predicate, in a uniform register, or folded into the
  // instructions that use it. Empty: the code is too large to look at.
  std::vector<std::uint8_t> register_words;
};

// Returns empty code (no blocks) if the facts belong to another module.
Code translate(const ptx::Module& module, const events::KernelFacts& facts, const GpuModel& model);

// Execution counts of a launch, summed over its warps (divide by warps_launched for the mean of one warp).
struct Flow {
  std::vector<double> warps;               // by block
  std::vector<double> lanes;               // by block
  std::vector<std::vector<double>> edges;  // by block, by successor: warps with at least one lane on that edge
  // By block: fraction of its runs that still execute the loop-control instructions (Instruction::of_loop).
  std::vector<double> loop_share;
  // What instructions execute beyond Instruction::issue because of their operands.
  struct SlowPath {
    std::uint32_t block = 0, instruction = 0;  // indexes
    events::SlowPathCounts counts;
  };
  std::vector<SlowPath> slow_paths;

  // Executions of an instruction of the block, over all warps, and the active lanes of those executions.
  double times(std::size_t block, const Instruction& i) const { return warps[block] * share(block, i); }
  double lanes_of(std::size_t block, const Instruction& i) const { return lanes[block] * share(block, i); }
  double share(std::size_t block, const Instruction& i) const { return i.of_loop ? loop_share[block] : 1; }
};
// Edge counts come from the branch counters, so that no observer needs edge counters. A branch that diverges counts in
// both directions. Edges of indexed branches come from the counts of their targets.
Flow flow_of(const Code& code, const events::KernelFacts& facts, const events::LaunchCounts& counts);

}  // namespace warpgrind::sass
