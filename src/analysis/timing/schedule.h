// One straight piece of machine code: the order that ptxas gives its instructions (list scheduling, with latencies that
// it can only guess for loads), and when a warp issues them, in this order, and each result is there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"
#include "machine/code.h"

namespace warpgrind::timing {

// Who waits for whom in a block. Static.
class Dependences {
 public:
  explicit Dependences(const machine::Block& block);

  struct Link {
    std::uint32_t to = 0;
    bool result = false;  // waits for the result; else only for the issue
  };
  const machine::Block& block() const { return *block_; }
  const std::vector<Link>& waiters(std::uint32_t instruction) const { return waiters_[instruction]; }
  std::uint32_t waits(std::uint32_t instruction) const { return waits_[instruction]; }  // number of links to it
  // Registers that an instruction reads of those that come into the block.
  const std::vector<ptx::RegId>& inputs(std::uint32_t instruction) const { return inputs_[instruction]; }
  // Instructions that read the result of a load.
  std::uint32_t readers(std::uint32_t instruction) const { return readers_[instruction]; }

 private:
  void link(std::uint32_t from, std::uint32_t to, bool result);
  void registers();
  void memory();
  void control();

  const machine::Block* block_;
  std::vector<std::vector<Link>> waiters_;
  std::vector<std::uint32_t> waits_, readers_;
  std::vector<std::vector<ptx::RegId>> inputs_;
};

struct Costs {
  std::vector<double> latency;                 // by instruction of the block
  double barrier = 0;                          // cycles of a barrier
  double branch = 0;                           // cycles until a warp issues again after a branch
  double predicate = 0;                        // cycles until a predicate guards, selects or decides a branch
  std::array<double, machine::kPipes> busy{};  // cycles that an instruction of a warp keeps its pipe, by Pipe
};

// Cycle at which each register is there, by number; 0: long ago.
using Ready = std::vector<double>;

// Indexes of the block's instructions in the order in which they stand in machine code. `registers`: numbers in use.
std::vector<std::uint32_t> order_of(const Dependences& block, Costs costs, std::size_t registers);

// Issues the block from cycle `start` on and returns the cycle after its last issue. `ready` comes in and goes out.
double issue_in_order(const Dependences& block, const std::vector<std::uint32_t>& order, const Costs& costs,
                      double start, Ready& ready);

}  // namespace warpgrind::timing
