// Values of registers that follow from the number of the thread alone: guards such as `if (lane == 0)`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/types.h"
#include "ptx/ast.h"

namespace warpgrind::checkers {

struct LaneOfBlock {
  Dim3 thread, threads;  // tid and ntid
  Dim3 blocks;           // nctaid
  unsigned lane = 0;
};

// One lane's values in a function. Registers with several definitions are unknown, and so are parameters, memory, and
// the number of the block: the answer is the same for every block.
class LaneValues {
 public:
  LaneValues(const ptx::Function& function, const LaneOfBlock& lane);
  // Integers modulo their width; predicates: 0 or 1; nullopt: unknown.
  std::optional<std::uint64_t> of(ptx::RegId reg);
  std::optional<bool> of(const ptx::Guard& guard);
  std::optional<std::uint64_t> of(const ptx::Operand& operand);

 private:
  std::optional<std::uint64_t> special(ptx::SpecialRegister r) const;
  std::optional<std::uint64_t> result(const ptx::Instruction& i);

  const ptx::Function& function_;
  const LaneOfBlock lane_;
  std::vector<std::uint32_t> definition_;  // by register: the only instruction that writes it, or kNoId
  enum class State : std::uint8_t { open, running, known, unknown };
  std::vector<State> state_;
  std::vector<std::uint64_t> value_;
  unsigned depth_ = 0;
};

}  // namespace warpgrind::checkers
