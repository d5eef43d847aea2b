// The machine code that ptxas would make of a kernel, as far as a model without NVIDIA's machine language can tell:
// straight pieces of code longer than those of PTX (short branches become predicates), instructions that are gone,
// expanded or merged, and what each costs. Static: made once a compiled kernel, from PTX alone. What is derived from it
// is modelled, never exact.
//
// How often it ran: flow_of() with the counts of a launch.
//
//   const machine::Code code = machine::translate(*launch.module, *launch.facts, model);
//   const machine::Flow flow = machine::flow_of(code, *launch.facts, counts);
//   for (b...) for (const machine::Instruction& i : code.blocks[b].instructions)
//     slots += flow.warps[b] * i.issue;   // issue slots, over all warps of the launch
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/gpu_model.h"
#include "ptx/ast.h"

namespace warpgrind::machine {

inline constexpr std::uint32_t kNone = 0xffffffffu;

// What executes an instruction. `none`: ptxas leaves nothing of it.
enum class Pipe : std::uint8_t {
  none,
  move,  // where the compiler leaves one: the integer or the FMA pipe
  alu,   // integer addition, logic, comparison, selection
  fma,   // FP32 addition, multiplication, FMA
  imad,  // integer multiplication: on the FMA pipes
  fp64,
  xu,    // special functions, conversions, population count
  half,  // FP16, BF16
  tensor_half,
  tensor_double,
  global,  // loads and stores; asynchronous copies
  shared,
  local,
  constant,
  texture,  // and surfaces
  atomic_global,
  atomic_shared,
  shuffle,  // also votes, match, redux
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
enum class CountedPipe : std::uint8_t { alu, fma, fp64, lsu, tex, xu, count };
inline constexpr std::size_t kCountedPipes = static_cast<std::size_t>(CountedPipe::count);

// One PTX instruction, as ptxas is taken to translate it.
struct Instruction {
  std::uint32_t function = 0;  // index into Code::functions
  std::uint32_t ptx = 0;       // index into the function's body
  bool added = false;          // by ptxas: none of PTX's, but before `ptx` (the next one)
  // Index into KernelFacts::sites. Of a joint access: the part with the lowest address. Its lanes' addresses are those
  // of the whole, once they are rounded down to a multiple of `bytes`.
  std::uint32_t site = kNone;
  std::uint32_t facts_block = 0;  // index into KernelFacts::blocks: where it stands in PTX
  Pipe pipe = Pipe::none;
  bool load = false;    // reads memory
  bool store = false;   // writes memory
  bool atomic = false;  // also both
  // An atomic whose address and value the lanes share: a vote, and one lane adds for all of them.
  bool aggregated = false;
  bool guarded = false;  // by its own predicate, or since a branch around it has become one
  bool ends = false;     // control leaves its block here
  bool of_loop = false;  // counts, compares or goes back: once for all rounds that are unrolled together
  // Its result is a predicate, which guards and branches have later than arithmetic would.
  bool sets_predicate = false;
  // Machine instructions that it stands for: 0.35 for a mov, 17 for div.rn.f32, 0 for one merged into a neighbour.
  float issue = 1;
  // What each of them keeps its pipe for, in the pipe's unit: of the tensor cores one m16n8k16, of which a wgmma has
  // many.
  float work = 1;
  // Cycles until its result can be used. 0 for loads from global, local and texture memory and for atomics with a
  // result: by where the data is. 0 for barriers, which wait for other warps.
  float latency = 0;
  std::uint8_t result_words = 0;  // 32-bit registers that wait for a load
  // A load or store: what a lane moves; more than its site where neighbours were merged into it. 0: none of its own.
  std::uint8_t bytes = 0;
  // Merged into another one of the block, or in a register already: the index of that one. Loads are done where the
  // first of the parts stands, stores where the last does. It writes (loads) or reads (stores) nothing any more.
  std::uint32_t merged_into = kNone;
  std::array<std::uint8_t, kOperations> operations{};  // that a lane of it executes, by Operation
  std::array<float, kCountedPipes> on_pipe{};  // of `issue`, by CountedPipe; the others are of no pipe that is counted
  // Registers, one number a web (flow/webs.h) over all functions of the code. The guard is read; a guarded instruction
  // also reads what it writes.
  std::vector<ptx::RegId> writes, reads;
};

struct Edge {
  static constexpr std::uint32_t kLeaves = kNone;
  std::uint32_t to = kLeaves;        // index into Code::blocks; kLeaves: the end of the function
  std::uint32_t facts_edge = kNone;  // index into KernelFacts::edges; kNone: all that go through the block
};

struct Block {
  std::vector<Instruction> instructions;
  // Indexes into KernelFacts::blocks, in order: as many warps run the block as the first of them; the others may be
  // under a predicate, with fewer lanes or none.
  std::vector<std::uint32_t> facts_blocks;
  std::vector<Edge> successors;
  // A loop onto itself: rounds that ptxas puts one after the other.
  static constexpr std::uint32_t kAltogether = 0;  // all of them: there is no loop any more
  std::uint32_t unrolled = 1;
};

struct Code {
  std::vector<Block> blocks;
  std::uint32_t entry = 0;                 // the kernel's first block
  std::vector<std::uint32_t> functions;    // indexes into Module::functions; the kernel, then what it calls
  std::vector<ptx::RegId> first_register;  // of each function, in the numbering of Instruction::writes
  std::vector<std::uint32_t> block_of;     // by index into KernelFacts::blocks: the block of the code it became part of
  // By index into KernelFacts::branches: no branch any more, but predicates, so that it cannot diverge.
  std::vector<bool> predicated;
  std::uint32_t registers = 0;  // numbers of registers in use
};

// Empty code (no blocks) when the module is not the one that the facts are of.
Code translate(const ptx::Module& module, const events::KernelFacts& facts, const GpuModel& model);

// How often a launch went where, summed over its warps (divide by warps_launched for one of them).
struct Flow {
  std::vector<double> warps;               // by block
  std::vector<double> lanes;               // by block
  std::vector<std::vector<double>> edges;  // by block, by successor: warps of which some lane went there
  // By block: of how many of its runs, of 1, instructions that belong to a loop (Instruction::of_loop) are left.
  std::vector<double> loop_share;

  // Times that an instruction of the block was executed, over all warps; and the lanes of the warps that did.
  double times(std::size_t block, const Instruction& i) const { return warps[block] * share(block, i); }
  double lanes_of(std::size_t block, const Instruction& i) const { return lanes[block] * share(block, i); }
  double share(std::size_t block, const Instruction& i) const { return i.of_loop ? loop_share[block] : 1; }
};
// Edges come from the counters of branches (both ways of a branch that diverges count), so that nobody has to ask for
// the counters of edges; ways of indexed branches from what their targets count.
Flow flow_of(const Code& code, const events::KernelFacts& facts, const events::LaunchCounts& counts);

}  // namespace warpgrind::machine
