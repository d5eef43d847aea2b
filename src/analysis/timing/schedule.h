// Instruction scheduling of one basic block of machine code. It predicts the order that ptxas chooses (list scheduling,
// with guessed latencies for loads), and the cycles at which a warp issues the instructions and gets the results.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"
#include "sass/code.h"

namespace warpgrind::timing {

// Dependences between the instructions of a block. Independent of latencies.
class Dependences {
 public:
  explicit Dependences(const sass::Block& block);

  struct Link {
    std::uint32_t to = 0;
    bool result = false;  // true: waits for the result; false: only for the issue
  };
  const sass::Block& block() const { return *block_; }
  const std::vector<Link>& waiters(std::uint32_t instruction) const { return waiters_[instruction]; }
  std::uint32_t waits(std::uint32_t instruction) const { return waits_[instruction]; }  // number of links to it
  // Registers that an instruction reads and that were written before the block.
  const std::vector<ptx::RegId>& inputs(std::uint32_t instruction) const { return inputs_[instruction]; }
  // Number of instructions that read the result of a load.
  std::uint32_t readers(std::uint32_t instruction) const { return readers_[instruction]; }

 private:
  void link(std::uint32_t from, std::uint32_t to, bool result);
  void registers();
  void memory();
  void control();

  const sass::Block* block_;
  std::vector<std::vector<Link>> waiters_;
  std::vector<std::uint32_t> waits_, readers_;
  std::vector<std::vector<ptx::RegId>> inputs_;
};

struct Costs {
  std::vector<double> latency;              // by instruction of the block
  std::vector<double> held;                 // ... cycles that it holds its warp, as a loop does; empty: none
  std::vector<double> passes;               // ... cycles that its passes through L1 take; empty: none
  double barrier = 0;                       // cycles of a barrier
  double branch = 0;                        // cycles until a warp issues again after a branch
  double predicate = 0;                     // cycles until a predicate can guard, select or decide a branch
  std::array<double, sass::kPipes> busy{};  // cycles that a warp instruction occupies its pipe, by Pipe
  bool operator==(const Costs&) const = default;
};

// What a warp waits for, from one block to the next. Cycles; 0: long ago.
struct Ready {
  explicit Ready(std::size_t registers) : at(registers, 0) {}
  std::vector<double> at;      // when each register is available, by number
  double l1 = 0;               // when the last pass of the warp's loads through L1 has ended
  double copied = 0;           // when the asynchronous copies since the last commit have arrived
  std::vector<double> groups;  // when those of each group have arrived: the groups that no wait has ended, oldest first
};

// Indexes of the block's instructions in the predicted order of the machine code. `registers`: number of registers.
std::vector<std::uint32_t> order_of(const Dependences& block, Costs costs, std::size_t registers);

// Issues the block from cycle `start` on and returns the cycle after its last issue. Reads and updates `ready`.
double issue_in_order(const Dependences& block, const std::vector<std::uint32_t>& order, const Costs& costs,
                      double start, Ready& ready);

}  // namespace warpgrind::timing
