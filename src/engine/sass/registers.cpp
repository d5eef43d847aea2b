// Register estimate: liveness of the modelled machine code, scaled to the register counts of ptxas.
#include "sass/registers.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "flow/cfg.h"
#include "flow/definitions.h"
#include "gpu/gpu_model.h"
#include "sass/code.h"
#include "sass/liveness.h"
#include "sass/uses.h"

namespace warpgrind::sass {
namespace {

// Facts of the function's blocks and branches, as the JIT would report them.
events::KernelFacts facts_of(const ptx::Function& function) {
  events::KernelFacts facts;
  facts.name = function.name;
  const flow::ControlFlow cfg = flow::build_control_flow(function);
  for (const flow::BasicBlock& b : cfg.blocks) {
    events::BlockFacts f;
    f.function = function.name;
    f.first_instruction = b.first;
    f.instruction_count = b.end - b.first;
    facts.blocks.push_back(std::move(f));
  }
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    for (const std::uint32_t to : cfg.blocks[b].successors)
      facts.edges.push_back({b, to == cfg.exit() ? events::EdgeFacts::kLeaves : to, events::EdgeFacts::kNotCounted});
    if (cfg.blocks[b].successors.size() == 2) {
      events::BranchFacts branch;
      branch.function = function.name;
      branch.instruction = cfg.blocks[b].end - 1;
      facts.branches.push_back(std::move(branch));
    }
  }
  return facts;
}

class Pressure {
 public:
  Pressure(const Code& code, const std::vector<flow::Definitions>& bodies) : code_(code), live_(code, bodies) {}

  RegisterNeed run() const {
    RegisterNeed need;
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) measure(b, need);
    return need;
  }

 private:
  using Set = Liveness::Set;

  // Registers that loads of the block fill and only instructions of the block read.
  Set read_here(std::size_t b) const {
    Set here(live_.words(), 0);
    for (const Instruction& i : code_.blocks[b].instructions) {
      if (!i.load || i.pipe == Pipe::none) continue;
      for (const ptx::RegId r : i.writes) {
        const auto& readers = live_.uses().readers(r);
        if (live_.uses().only_writer(r) &&
            std::all_of(readers.begin(), readers.end(), [&](const Where& w) { return w.block == b; }))
          here[r / 64] |= 1ull << (r % 64);
      }
    }
    return here;
  }

  void note(const Set& now, const Set& here, RegisterNeed& need) const {
    Set without = now;
    for (std::size_t w = 0; w < live_.words(); ++w) without[w] &= ~here[w];
    need.alive = std::max(need.alive, live_.size(now));
    need.apart = std::max(need.apart, live_.size(without));
  }

  void measure(std::size_t b, RegisterNeed& need) const {
    const Block& block = code_.blocks[b];
    Set now = live_.out(b);
    std::uint32_t loads = 0;
    const Set here = read_here(b);
    note(now, here, need);
    // Sampled in long blocks: counting all registers at each instruction would be quadratic.
    const std::size_t stride = std::max<std::size_t>(1, block.instructions.size() / 256);
    for (std::size_t n = block.instructions.size(); n-- > 0;) {
      live_.step(b, n, now);
      if (n % stride == 0) note(now, here, need);
      const Instruction& i = block.instructions[n];
      if (i.load && i.pipe != Pipe::constant && i.pipe != Pipe::none) loads += i.result_words;
    }
    need.loads = std::max(need.loads, loads * std::max(1u, block.unrolled));
  }

  const Code& code_;
  Liveness live_;
};

// Limit by the launch bounds: minnctapersm blocks of maxntid threads must fit into the 64 K registers of an SM.
std::uint32_t most_registers(const ptx::Function& kernel, std::uint32_t cc) {
  constexpr std::uint32_t kOfSm = 65536, kUnit = 8, kLeast = 16;
  std::uint32_t most = cc < 20 ? 124 : cc < 32 ? 63 : 255;
  const ptx::PerformanceDirectives& p = kernel.performance;
  if (p.maxnreg != 0) most = std::min(most, p.maxnreg);
  const std::uint32_t* sizes = p.reqntid[0] != 0 ? p.reqntid : p.maxntid;
  if (sizes[0] == 0) return most;
  std::uint64_t threads = 1;
  for (unsigned k = 0; k < 3; ++k) threads *= std::max(1u, sizes[k]);
  threads = (threads + kWarpSize - 1) / kWarpSize * kWarpSize * std::max(1u, p.minnctapersm);
  return std::min(most, std::max(kLeast, static_cast<std::uint32_t>(kOfSm / threads) / kUnit * kUnit));
}

}  // namespace

Code code_of(const ptx::Module& module, std::uint32_t function, const GpuModel& model) {
  Code code = translate(module, facts_of(module.functions[function]), model);
  constexpr std::size_t kMostBits = 1u << 30;
  if (code.blocks.size() * code.registers > kMostBits) return {};
  return code;
}

std::vector<flow::Definitions> bodies_of(const Code& code, const ptx::Module& module) {
  std::vector<flow::Definitions> bodies;
  for (const std::uint32_t f : code.functions) bodies.push_back(flow::find_definitions(module.functions[f]));
  return bodies;
}

RegisterNeed register_need(const ptx::Module& module, std::uint32_t function) {
  const Code code = code_of(module, function);
  if (code.blocks.empty()) return {};
  return Pressure(code, bodies_of(code, module)).run();
}

RegisterEstimate estimate_registers(const ptx::Module& module, std::uint32_t function, std::uint32_t cc) {
  // To move loads early, ptxas uses up to 32, with which an SM still holds all its warps.
  constexpr double kOfLoads = 0.5, kFull = 32, kLeast = 8;
  const RegisterNeed need = register_need(module, function);
  double registers = kOwnRegisters + kRegistersOfLive * need.apart;
  const double early = std::max(kOwnRegisters + kRegistersOfLive * need.alive, registers + kOfLoads * need.loads);
  RegisterEstimate e;
  e.needed = static_cast<std::uint32_t>(std::round(std::max(kLeast, registers)));
  e.limit = most_registers(module.functions[function], cc);
  registers = std::max({kLeast, registers, std::min(early, kFull)});
  e.registers = static_cast<std::uint32_t>(std::min(std::round(registers), static_cast<double>(e.limit)));
  return e;
}

}  // namespace warpgrind::sass
