// Instruction scheduling of one basic block of machine code. It predicts the order that ptxas chooses (list scheduling,
// with guessed latencies for loads), and the cycles at which a warp issues the instructions and gets the results.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"
#include "sass/code.h"

namespace warpgrind::timing {

// Dependences between the instructions of a block. Independent of latencies.
class Dependences {
 public:
  // `register_words`: of the block's code; empty: registers are not known.
  Dependences(const sass::Block& block, const std::vector<std::uint8_t>& register_words);

  struct Link {
    std::uint32_t to = 0;
    bool result = false;  // true: waits for the result; false: only for the issue
  };
  const sass::Block& block() const { return *block_; }
  const std::vector<Link>& waiters(std::uint32_t instruction) const { return waiters_[instruction]; }
  std::uint32_t waits(std::uint32_t instruction) const { return waits_[instruction]; }  // number of links to it
  // Registers that an instruction reads and that were written before the block.
  const std::vector<ptx::RegId>& inputs(std::uint32_t instruction) const { return inputs_[instruction]; }
  // Values of the block: the results of its instructions (by index), then what it finds in registers and does not leave
  // there.
  struct Value {
    std::uint32_t words = 0;    // 32-bit registers
    std::uint32_t readers = 0;  // instructions of the block
    bool leaves = false;        // needed after the block
  };
  const std::vector<Value>& values() const { return values_; }
  // Values that an instruction needs. Each once.
  const std::vector<std::uint32_t>& needs(std::uint32_t instruction) const { return needs_[instruction]; }

 private:
  void link(std::uint32_t from, std::uint32_t to, bool result);
  void registers();
  void find_values(const std::vector<std::uint8_t>& register_words);
  void memory();
  void control();

  const sass::Block* block_;
  std::vector<std::vector<Link>> waiters_;
  std::vector<std::uint32_t> waits_;
  std::vector<std::vector<ptx::RegId>> inputs_;
  std::vector<Value> values_;
  std::vector<std::vector<std::uint32_t>> needs_;
};

// Cycles by which a load from DRAM comes later with each doubling of the loads that its warp waits for. A round of 1,
// 2, 4, 8 and 16 loads takes a warp of an H200 775, 840, 960, 1,030 and 1,170 cycles, if each is in another page. That
// is with the issue of the loads (lab/results/h200/batches.csv).
inline constexpr double kSpreadOfDram = 80;

struct Costs {
  std::vector<double> latency;  // by instruction of the block
  std::vector<double> held;     // ... cycles that it holds its warp, as a loop does; empty: none
  std::vector<double> passes;   // ... cycles that its passes through L1 take; empty: none
  // ... cycles by which a load comes later with each doubling of the loads that are under way; empty: none.
  std::vector<double> spread;
  double barrier = 0;                       // cycles of a barrier
  double doublings = 0;                     // log2 of the warps that meet at a barrier
  double branch = 0;                        // cycles until a warp issues again after a branch
  double predicate = 0;                     // cycles until a predicate can guard, select or decide a branch
  std::array<double, sass::kPipes> busy{};  // cycles that a warp instruction occupies its pipe, by Pipe
  bool operator==(const Costs&) const = default;
};

// What a warp waits for, from one block to the next. Cycles; 0: long ago.
struct Ready {
  explicit Ready(std::size_t registers) : at(registers, 0) {}
  std::vector<double> at;  // when each register is available, by number
  double l1 = 0;           // when the last pass of the warp's loads through L1 has ended
  struct Load {
    double at = 0, spread = 0, weight = 0;
  };
  std::vector<Load> loads;  // under way
  double spread = 0;        // of the loads that have come since the last barrier, the largest
  // ... also of those under way.
  double slowest() const {
    double most = spread;
    for (const Load& l : loads) most = std::max(most, l.spread);
    return most;
  }
  double copied = 0;           // when the asynchronous copies since the last commit have arrived
  std::vector<double> groups;  // when those of each group have arrived: the groups that no wait has ended, oldest first
};

// Indexes of the block's instructions in the predicted order of the machine code. `registers`: number of registers of
// the code's numbering. `words`: 32-bit registers of a thread that can hold values.
std::vector<std::uint32_t> order_of(const Dependences& block, Costs costs, std::size_t registers, double words);

// Issues the block from cycle `start` on and returns the cycle after its last issue. Reads and updates `ready`.
double issue_in_order(const Dependences& block, const std::vector<std::uint32_t>& order, const Costs& costs,
                      double start, Ready& ready);

}  // namespace warpgrind::timing
