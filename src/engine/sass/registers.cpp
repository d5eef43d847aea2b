// Register estimate: liveness of the modelled machine code, scaled to the register counts of ptxas.
#include "sass/registers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "flow/cfg.h"
#include "flow/definitions.h"
#include "gpu/gpu_model.h"
#include "ptx/types.h"
#include "sass/code.h"
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
  Pressure(const Code& code, const std::vector<flow::Definitions>& bodies)
      : code_(code), bodies_(bodies), uses_(code, bodies), words_((code.registers + 63) / 64) {
    weigh();
    in_.assign(code.blocks.size(), Set(words_, 0));
  }

  RegisterNeed run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = code_.blocks.size(); b-- > 0;) {
        Set now = out(b);
        for (std::size_t n = code_.blocks[b].instructions.size(); n-- > 0;) step(b, n, now);
        if (now == in_[b]) continue;
        in_[b] = std::move(now);
        changed = true;
      }
    }
    WG_ASSERT(weight_.size() == code_.registers);
    RegisterNeed need;
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) measure(b, need);
    return need;
  }

 private:
  using Set = std::vector<std::uint64_t>;

  // Registers per value. 0: a predicate, in a uniform register, or part of the instruction that uses it.
  void weigh() {
    weight_.assign(code_.registers, 0);
    for (std::size_t f = 0; f < bodies_.size(); ++f) {
      const auto& registers = bodies_[f].function.registers;
      for (std::size_t r = 0; r < registers.size(); ++r)
        if (registers[r].type != ptx::ScalarType::pred)
          weight_[code_.first_register[f] + r] = static_cast<std::uint8_t>((ptx::bits(registers[r].type) + 31) / 32);
    }
    for (ptx::RegId r = 0; r < code_.registers; ++r)
      if (!uses_.varies(r) || folded(r)) weight_[r] = 0;
  }

  // Whether its instruction disappears in machine code. Its operands are then needed in its place.
  bool folded(ptx::RegId r) const {
    const Where* from = uses_.only_writer(r);
    if (from == nullptr) return false;
    const Instruction& i = uses_.instruction(*from);
    return i.issue == 0 && i.merged_into == kNone && !i.load && !i.reads.empty();
  }

  void add(ptx::RegId r, Set& now, unsigned depth = 0) const {
    WG_DEBUG_ASSERT(r < code_.registers);
    if (folded(r) && depth < 8) {
      for (const ptx::RegId from : uses_.instruction(*uses_.only_writer(r)).reads) add(from, now, depth + 1);
      return;
    }
    now[r / 64] |= 1ull << (r % 64);
  }

  Set out(std::size_t b) const {
    Set now(words_, 0);
    for (const Edge& e : code_.blocks[b].successors)
      if (e.to != Edge::kLeaves)
        for (std::size_t w = 0; w < words_; ++w) now[w] |= in_[e.to][w];
    return now;
  }

  void step(std::size_t b, std::size_t n, Set& now) const {
    const Instruction& i = code_.blocks[b].instructions[n];
    if (i.added) return;
    for (const ptx::RegId r : i.writes) now[r / 64] &= ~(1ull << (r % 64));
    if (i.issue == 0 && i.merged_into == kNone && !i.writes.empty()) return;
    for (const ptx::RegId r : i.reads) add(r, now);
  }

  std::uint32_t size(const Set& now) const {
    std::uint32_t sum = 0;
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t bits = now[w]; bits != 0; bits &= bits - 1)
        sum += weight_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
    return sum;
  }

  // Registers that loads of the block fill and only instructions of the block read.
  Set read_here(std::size_t b) const {
    Set here(words_, 0);
    for (const Instruction& i : code_.blocks[b].instructions) {
      if (!i.load || i.pipe == Pipe::none) continue;
      for (const ptx::RegId r : i.writes) {
        const auto& readers = uses_.readers(r);
        if (uses_.only_writer(r) &&
            std::all_of(readers.begin(), readers.end(), [&](const Where& w) { return w.block == b; }))
          here[r / 64] |= 1ull << (r % 64);
      }
    }
    return here;
  }

  void note(const Set& now, const Set& here, RegisterNeed& need) const {
    Set without = now;
    for (std::size_t w = 0; w < words_; ++w) without[w] &= ~here[w];
    need.alive = std::max(need.alive, size(now));
    need.apart = std::max(need.apart, size(without));
  }

  void measure(std::size_t b, RegisterNeed& need) const {
    const Block& block = code_.blocks[b];
    Set now = out(b);
    std::uint32_t loads = 0;
    const Set here = read_here(b);
    note(now, here, need);
    // Sampled in long blocks: counting all registers at each instruction would be quadratic.
    const std::size_t stride = std::max<std::size_t>(1, block.instructions.size() / 256);
    for (std::size_t n = block.instructions.size(); n-- > 0;) {
      step(b, n, now);
      if (n % stride == 0) note(now, here, need);
      const Instruction& i = block.instructions[n];
      if (i.load && i.pipe != Pipe::constant && i.pipe != Pipe::none) loads += i.result_words;
    }
    need.loads = std::max(need.loads, loads * std::max(1u, block.unrolled));
  }

  const Code& code_;
  const std::vector<flow::Definitions>& bodies_;
  Uses uses_;
  std::size_t words_;
  std::vector<std::uint8_t> weight_;  // by register: 32-bit registers
  std::vector<Set> in_;               // by block: live at its beginning
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

RegisterNeed register_need(const ptx::Module& module, std::uint32_t function) {
  const Code code = translate(module, facts_of(module.functions[function]), GpuModel{});  // latencies do not matter
  constexpr std::size_t kMostBits = 1u << 30;
  if (code.blocks.empty() || code.blocks.size() * code.registers > kMostBits) return {};
  std::vector<flow::Definitions> bodies;
  for (const std::uint32_t f : code.functions) bodies.push_back(flow::find_definitions(module.functions[f]));
  return Pressure(code, bodies).run();
}

std::uint32_t estimate_registers(const ptx::Module& module, std::uint32_t function, std::uint32_t cc) {
  // Fitted to the registers that ptxas 13.0 gave 419 kernels of the lab and the microbenchmark on sm_90. It uses a
  // constant for addresses and the stack, and a fifth more than the live values. To move loads early, ptxas uses up to
  // 32, with which an SM still holds all its warps.
  constexpr double kOwn = 6, kMore = 1.2, kOfLoads = 0.5, kFull = 32;
  constexpr double kLeast = 8;
  const RegisterNeed need = register_need(module, function);
  double registers = kOwn + kMore * need.apart;
  const double early = std::max(kOwn + kMore * need.alive, registers + kOfLoads * need.loads);
  registers = std::max({kLeast, registers, std::min(early, kFull)});
  return static_cast<std::uint32_t>(
      std::min(std::round(registers), static_cast<double>(most_registers(module.functions[function], cc))));
}

}  // namespace warpgrind::sass
